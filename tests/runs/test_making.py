"""Runs that begin from another: a copy is the same run once more, a fork goes on from one of its steps."""

from __future__ import annotations

import pytest

from playground.runs.names import owner_of
from playground.training.loop import Training
from playground.training.schedule import REWARMED, learning_rate
from tests.runs.by_hand import at_rest, begun, ended, ordered, refused
from tests.runs.tiny import CORPORA, ME, PAIRS, YOU, alone, curve, same_parameters, same_replay, tiny


def same(one, other):
    """Whether two runs are the same in all that was learnt and recorded."""
    equal = curve(one) == curve(other) and one.history.to_json() == other.history.to_json() and same_replay(one, other)
    return equal and one.step == other.step and same_parameters(one.snapshot.parameters, other.snapshot.parameters)


def test_a_finished_run_is_copied_finished_and_the_copy_outlives_it(world):
    source = ended(world)
    world.runs.rename(source.id, ME, "the source")
    source.visited = True
    copy = world.runs.copy(source.id, YOU)
    assert (copy.status, copy.message, copy.resumable, copy.beside) == ("done", None, False, source.id)
    assert (copy.experiment, copy.seconds, copy.parent) == (source.experiment, source.seconds, None)
    assert (copy.owner, copy.label, copy.visited, copy.name == source.name) == (owner_of(YOU), "", False, False)
    world.runs.delete(source.id, ME)
    again = world.restart().get(copy.id)
    assert (again.name, world.runs.mine(YOU)) == (copy.name, [again])
    assert same(again, source)


def test_own_sentences_and_secrets_go_with_a_copy_and_a_fork(world):
    source = world.runs.create(tiny(task="own", own="upload-7"), ME, pairs=PAIRS)
    source.secret = True
    world.until(lambda: source.step >= 3)
    ordered(world, source, "pause")
    for made in (world.runs.copy(source.id, ME), world.runs.fork(source.id, None, ME)):
        assert (made.pairs.pairs, made.credit, made.secret) == (PAIRS.pairs, PAIRS.credit, True)
        if made.status == "paused":
            world.runs.resume(made.id, ME)
        assert at_rest(world, made).status == "done"


def test_what_has_not_begun_or_has_no_new_owner_is_neither_copied_nor_forked(world):
    source, new = ended(world, steps=2), world.runs.create(tiny(), ME)
    ordered(world, new, "pause")
    for run, token, key in ((new, ME, "runs.nothing_yet"), (source, "", "runs.no_token")):
        with refused(key):
            world.runs.copy(run.id, token)
        with refused(key):
            world.runs.fork(run.id, 0, token)


def test_a_fork_goes_on_at_its_parents_step(world):
    """With the learning rate and the pictures of its parent, whether it is paused while the rate rises or not."""
    source = ended(world, steps=40, schedule="linear", warmup=10)
    at = next(step for step in source.replay.parameter_steps if step >= 12)
    fork, held = (world.runs.fork(source.id, at, YOU) for _ in range(2))
    world.until(lambda: held.step >= at + 2)
    assert ordered(world, held, "pause", YOU).step < at + REWARMED
    ordered(world, held, "resume", YOU)
    at_rest(world, fork)
    assert curve(held) == curve(fork)
    assert same_replay(held, fork)
    assert (fork.parent, fork.first_step, fork.owner, fork.status, fork.step) == ((source.id, at), at, owner_of(YOU), "done", 40)
    assert [column[:at] for column in curve(fork)] == [column[:at] for column in curve(source)]
    rates, theirs = fork.history.steps.column("learning_rate"), source.history.steps.column("learning_rate")
    risen = at + REWARMED
    assert rates[:at] + rates[risen - 1 :] == theirs[:at] + theirs[risen - 1 :]
    assert rates[at:risen] == pytest.approx([rate * n / REWARMED for n, rate in enumerate(theirs[at:risen], 1)])
    assert fork.history.validations.column("step") == source.history.validations.column("step")
    assert (fork.replay.steps, fork.replay.plan.probes) == (source.replay.steps, source.replay.plan.probes)
    training = Training(source.experiment, CORPORA.get(source.experiment))
    training.go_on(source.replay.parameters(at)[1], at)
    assert fork.history.steps.column("loss")[at:] == [step.loss for step in training.steps()]


def test_a_fork_of_what_is_unfinished_takes_the_optimiser_over(world):
    """Where its state is kept, the fork is the run that would have gone on."""
    source = begun(world, steps=30, step=7, order="pause")
    fork = at_rest(world, world.runs.fork(source.id, source.step, YOU))
    assert curve(fork) == curve(alone(tiny())[0])
    assert world.runs.fork(source.id, 0, YOU).first_step == 0


def test_a_fork_of_the_end_has_as_many_steps_again(world):
    source = ended(world, steps=30, schedule="linear", warmup=10)
    fork = at_rest(world, world.runs.fork(source.id, None, YOU))
    assert (fork.first_step, fork.step, fork.steps) == (30, 60, 60)
    rates = fork.history.steps.column("learning_rate")
    assert rates[34:] == [learning_rate(fork.experiment.training, 8, step) for step in range(35, 61)]
    assert {0, 30, 60} <= set(fork.replay.steps)
    third = world.runs.fork(fork.id, 30, YOU)
    assert (third.first_step, third.steps) == (30, 60)


def test_a_fork_keeps_what_was_changed_before_its_step_and_is_read_back_before_it_has_begun(world):
    source = begun(world, eval_every=1000)
    world.runs.set_live(source.id, ME, "learning_rate", 0.002)
    world.until(lambda: source.history.events)
    ordered(world, source, "pause")
    forks = {world.runs.fork(source.id, step, YOU).id: (step, events) for step, events in ((source.step, source.history.events), (0, []))}
    world.restart()
    for id, (step, events) in forks.items():
        fork = world.runs.get(id)
        assert (fork.parent, fork.first_step, fork.step, len(fork.history.steps)) == ((source.id, step), step, step, step)
        assert fork.history.events == events
        world.runs.resume(id, YOU)
        world.until(lambda fork=fork, step=step: fork.step > step)
        assert fork.live_at(fork.step)["learning_rate"] == (0.002 if events else 0.01)
        assert fork.history.steps.column("learning_rate")[-1] <= (0.002 if events else 0.01)

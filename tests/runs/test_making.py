"""Runs that begin from another: a copy is the same run once more, a fork goes on from one of its steps."""

from __future__ import annotations

import json

import pytest

from playground.config import Refusal
from playground.runs.names import owner_of
from playground.runs.registry import SHIPPED
from playground.training.loop import Training
from playground.training.schedule import REWARMED, learning_rate
from tests.runs.tiny import CORPORA, ME, PAIRS, YOU, alone, at_step, curve, done, limits, same_parameters, same_replay, tiny, wait


def paused(runs, run):
    runs.pause(run.id, ME)
    wait(lambda: run.status == "paused")
    return run


def same(one, other):
    """Whether two runs are the same in all that was learnt and recorded."""
    equal = curve(one) == curve(other) and one.history.to_json() == other.history.to_json() and same_replay(one, other)
    return equal and one.step == other.step and same_parameters(one.snapshot.parameters, other.snapshot.parameters)


def test_a_finished_run_is_copied_finished(runs):
    source = done(runs.create(tiny(), ME, label="mine"))
    copy = runs.copy(source.id, YOU)
    assert (copy.status, copy.message, copy.resumable) == ("done", None, False)
    assert same(copy, source)
    assert (copy.experiment, copy.seconds, copy.parent) == (source.experiment, source.seconds, None)
    assert copy.id != source.id
    assert copy.name not in ("", source.name)
    assert (copy.owner, copy.label) == (owner_of(YOU), "")
    assert runs.mine(YOU) == [copy]
    runs.delete(source.id, ME)
    copy.release()
    assert len(copy.history.steps) == 30


def test_a_copy_stays_over_a_restart(serve):
    runs = serve()
    source = done(runs.create(tiny(), ME))
    copy = runs.copy(source.id, YOU)
    runs.close()
    again = serve()
    assert again.owns(copy.id, YOU)
    assert again.get(copy.id).name == copy.name
    assert same(again.get(copy.id), again.get(source.id))


def test_of_a_run_that_trains_the_copy_is_paused_where_it_was(runs):
    source = at_step(runs.create(tiny(steps=5000, eval_every=1000), ME), 20)
    copy = runs.copy(source.id, YOU)
    assert source.working
    assert copy.status == "paused"
    assert 20 <= copy.step == copy.snapshot.step == len(copy.history.steps) <= source.step
    step = copy.step
    runs.step_once(copy.id, YOU)
    wait(lambda: copy.status == "paused" and copy.step == step + 1)
    paused(runs, at_step(source, step + 1))
    assert curve(copy) == [column[: step + 1] for column in curve(source)]  # with the optimiser as it was


def test_a_paused_copy_goes_on_to_the_same_end(runs):
    source = paused(runs, at_step(runs.create(tiny(steps=100), ME), 7))
    copy = runs.copy(source.id, YOU)
    assert (copy.status, copy.step, copy.live) == ("paused", source.step, source.live)
    runs.resume(copy.id, YOU)
    assert source.status == "paused"
    twin, _ = alone(tiny(steps=100))
    assert curve(done(copy)) == curve(twin)
    assert same_replay(copy, twin)


def test_a_shipped_run_is_copied_as_it_is(serve):
    runs = serve(shipped=SHIPPED)
    source = runs.get("reverse")
    copy = runs.copy("reverse", ME)
    assert (copy.status, copy.shipped, copy.step) == ("done", False, source.step)
    assert same(copy, source)
    runs.delete(copy.id, ME)
    assert runs.get("reverse") is source


def test_own_sentences_and_secrets_go_with_a_copy_and_a_fork(runs):
    source = done(runs.create(tiny(task="own", own="upload-7", steps=3), ME, pairs=PAIRS))
    source.secret = True
    runs.store.note(source, "secret")
    for made in (runs.copy(source.id, ME), runs.fork(source.id, None, ME)):
        assert made.pairs.pairs == PAIRS.pairs
        assert made.credit == PAIRS.credit
        assert made.secret


def test_what_has_not_begun_is_neither_copied_nor_forked(serve):
    runs = serve(limits(cores=1))
    blocker = at_step(runs.create(tiny(steps=100_000), ME), 1)
    run = runs.create(tiny(task="copy"), YOU)
    runs.pause(run.id, YOU)
    wait(lambda: run.status == "paused")
    if run.snapshot is None:
        for act in (lambda: runs.copy(run.id, ME), lambda: runs.fork(run.id, 0, ME)):
            with pytest.raises(Refusal, match="no parameters"):
                act()
    runs.stop(blocker.id, ME)


def test_only_unfinished_copies_count_as_unfinished(serve):
    runs = serve(limits(runs_each=2))
    ended, source = done(runs.create(tiny(steps=2), ME)), paused(runs, at_step(runs.create(tiny(steps=5000), ME), 1))
    for _ in range(2):
        runs.copy(source.id, YOU)
    with pytest.raises(Refusal) as refused:
        runs.copy(source.id, YOU)
    assert refused.value.key == "runs.too_many_yours"
    runs.copy(ended.id, YOU)
    assert len(runs.mine(YOU)) == 3


def test_copies_make_room_like_any_run(serve):
    runs = serve(limits(runs_kept=3, recent_hours=1e-9))
    source = done(runs.create(tiny(steps=2), ME))
    for _ in range(5):
        runs.seen(source.id)
        runs.copy(source.id, YOU)
    assert len(runs.mine(YOU)) == 2
    assert runs.get(source.id) is source


def test_nobody_copies_or_forks(runs):
    source = done(runs.create(tiny(steps=2), ME))
    for act in (lambda: runs.copy(source.id, ""), lambda: runs.fork(source.id, 0, "")):
        with pytest.raises(Refusal) as refused:
            act()
        assert refused.value.key == "runs.no_token"


def test_a_fork_goes_on_at_its_parents_step(runs):
    source = done(runs.create(tiny(steps=60, schedule="linear", warmup=10), ME))
    at = next(step for step in source.replay.parameter_steps if step >= 20)
    fork = done(runs.fork(source.id, at, YOU))
    assert (fork.parent, fork.first_step, fork.owner) == ((source.id, at), at, owner_of(YOU))
    assert (fork.status, fork.step, fork.steps) == ("done", 60, 60)
    assert fork.history.steps.column("step") == [*range(1, 61)]
    assert [column[:at] for column in curve(fork)] == [column[:at] for column in curve(source)]  # its parent's
    rates, theirs = fork.history.steps.column("learning_rate"), source.history.steps.column("learning_rate")
    risen = at + REWARMED
    assert rates[:at] + rates[risen - 1 :] == theirs[:at] + theirs[risen - 1 :]
    assert rates[at:risen] == pytest.approx([rate * n / REWARMED for n, rate in enumerate(theirs[at:risen], 1)])
    assert fork.history.validations.column("step") == source.history.validations.column("step")

    training = Training(source.experiment, CORPORA.get(source.experiment))
    training.go_on(source.replay.parameters(at)[1], at)
    assert fork.history.steps.column("loss")[at:] == [step.loss for step in training.steps()]


def test_a_fork_of_what_is_unfinished_takes_the_optimiser_over(runs):
    """Where its state is kept, the fork is the run that would have gone on."""
    source = paused(runs, at_step(runs.create(tiny(steps=100, optimiser="adam"), ME), 7))
    fork = done(runs.fork(source.id, source.step, YOU))
    twin, _ = alone(tiny(steps=100, optimiser="adam"))
    assert curve(fork) == curve(twin)
    assert runs.fork(source.id, 0, YOU).first_step == 0


def test_a_fork_goes_on_without_a_jump_of_the_loss(serve):
    """Of the run that everybody forks. A fresh optimiser at the full learning rate would undo much in its first step."""
    source = serve(shipped=SHIPPED).get("reverse")
    training = Training(source.experiment, CORPORA.get(source.experiment))
    training.go_on(*reversed(source.parameters_at(45)))
    losses = [step.loss for step, _ in zip(training.steps(), range(6), strict=False)]
    assert max(losses[1:]) < 1.1 * losses[0], losses


@pytest.mark.night
def test_a_paused_fork_goes_on_with_its_learning_rate(runs):
    source = done(runs.create(tiny(steps=60), ME))
    at = next(step for step in source.replay.parameter_steps if step >= 20)
    fork = runs.fork(source.id, at, YOU)
    runs.pause(fork.id, YOU)
    wait(lambda: fork.status in ("paused", "done"))
    if fork.status == "paused":
        runs.resume(fork.id, YOU)
    assert curve(done(fork)) == curve(done(runs.fork(source.id, at, YOU)))


def test_a_forks_replay_begins_with_its_parents(runs):
    source = done(runs.create(tiny(steps=60), ME))
    at = next(step for step in source.replay.parameter_steps if step >= 20)
    fork = runs.fork(source.id, at, YOU)
    done(fork)
    assert fork.replay.steps == source.replay.steps
    for early in (step for step in source.replay.parameter_steps if step <= at):
        assert same_parameters(fork.replay.parameters(early)[1], source.replay.parameters(early)[1])
    assert fork.replay.plan.probes == source.replay.plan.probes  # the same first example


def test_a_fork_begins_between_two_pictures(runs):
    """Its own first step is among the pictures, and there are no more of them than before."""
    source = paused(runs, at_step(runs.create(tiny(steps=5000, eval_every=1000), ME), 130))
    at = source.step
    fork = runs.fork(source.id, None, YOU)
    assert fork.step == fork.snapshot.step == at
    wait(lambda: at in fork.replay.steps)
    runs.stop(fork.id, YOU)
    done(fork)
    assert fork.status == "stopped"
    assert at in fork.replay.parameter_steps
    assert same_parameters(fork.replay.parameters(at)[1], source.snapshot.parameters)
    assert len(fork.replay.plan.steps) == len(source.replay.plan.steps)


@pytest.mark.night
def test_a_fork_of_the_end_has_as_many_steps_again(runs):
    source = done(runs.create(tiny(steps=30, schedule="linear", warmup=10), ME))
    fork = done(runs.fork(source.id, None, YOU))
    assert (fork.first_step, fork.step, fork.steps) == (30, 60, 60)
    rates = fork.history.steps.column("learning_rate")
    assert rates[34:] == [learning_rate(fork.experiment.training, 8, step) for step in range(35, 61)]
    assert rates[34] > rates[35]  # the run's own warm-up is over
    assert {0, 30, 60} <= set(fork.replay.steps)
    third = done(runs.fork(fork.id, 30, YOU))
    assert (third.first_step, third.step) == (30, 60)


@pytest.mark.night
def test_a_fork_of_a_run_that_reached_its_goal_is_trained(runs):
    experiment = tiny(task="beer", steps=2000, stop_at=1.0, learning_rate=0.01, eval_every=1, dropout=0.0)
    source = done(runs.create(experiment, ME))
    assert source.message.key == "runs.reached"
    fork = done(runs.fork(source.id, None, YOU))
    assert fork.step > source.step


def test_a_fork_keeps_what_was_changed_before_its_step(runs):
    source = at_step(runs.create(tiny(steps=5000, eval_every=1000), ME), 1)
    runs.set_live(source.id, ME, "learning_rate", 0.002)
    wait(lambda: source.history.events)
    paused(runs, source)
    after = source.history.events[0][0]
    fork, early = runs.fork(source.id, None, YOU), runs.fork(source.id, 0, YOU)
    at_step(fork, source.step + 2)
    at_step(early, 1)
    assert fork.history.events == [(after, "learning_rate", 0.002)]
    assert fork.history.steps.column("learning_rate")[-1] == 0.002
    assert early.history.events == []
    assert early.history.steps.column("learning_rate")[0] == 0.01


def test_a_fork_of_a_running_run_and_of_own_data(runs):
    source = at_step(runs.create(tiny(task="own", own="upload-7", steps=100), ME, pairs=PAIRS), 3)
    fork = done(runs.fork(source.id, None, ME))
    assert fork.status == "done"
    assert fork.pairs.pairs == PAIRS.pairs
    assert fork.credit == PAIRS.credit


def test_a_fork_is_read_back_before_it_has_begun(serve):
    runs = serve(limits(cores=1))
    source = done(runs.create(tiny(steps=60), ME))
    blocker = at_step(runs.create(tiny(steps=100_000), ME), 1)
    fork = runs.fork(source.id, 30, YOU)
    at = fork.first_step
    assert len(fork.history.steps) >= at
    runs.close()
    again = serve().get(fork.id)
    assert (again.parent, again.first_step) == ((source.id, at), at)
    assert again.resumable
    assert len(again.history.steps) >= at
    assert blocker.id != fork.id


def test_a_fork_of_before_counted_anew(serve):
    """Its run.json says nothing of a first step: its history is all its own."""
    runs = serve()
    source = done(runs.create(tiny(steps=20), ME))
    source.parent = ("gone", 42)
    runs.store.note(source)
    file = runs.store.path(source) / "run.json"
    card = json.loads(file.read_text())
    del card["first_step"]
    runs.close()
    file.write_text(json.dumps(card))
    again = serve().get(source.id)
    assert (again.parent, again.first_step, len(again.history.steps)) == (("gone", 42), 0, 20)

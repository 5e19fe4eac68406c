"""What visitors do with runs, through the whole of it; runs that begin from another; and those that go on when the server went away."""

import pytest
import torch

from playground.config import Refusal
from playground.features.shared.queries.activations import plan_change
from playground.features.shared.queries.reader import Reader
from playground.inspection.edits import apply, parse
from playground.runs import recording
from playground.runs.disk import saves
from playground.runs.identity import owner_of
from playground.training.loop import Training
from playground.training.optimisers import REWARMED, learning_rate
from tests.runs import tiny as shared
from tests.runs.tiny import CORPORA, LONG, ME, PAIRS, YOU, alone, at_rest, begun, curve, ended, limits, ordered, refused, tiny, wait
from tests.simulation.story import card

ADDRESS = "192.0.2.1"


def test_interleaved_and_looked_at_runs_equal_their_solitary_twins(serve, monkeypatch):
    """Bit for bit, with dropout, on two shared workers; each snapshot's parameters are those of the solitary twin at its step."""
    monkeypatch.setattr(recording, "LIVE_PERIOD_S", 0.0)  # a snapshot after every step
    monkeypatch.setattr(recording, "LIVE_FRACTION", 1e9)
    runs = serve(limits(turn_seconds=0.0))
    experiments = [tiny(), tiny(seed=2, steps=6, optimiser="muon"), tiny(seed=3, steps=6, task="sort", norm="pre")]
    then, training = {}, Training(experiments[0], CORPORA.get(experiments[0]))
    for step in training.steps():
        then[step.step] = {name: p.detach().clone() for name, p in training.model.named_parameters()}
    live = [runs.create(experiment, owner) for experiment, owner in zip(experiments, ("a", "b", "c"), strict=True)]
    snapshots = {}

    def over():
        for run in live:
            run.mark_seen()
        if snapshot := live[0].snapshot:
            snapshots[snapshot.step] = snapshot
        return not any(run.working for run in live)

    wait(over)
    assert len(snapshots) > 3
    assert all(shared.same_parameters(snapshot.parameters, then[step]) for step, snapshot in snapshots.items() if step)
    for run, experiment in zip(live, experiments, strict=True):
        shared.ended_as_if_alone(run, experiment)
        assert shared.same_parameters(run.snapshot.parameters, alone(experiment)[0].snapshot.parameters)


def test_paused_and_stepped_it_goes_one_step_and_a_fork_of_it_takes_the_optimiser_over(world):
    run = begun(world, steps=12, order="pause")
    assert (run.status, run.checkpoint_step) == ("paused", step := run.step)
    run.precision = "bfloat16"  # as if begun on a machine that is faster by it
    ordered(world, run, "step_once")
    assert (run.status, run.precision, run.step, len(run.history.steps)) == ("paused", "float32", step + 1, step + 1)
    for order in ("resume", "pause", "resume"):
        getattr(world.runs, order)(run.id, ME)
    shared.ended_as_if_alone(at_rest(world, run), tiny())
    source = begun(world, steps=12, step=7, order="pause")
    fork = at_rest(world, world.runs.fork(source.id, source.step, YOU))
    assert (curve(fork), world.runs.fork(source.id, 0, YOU).first_step) == (curve(alone(tiny())[0]), 0)


def test_what_a_run_at_rest_does_not_do_and_what_is_neither_copied_nor_forked(world):
    run, done = begun(world, order="pause"), ended(world, steps=2)
    at_work = [(of, order, "runs.not_at_work") for of, order in ((run, "pause"), (done, "pause"), (done, "stop"))]
    for of, order, key in [*at_work, (done, "resume", "runs.not_resumable"), (done, "step_once", "runs.not_resumable")]:
        with refused(key):
            getattr(world.runs, order)(of.id, ME)
    world.runs.stop(run.id, ME)
    assert run.status == "stopped"
    with refused("runs.not_at_work"):
        world.runs.stop(run.id, ME)
    with refused("runs.ended"):
        world.runs.set_live(done.id, ME, "max_grad_norm", 2.0)
    source, new = ended(world, steps=2), world.runs.create(tiny(), ME)
    ordered(world, new, "pause")
    for run, token, key in ((new, ME, "runs.nothing_yet"), (source, "", "runs.no_token")):
        with refused(key):
            world.runs.copy(run.id, token)
        with refused(key):
            world.runs.fork(run.id, 0, token)


def test_stop_at_and_minutes_end_a_run(world):
    run = ended(world, task="beer", steps=2000, stop_at=1.0, learning_rate=0.01, eval_every=1, dropout=0.0)
    assert (run.status, run.message.key) == ("done", "runs.reached")
    assert run.step < 2000
    assert (run.history.validations.last()["exact_match"], run.replay.steps[-1]) == (1.0, run.step)
    run = begun(world, minutes=0.5)
    run.seconds = 30.0
    at_rest(world, run)
    assert (run.status, run.message.key) == ("done", "runs.minutes_over")


def test_live_knobs_are_checked_and_recorded_also_those_of_a_paused_run(world):
    run = begun(world, steps=20)
    world.runs.set_live(run.id, ME, "learning_rate", "0.002")
    world.until(lambda: run.history.events)
    ordered(world, run, "pause")
    before = dict(run.live)
    for value in (float("nan"), float("inf"), -1, "much", None, True):
        with pytest.raises(Refusal, match="learning_rate"):
            world.runs.set_live(run.id, ME, "learning_rate", value)
    with refused("runs.not_live"):
        world.runs.set_live(run.id, ME, "d_model", 8)
    assert run.live == before
    world.runs.set_live(run.id, ME, "max_grad_norm", 0.5)
    ordered(world, run, "resume")
    assert [event[1:] for event in run.history.events] == [("learning_rate", 0.002), ("max_grad_norm", 0.5)]


def test_a_look_at_a_step_goes_the_way_the_memory_went_then_also_after_a_restart(world):
    run = begun(world, eval_every=1000, zero_init=False)
    world.runs.set_live(run.id, ME, "memory_mode", "cut")
    world.until(lambda: run.history.events)
    ordered(world, run, "pause")
    cut, reader = run.history.events[0][0], Reader(world.runs)
    assert [run.memory_mode_at(step) for step in (0, cut, cut + 1, 5000)] == ["whole", "whole", "cut", "cut"]
    for step in (*run.replay.parameter_steps, None):
        model, actual = reader.model_at(run, step)
        assert model.config.memory_mode == ("cut" if actual > cut else "whole")
    reader.close()
    assert [world.runs.fork(run.id, step, ME).live["memory_mode"] for step in (None, 0)] == ["cut", "whole"]
    rows = run.history.diagnostics.rows()
    assert cut + 1 in rows["step"]  # what it does is seen at once
    assert all((gradient == 0) == (step > cut) for step, gradient in zip(rows["step"], rows["encoder/gradient"], strict=True))
    again = world.restart().get(run.id)
    assert (again.live["memory_mode"], again.history.events, again.history.diagnostics.rows()) == ("cut", run.history.events, rows)


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
    assert (again.name, world.runs.list_owned(YOU)) == (copy.name, [again])
    assert (curve(again), again.history.to_json(), again.step) == (curve(source), source.history.to_json(), source.step)
    assert shared.same_replay(again, source)
    assert shared.same_parameters(again.snapshot.parameters, source.snapshot.parameters)


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


@pytest.mark.night
def test_a_fork_goes_on_at_its_parents_step(world):
    """With the learning rate and the pictures of its parent, whether it is paused while the rate rises or not."""
    source = ended(world, steps=24, schedule="linear", warmup=10)
    at = next(step for step in source.replay.parameter_steps if step >= 12)
    fork, held = (world.runs.fork(source.id, at, YOU) for _ in range(2))
    world.until(lambda: held.step >= at + 2)
    assert ordered(world, held, "pause", YOU).step < at + REWARMED
    ordered(world, held, "resume", YOU)
    at_rest(world, fork)
    assert curve(held) == curve(fork)
    assert shared.same_replay(held, fork)
    assert (fork.parent, fork.first_step, fork.owner, fork.status, fork.step) == ((source.id, at), at, owner_of(YOU), "done", 24)
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


@pytest.mark.night
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


def test_a_fork_begins_with_the_numbers_typed_over_and_its_parent_keeps_its_own(world):
    source, text = begun(world, order="pause"), "encoder.0.feed_forward.W_1.weight:2,1=0.1,-3;projection.weight=r7"
    original = {name: tensor.clone() for name, tensor in source.snapshot.parameters.items()}
    reader = Reader(world.runs)
    on_the_map = dict(apply(reader.model_at(source, None)[0], parse(text)).named_parameters())
    reader.close()
    typed, matrix = original["encoder.0.feed_forward.W_1.weight"].clone(), original["projection.weight"]
    typed[2, 1:3] = torch.tensor([0.1, -3.0])
    drawn = torch.randn(matrix.shape, generator=torch.Generator().manual_seed(7)) * matrix.std(correction=0) + matrix.mean()
    expected = original | {"encoder.0.feed_forward.W_1.weight": typed, "projection.weight": drawn}
    fork = world.runs.fork(source.id, source.step, YOU, plan_change(text))
    assert all(shared.same_parameters(fork.snapshot.parameters, other) for other in (expected, on_the_map))
    fork = world.restart().get(fork.id)
    second = world.runs.fork(fork.id, fork.step, ME)
    assert all(shared.same_parameters(run.snapshot.parameters, expected) for run in (fork, second))
    world.runs.resume(fork.id, YOU)
    world.until(lambda: fork.step > fork.first_step)
    at, rounded = fork.replay.parameters(fork.first_step)
    assert (at, at in source.replay.parameter_steps, at in fork.replay.steps) == (fork.first_step, True, True)
    assert all(torch.allclose(rounded[name], tensor, atol=0.01) for name, tensor in expected.items())
    source = world.runs.get(source.id)
    assert (shared.same_parameters(source.snapshot.parameters, original), source.edits, fork.edits, second.edits) == (True, 0, 2, 0)


def training(world, owner=ME, **knobs):
    run = begun(world, owner, **knobs)
    world.runs._workers.save(run)
    assert run.working
    return run


@pytest.mark.fault("kill -9 in the middle of a training",
                   "it goes on by itself when somebody looks, and becomes what it would have become, bit for bit")  # fmt: skip
@pytest.mark.parametrize("killed", [True, pytest.param(False, marks=pytest.mark.night)])
def test_whoever_looks_finds_it_going_on_and_it_becomes_what_it_would_have_become(world, killed):
    run = training(world, steps=12)
    back = world.restart(killed).get(run.id)
    step = back.step
    assert 3 <= step == back.checkpoint_step < 12
    world.runs.mark_seen(run.id)
    world.until(lambda: back.status == "done")
    assert (back.message.key, back.message.values["step"]) == ("runs.went_on", step)
    twin, _ = alone(tiny())
    assert curve(back) == curve(twin)
    assert shared.same_parameters(back.snapshot.parameters, twin.snapshot.parameters)
    assert shared.same_replay(back, twin)


@pytest.mark.fault("kill -9 while runs are paused or stopped", "they stay so until a person resumes them")
def test_the_owner_comes_or_a_class_and_all_of_theirs_go_on_but_what_a_person_paused_or_stopped(world, monkeypatch):
    held = [ordered(world, training(world, step=1), order) for order in ("pause", "stop")]
    *mine, yours, awaited = [world.runs.create(tiny(steps=LONG), owner) for owner in (ME, ME, YOU, "a third")]
    after = world.restart()
    status = lambda *runs: {after.get(run.id).status for run in runs}  # noqa: E731
    after.visitors.record_address(ME, ADDRESS)
    for run in held:
        after.mark_seen(run.id)
    world.until(lambda: status(*mine) == {"training"})
    assert status(yours, awaited) == {"interrupted"}
    monkeypatch.setattr(after.rules, "awaited", lambda run: run.id == awaited.id)
    world.round()
    world.until(lambda: status(awaited) == {"training"})
    assert [after.get(run.id).status for run in (*held, yours)] == ["paused", "stopped", "interrupted"]


@pytest.mark.fault("a restart, and no place for a run that was cut off", "it goes on as soon as there is one")
@pytest.mark.parametrize("away", [0.0, 601.0])
def test_without_a_place_it_waits_until_there_is_one(world, away):
    """As long as a visitor may be away."""
    cut = training(world)
    after = world.restart(runs_unfinished=1)
    other = after.create(tiny(steps=LONG), YOU)
    after.mark_seen(cut.id)
    back = after.get(cut.id)
    for _ in range(3):
        world.round()
        assert back.status == "interrupted"
    world.clock.passed += away
    other.mark_seen()
    world.round()
    after.delete(other.id, YOU)
    for _ in range(3):
        world.round()
    assert (back.status == "interrupted") == (away > world.limits.idle_seconds)


@pytest.mark.fault("a run that takes the server down each time it goes on", "after three times it waits for a person")
def test_a_run_that_brings_the_server_down_does_not_do_so_for_ever(world):
    run = training(world)
    step = run.checkpoint_step
    for tries in range(1, saves.TRIES + 1):
        back = world.restart().get(run.id)  # no save has come since
        assert back.message.key == "runs.interrupted"
        world.runs.mark_seen(run.id)
        world.until(lambda: back.status == "training")  # noqa: B023
        assert card(world.runs.store.path(run))["message"] == {"key": "runs.went_on", "values": {"step": step, "tries": tries}}
    back = world.restart().get(run.id)
    assert (back.status, back.message.key, back.message.values["tries"]) == ("interrupted", "runs.cut_off_often", saves.TRIES)
    world.runs.mark_seen(run.id)
    world.runs.visitors.record_address(ME, ADDRESS)
    world.round()
    assert back.status == "interrupted"
    world.runs.resume(run.id, ME)
    world.until(lambda: back.step > step)


def test_one_that_gets_on_is_tried_anew_each_time(world):
    run = training(world)
    for _ in range(saves.TRIES + 1):
        back = world.restart().get(run.id)
        world.runs.mark_seen(run.id)
        world.until(lambda: back.status == "training")  # noqa: B023
        assert back.message.values["tries"] == 1
        world.until(lambda step=back.step: back.step > step)  # noqa: B023
        world.runs._workers.save(back)


@pytest.mark.parametrize(("order", "status"), [("pause", "paused"), ("stop", "stopped"), ("step", "paused"), ("train", "interrupted")])
def test_what_a_person_has_just_asked_for_holds_when_the_server_ends(world, order, status):
    run = training(world)
    assert world.runs._workers.ask(run, order)
    after = world.restart(killed=False)
    assert card(world.runs.store.path(run))["status"] == after.get(run.id).status == status
    assert after.copy(run.id, YOU).status == ("stopped" if status == "interrupted" else status), "a copy was not cut off"


def cut(world, runs) -> list:
    back = [world.restart().get(run.id) if run is runs[0] else world.runs.get(run.id) for run in runs]
    for run in back:
        if run.message.key != "runs.cut_off_often":
            world.runs.mark_seen(run.id)
            world.until(lambda run=run: run.status == "training")
    return back


def test_the_first_save_comes_by_the_clock(world):
    """Of thirty runs each has trained for half a second when fifteen are over."""
    world.restart(save_seconds=15.0)
    runs = [world.runs.create(tiny(steps=LONG), owner * 32) for owner in "ab"]
    world.until(lambda: min(run.step for run in runs) > 2)
    assert [run.checkpoint_step for run in runs] == [None, None]
    world.clock.passed += 16
    world.until(lambda: all(run.checkpoint_step for run in runs))
    saved = [run.checkpoint_step for run in runs]
    world.clock.passed += 16
    world.until(lambda: min(run.step for run in runs) > max(saved) + 1)
    assert [run.checkpoint_step for run in runs] == saved  # the next ones go by what is trained


@pytest.mark.night
def test_a_run_among_others_is_tried_more_often_than_one_that_was_alone(world, monkeypatch):
    monkeypatch.setattr(saves, "TRIES_TOGETHER", saves.TRIES + 1)
    world.restart(save_seconds=1e9)
    runs = [world.runs.create(tiny(steps=LONG), owner * 32) for owner in "ab"]
    world.until(lambda: min(run.step for run in runs) > 0)
    for _ in range(saves.TRIES_TOGETHER):
        runs = cut(world, runs)
    assert ({run.status for run in runs}, {run.message.key for run in cut(world, runs)}) == ({"training"}, {"runs.cut_off_often"})

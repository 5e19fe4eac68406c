"""What visitors do with runs, through the whole of it: registry, workers, recording, store."""


import pytest

from playground.config import Refusal
from playground.queries.reader import Reader
from playground.runs import recording
from playground.runs.names import owner_of
from playground.training.loop import Training
from tests.runs.by_hand import at_rest, begun, ended, ordered, refused
from tests.runs.tiny import CORPORA, ME, alone, ended_as_if_alone, limits, same_parameters, tiny, wait


def test_a_run_is_trained_to_its_end(world):
    run = at_rest(world, world.runs.create(tiny(), ME, label="my <b>first</b> run"))
    assert (run.status, run.step, run.message, run.eta, run.place) == ("done", 30, None, None, 0)
    assert run.history.steps.column("step") == [*range(1, 31)]
    assert run.history.validations.column("step") == [10, 20, 30]
    assert run.replay.steps[0] == 0
    assert run.replay.steps[-1] == 30 == run.replay.parameter_steps[-1] == run.snapshot.step == run.checkpoint_step
    assert run.seconds > 0
    assert run.owner == owner_of(ME) != ME
    assert run.label == "my <b>first</b> run"
    assert len(run.probes) == len(CORPORA.get(run.experiment).probes)


def test_interleaved_and_looked_at_runs_equal_their_solitary_twins(serve, monkeypatch):
    """Bit for bit, with dropout, while they share two workers; and whatever step a snapshot says it is from, its parameters are exactly
    those that the solitary twin had then."""
    monkeypatch.setattr(recording, "PULSE", 0.0)  # a snapshot after every step
    monkeypatch.setattr(recording, "LIVE_SHARE", 1e9)
    runs = serve(limits(turn_seconds=0.0))
    experiments = [tiny(), tiny(seed=2, optimiser="muon"), tiny(seed=3, task="sort", norm="pre")]
    then, training = {}, Training(experiments[0], CORPORA.get(experiments[0]))
    for step in training.steps():
        then[step.step] = {name: p.detach().clone() for name, p in training.model.named_parameters()}
    live = [runs.create(experiment, owner) for experiment, owner in zip(experiments, ("a", "b", "c"), strict=True)]
    snapshots = {}

    def over():
        for run in live:
            run.seen()
        if snapshot := live[0].snapshot:
            snapshots[snapshot.step] = snapshot
        return not any(run.working for run in live)

    wait(over)
    assert len(snapshots) > 3
    assert all(same_parameters(snapshot.parameters, then[step]) for step, snapshot in snapshots.items() if step)
    for run, experiment in zip(live, experiments, strict=True):
        ended_as_if_alone(run, experiment)
        assert same_parameters(run.snapshot.parameters, alone(experiment)[0].snapshot.parameters)


def test_paused_and_stepped_it_goes_one_step_and_a_pause_can_be_taken_back(world):
    run = begun(world, steps=30, order="pause")
    step = run.step
    assert (run.status, run.checkpoint_step) == ("paused", step)
    ordered(world, run, "step_once")
    assert (run.status, run.step, len(run.history.steps)) == ("paused", step + 1, step + 1)
    for order in ("resume", "pause", "resume"):
        getattr(world.runs, order)(run.id, ME)
    ended_as_if_alone(at_rest(world, run), tiny())


def test_what_a_run_at_rest_does_not_do(world):
    run, done = begun(world, order="pause"), ended(world, steps=2)
    orders = [(run, "pause", "runs.not_at_work"), (done, "pause", "runs.not_at_work"), (done, "stop", "runs.not_at_work")]
    for of, order, key in [*orders, (done, "resume", "runs.not_resumable"), (done, "step_once", "runs.not_resumable")]:
        with refused(key):
            getattr(world.runs, order)(of.id, ME)
    world.runs.stop(run.id, ME)
    assert run.status == "stopped"
    with refused("runs.not_at_work"):
        world.runs.stop(run.id, ME)
    with refused("runs.ended"):
        world.runs.set_live(done.id, ME, "max_grad_norm", 2.0)


def test_stop_at_and_minutes_end_a_run(world):
    run = ended(world, task="beer", steps=2000, stop_at=1.0, learning_rate=0.01, eval_every=1, dropout=0.0)
    assert (run.status, run.message.key) == ("done", "runs.reached")
    assert run.step < 2000
    assert run.history.validations.last()["exact_match"] == 1.0
    assert run.replay.steps[-1] == run.step
    run = begun(world, minutes=0.5)
    run.seconds = 30.0
    at_rest(world, run)
    assert (run.status, run.message.key) == ("done", "runs.minutes_over")


def test_live_knobs_are_checked_and_recorded_also_those_of_a_paused_run(world):
    run = begun(world, steps=60)
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
    assert [run.memory_at(step) for step in (0, cut, cut + 1, 5000)] == ["whole", "whole", "cut", "cut"]
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

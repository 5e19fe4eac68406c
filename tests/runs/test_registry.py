"""What visitors do with runs, through the whole of it: registry, workers, recording, store."""


from playground.queries.reader import Reader
from playground.reading.formats import limits as sizes
from playground.runs import recording
from playground.runs.names import owner_of
from playground.training.loop import Training
from tests.runs.by_hand import at_rest, begun, ended, ordered, refused
from tests.runs.tiny import CORPORA, ME, PAIRS, alone, curve, ended_as_if_alone, limits, same_parameters, tiny, wait


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
    seen, torn = set(), []
    live = [runs.create(experiment, owner) for experiment, owner in zip(experiments, ("a", "b", "c"), strict=True)]

    def over():
        for run in live:
            run.seen()
        snapshot = live[0].snapshot
        if snapshot and snapshot.step and not same_parameters(snapshot.parameters, then[snapshot.step]):
            torn.append(snapshot.step)
        seen.add(snapshot and snapshot.step)
        return not any(run.working for run in live)

    wait(over)
    assert torn == []
    assert len(seen) > 3
    for run, experiment in zip(live, experiments, strict=True):
        ended_as_if_alone(run, experiment)
        assert same_parameters(run.snapshot.parameters, alone(experiment)[0].snapshot.parameters)


def test_paused_stepped_stopped_and_resumed_it_is_the_same_run(world):
    run = begun(world, steps=30, order="pause")
    step = run.step
    assert (run.status, run.checkpoint_step) == ("paused", step)
    ordered(world, run, "step_once")
    assert (run.status, run.step, len(run.history.steps)) == ("paused", step + 1, step + 1)
    world.runs.resume(run.id, ME)
    world.until(lambda: run.step >= step + 3)
    for _ in range(3):  # a pause that is taken back
        world.runs.pause(run.id, ME)
        world.runs.resume(run.id, ME)
    ordered(world, run, "stop")
    assert run.status == "stopped"
    assert run.replay.steps[-1] == run.step == run.snapshot.step == run.replay.parameter_steps[-1] < 30
    assert run.history.validations.last()["step"] == run.step
    ordered(world, run, "resume")
    twin, _ = alone(tiny())
    assert curve(run) == curve(twin)
    assert same_parameters(run.snapshot.parameters, twin.snapshot.parameters)


def test_what_a_run_at_rest_does_not_do(world):
    run = begun(world, order="pause")
    with refused("runs.not_at_work"):
        world.runs.pause(run.id, ME)
    world.runs.stop(run.id, ME)
    assert run.status == "stopped"
    for order in ("stop", "pause"):
        with refused("runs.not_at_work"):
            getattr(world.runs, order)(run.id, ME)
    done = ended(world, steps=2)
    for order in ("resume", "step_once"):
        with refused("runs.not_resumable"):
            getattr(world.runs, order)(done.id, ME)
    for order in ("pause", "stop"):
        with refused("runs.not_at_work"):
            getattr(world.runs, order)(done.id, ME)
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


def test_live_knobs_act_from_the_next_step_and_are_recorded(world):
    run = begun(world, steps=60)
    world.runs.set_live(run.id, ME, "learning_rate", "0.002")
    world.until(lambda: run.history.events)
    step = run.history.events[0][0]
    ordered(world, run, "pause")
    world.runs.set_live(run.id, ME, "max_grad_norm", 0.5)
    ordered(world, run, "resume")
    rates = run.history.steps.column("learning_rate")
    assert set(rates[:step]) == {0.01}
    assert set(rates[step:]) == {0.002}
    assert [event[1:] for event in run.history.events] == [("learning_rate", 0.002), ("max_grad_norm", 0.5)]
    with refused("runs.not_live"):
        world.runs.set_live(run.id, ME, "d_model", 8)


def test_a_look_at_a_step_goes_the_way_the_memory_went_then_also_after_a_restart(world):
    run = begun(world, eval_every=1000, zero_init=False)
    world.runs.set_live(run.id, ME, "memory_mode", "cut")
    world.until(lambda: run.history.events)
    ordered(world, run, "pause")
    (cut, knob, value), reader = run.history.events[0], Reader(world.runs)
    assert (knob, value) == ("memory_mode", "cut")
    assert [run.memory_at(step) for step in (0, cut, cut + 1, 5000)] == ["whole", "whole", "cut", "cut"]
    for step in run.replay.parameter_steps:
        model, actual = reader.model_at(run, step)
        assert (actual, model.config.memory_mode) == (step, "cut" if step > cut else "whole")
    assert reader.model_at(run, None)[0].config.memory_mode == "cut"
    reader.close()
    assert [world.runs.fork(run.id, step, ME).live["memory_mode"] for step in (None, 0)] == ["cut", "whole"]
    rows = run.history.diagnostics.rows()
    assert cut + 1 in rows["step"]  # what it does is seen at once
    assert all((gradient == 0) == (step > cut) for step, gradient in zip(rows["step"], rows["encoder/gradient"], strict=True))
    again = world.restart().get(run.id)
    assert again.live["memory_mode"] == "cut"
    assert (again.history.events, again.history.diagnostics.rows()) == (run.history.events, rows)


def test_own_data_that_are_too_large_to_be_kept_leave_no_run(world, monkeypatch):
    monkeypatch.setattr(sizes, "JSON_LIMIT", 1000)
    with refused("data.too_large_to_keep"):
        world.runs.create(tiny(task="own", own="upload"), ME, pairs=PAIRS)
    assert world.runs.mine(ME) == []
    assert list(world.runs.store.root.iterdir()) == []

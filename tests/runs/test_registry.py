"""What visitors do with runs, through the whole of it: registry, workers, recording, store."""

import threading
import time

import pytest

from playground.config import Refusal
from playground.queries.reader import Reader
from playground.reading.formats import limits as sizes
from playground.runs import recording
from playground.runs.names import owner_of
from playground.training.loop import Training
from tests.runs.tiny import CORPORA, ME, PAIRS, YOU, alone, at_step, curve, done, limits, same_parameters, same_replay, tiny, wait


def test_a_run_is_trained_to_its_end(runs):
    run = done(runs.create(tiny(), ME, label="my <b>first</b> run"))
    assert (run.status, run.step, run.message, run.eta, run.place) == ("done", 30, None, None, 0)
    assert len(run.history.steps) == 30
    assert run.history.validations.column("step") == [10, 20, 30]
    assert run.replay.steps[0] == 0
    assert run.replay.steps[-1] == 30 == run.replay.parameter_steps[-1] == run.snapshot.step == run.checkpoint_step
    assert run.seconds > 0
    assert run.owner == owner_of(ME) != ME
    assert run.label == "my <b>first</b> run"
    assert len(run.id) >= 16
    assert len(run.probes) == len(CORPORA.get(run.experiment).probes)


def test_three_runs_interleaved_equal_their_solitary_twins(serve):
    """Bit for bit: losses, gradients, parameters and replays, with dropout, while they share two workers and people look."""
    runs = serve(limits(turn_seconds=0.0))
    experiments = [tiny(seed=1), tiny(seed=2, optimiser="muon"), tiny(seed=3, task="sort", norm="pre")]
    live = [runs.create(experiment, owner) for experiment, owner in zip(experiments, ("a", "b", "c"), strict=True)]
    wait(lambda: [run.seen() for run in live] and not any(run.working for run in live))
    for run, experiment in zip(live, experiments, strict=True):
        twin, training = alone(experiment)
        assert curve(run) == curve(twin)
        assert run.history.validations.rows() == twin.history.validations.rows()
        assert same_replay(run, twin)
        assert same_parameters(run.snapshot.parameters, {name: p.detach() for name, p in training.model.named_parameters()})


def test_pause_step_resume_is_the_same_curve(runs):
    run = runs.create(tiny(steps=100), ME)
    at_step(run, 5)
    runs.pause(run.id, ME)
    wait(lambda: run.status == "paused")
    step = run.step
    assert run.checkpoint_step == step < 400
    runs.step_once(run.id, ME)
    wait(lambda: run.status == "paused" and run.step == step + 1)
    assert len(run.history.steps) == step + 1
    runs.resume(run.id, ME)
    done(run)
    twin, _ = alone(tiny(steps=100))
    assert run.status == "done"
    assert curve(run) == curve(twin)
    assert same_replay(run, twin)


def test_stop_keeps_what_was_learnt_and_can_be_resumed(runs):
    run = at_step(runs.create(tiny(steps=100), ME), 7)
    runs.stop(run.id, ME)
    done(run)
    assert run.status == "stopped"
    assert run.replay.steps[-1] == run.step == run.snapshot.step == run.replay.parameter_steps[-1]
    assert run.history.validations.last()["step"] == run.step
    runs.resume(run.id, ME)
    done(run)
    twin, _ = alone(tiny(steps=100))
    assert curve(run) == curve(twin)
    assert same_replay(run, twin)


def test_a_paused_run_can_be_stopped(runs):
    run = at_step(runs.create(tiny(steps=100), ME), 1)
    runs.pause(run.id, ME)
    wait(lambda: run.status == "paused")
    runs.stop(run.id, ME)
    assert run.status == "stopped"
    with pytest.raises(Refusal, match="not training"):
        runs.stop(run.id, ME)


def test_pause_may_be_taken_back(runs):
    run = at_step(runs.create(tiny(steps=100), ME), 1)
    for _ in range(5):
        runs.pause(run.id, ME)
        runs.resume(run.id, ME)
    done(run)
    assert run.status == "done"
    assert curve(run) == curve(alone(tiny(steps=100))[0])


def test_an_ended_run_goes_no_further(runs):
    run = done(runs.create(tiny(steps=2), ME))
    for act in (runs.resume, runs.step_once):
        with pytest.raises(Refusal, match="has ended"):
            act(run.id, ME)
    with pytest.raises(Refusal, match="not training"):
        runs.pause(run.id, ME)
    with pytest.raises(Refusal, match="has ended"):
        runs.set_live(run.id, ME, "max_grad_norm", 2.0)


def test_stop_at_and_minutes_end_a_run(runs):
    run = done(runs.create(tiny(task="beer", steps=2000, stop_at=1.0, learning_rate=0.01, eval_every=1, dropout=0.0), ME))
    assert (run.status, run.message.key) == ("done", "runs.reached")
    assert run.step < 2000
    assert run.history.validations.last()["exact_match"] == 1.0
    assert run.replay.steps[-1] == run.step
    run = runs.create(tiny(steps=100_000, minutes=0.5), ME)
    at_step(run, 1)
    run.seconds = 30.0
    done(run)
    assert (run.status, run.message.key) == ("done", "runs.minutes_over")


def test_live_knobs_act_from_the_next_step_and_are_recorded(runs):
    run = at_step(runs.create(tiny(steps=100), ME), 1)
    runs.set_live(run.id, ME, "learning_rate", "0.002")
    wait(lambda: run.history.events)
    step, knob, value = run.history.events[0]
    assert (knob, value) == ("learning_rate", 0.002)
    runs.pause(run.id, ME)
    wait(lambda: run.status == "paused")
    runs.set_live(run.id, ME, "max_grad_norm", 0.5)
    runs.resume(run.id, ME)
    done(run)
    rates = run.history.steps.column("learning_rate")
    assert set(rates[:step]) == {0.01}
    assert set(rates[step:]) == {0.002}
    assert [event[1:] for event in run.history.events] == [("learning_rate", 0.002), ("max_grad_norm", 0.5)]
    with pytest.raises(Refusal, match="d_model"):
        runs.set_live(run.id, ME, "d_model", 8)


def test_a_look_at_a_step_goes_the_way_the_memory_went_then(runs):
    run = at_step(runs.create(tiny(steps=5000, eval_every=1000, zero_init=False), ME), 3)
    runs.set_live(run.id, ME, "memory_mode", "cut")
    wait(lambda: run.history.events)
    runs.pause(run.id, ME)
    wait(lambda: run.status == "paused")
    (cut, knob, value), reader = run.history.events[0], Reader(runs)
    assert (knob, value) == ("memory_mode", "cut")
    assert [run.memory_at(step) for step in (0, cut, cut + 1, 5000)] == ["whole", "whole", "cut", "cut"]
    for step in run.replay.parameter_steps:
        model, actual = reader.model_at(run, step)
        assert (actual, model.config.memory_mode) == (step, "cut" if step > cut else "whole")
    assert reader.model_at(run, None)[0].config.memory_mode == "cut"
    assert runs.fork(run.id, None, YOU).live["memory_mode"] == "cut"
    assert runs.fork(run.id, 0, YOU).live["memory_mode"] == "whole"
    found = run.history.diagnostics.rows()
    assert cut + 1 in found["step"]  # what it does is seen at once
    assert all((gradient == 0) == (step > cut) for step, gradient in zip(found["step"], found["encoder/gradient"], strict=True))
    reader.close()


def test_the_memory_stays_cut_over_a_restart(serve):
    runs = serve()
    run = at_step(runs.create(tiny(steps=5000), ME), 3)
    runs.set_live(run.id, ME, "memory_mode", "cut")
    wait(lambda: run.history.events)
    runs.pause(run.id, ME)
    wait(lambda: run.status == "paused")
    runs.close()
    again = serve().get(run.id)
    assert again.live["memory_mode"] == "cut"
    assert again.history.events == run.history.events
    assert again.history.diagnostics.rows() == run.history.diagnostics.rows()


def test_own_data_that_are_too_large_to_be_kept_leave_no_run(runs, monkeypatch):
    monkeypatch.setattr(sizes, "JSON_LIMIT", 1000)
    with pytest.raises(Refusal) as refusal:
        runs.create(tiny(task="own", own="upload"), ME, pairs=PAIRS)
    assert refusal.value.key == "data.too_large_to_keep"
    assert runs.mine(ME) == []
    assert list(runs.store.root.iterdir()) == []


def test_readers_see_parameters_of_one_step_while_it_trains(runs, monkeypatch):
    """Whatever step a snapshot says it is from, its parameters are exactly those the solitary twin had then."""
    monkeypatch.setattr(recording, "PULSE", 0.0)  # a snapshot after every step
    monkeypatch.setattr(recording, "LIVE_SHARE", 1e9)
    experiment = tiny(steps=100)
    twins, training = {}, Training(experiment, CORPORA.get(experiment))
    for step in training.steps():
        twins[step.step] = {name: p.detach().clone() for name, p in training.model.named_parameters()}
    run, seen, torn = runs.create(experiment, ME), set(), []

    def look():
        while run.working:
            run.seen()
            snapshot = run.snapshot
            if snapshot and snapshot.step in twins and not same_parameters(snapshot.parameters, twins[snapshot.step]):
                torn.append(snapshot.step)
            if snapshot:
                seen.add(snapshot.step)
            time.sleep(0.001)

    lookers = [threading.Thread(target=look) for _ in range(3)]
    for thread in lookers:
        thread.start()
    for thread in lookers:
        thread.join(60)
    assert torn == []
    assert len(seen) > 3

import pytest

from playground.runs.recording import BRIEF, Recording
from playground.runs.run import Run
from playground.training.loop import Training
from playground.training.metrics import Validation
from tests.runs.tiny import CORPORA, LIMITS, same_replay, tiny


def recorded(replay_bytes=LIMITS.replay_bytes, watched=False, until=None, memory=(), **knobs) -> tuple[Run, Recording]:
    """A training that somebody sees every step of, or nobody any."""
    experiment = tiny(**knobs)
    run = Run("some-run", "some-run", experiment)
    recording = Recording(run, Training(experiment, CORPORA.get(experiment)), replay_bytes)
    for step in recording.steps():
        recording._next_live = 0.0 if watched else float("inf")
        run.live["memory_mode"] = dict(memory).get(step, run.live["memory_mode"])
        if step == until:
            break
    return run, recording


@pytest.mark.parametrize("memory", [(), ((2, "cut"), (15, "whole"))])
def test_a_replay_is_developed_when_it_is_asked_for_and_is_the_replay_that_was_looked_at(memory):
    """Also while the way of the memory changes: a picture waits with the knob as it was."""
    (quiet, _), (watched, _) = recorded(memory=memory), recorded(watched=True, memory=memory)
    assert quiet.replay.steps == watched.replay.steps == quiet.replay.plan.steps
    assert quiet.replay.waiting > 10
    assert same_replay(quiet, watched)
    assert quiet.replay.waiting == 0


@pytest.mark.parametrize(("rights", "numbers"), [((0.1, 0.2, 0.3), (BRIEF, BRIEF, 150)), ((0.4, 0.6, 0.9), (BRIEF, 150, 150))])
def test_all_held_out_sentences_are_asked_from_half_right_on_and_at_the_end(monkeypatch, rights, numbers):
    monkeypatch.setattr(
        Training, "validate", lambda self, split="heldout", most=None: Validation(1.0, 0.5, rights[self.step // 10 - 1], most or 150)
    )
    run, recording = recorded(validation_size=150, train_size=300)
    recording.finish()
    assert run.history.validations.column("step") == [10, 20, 30]
    assert run.history.validations.column("pairs") == list(numbers)


def test_who_watches_hears_of_the_curve_ten_times_a_second_and_nobody_else_does(monkeypatch):
    """Between two pictures of the model, which cost more, the steps are told: what a page shows is not behind."""

    def heard(watched: bool) -> list[int]:
        monkeypatch.setattr(Run, "watched", watched)
        experiment, now = tiny(steps=12), [0.0]
        run = Run("some-run", "some-run", experiment)
        recording = Recording(run, Training(experiment, CORPORA.get(experiment)))
        recording.clock, told = lambda: now[0], []
        for _ in recording.steps():
            recording._next_live = float("inf")
            if run.marks and (rows := run.marks[run.version].rows) not in told:
                told.append(rows)
            now[0] += 0.06
        return told[1:]

    assert heard(watched=True) == [3, 5, 7, 9, 11]
    assert heard(watched=False) == []

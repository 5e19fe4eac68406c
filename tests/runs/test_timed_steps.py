"""A run with a time ends with it: the learning rate has come down when the time is over, whatever the machine did meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from playground.runs.history import History
from playground.runs.recording import Recording
from playground.runs.run import Run
from playground.runs.timed_steps import MOMENTS, TimedSteps
from playground.training.loop import Training
from tests.runs.tiny import CORPORA, LIMITS, curve, tiny

TIMED = {"steps": 400, "minutes": 0.25, "schedule": "linear", "eval_every": 1000}


class Clock:
    """Time that passes only when somebody looks: `tick` seconds, which are many under load."""

    def __init__(self, load: Callable[[float], float]) -> None:
        self.now, self._load = 0.0, load

    def __call__(self) -> float:
        self.now += self._load(self.now)
        return self.now


def burst(now: float) -> float:
    return 0.5 if 5 < now < 8 else 0.08


def recorded(run: Run, load: Callable[[float], float] = lambda now: 0.0) -> Recording:
    torch.set_num_threads(1)
    run.seen_at = float("-inf")
    recording = Recording(run, Training(run.experiment, CORPORA.get(run.experiment)), LIMITS.replay_bytes)
    recording.clock = Clock(load)
    return recording


@given(st.lists(st.floats(0.1, 0.3), min_size=1, max_size=2))
def test_a_plan_is_over_with_the_time_whatever_the_machine_does(paces):
    """Of a step every so many seconds, in each half of the minute."""
    timed, step, seconds, planned = TimedSteps(1.0, 2000, 0, 0.0), 0, 0.0, 2000
    while step < planned and seconds < 60:
        step, seconds = step + 1, seconds + paces[min(int(seconds / 60 * len(paces)), len(paces) - 1)]
        planned = timed.plan(step, seconds) or planned
    assert (planned - step) / planned < 0.04
    assert seconds == pytest.approx(60, rel=0.05)


def test_the_schedule_ends_with_the_time():
    run = Run("a", "a", tiny(**TIMED))
    for _ in recorded(run, burst).steps():
        pass
    rates = run.history.steps.column("learning_rate")
    assert rates[-1] < 0.04 * max(rates)
    assert run.seconds == pytest.approx(15, rel=0.05)
    assert run.step < 400
    planned = [value for _, knob, value in run.history.events if knob == "steps"]
    assert 1 < len(planned) <= len(MOMENTS)
    assert planned[-1] == run.steps


def test_it_has_no_more_steps_than_were_asked_for():
    run = Run("a", "a", tiny(**TIMED | {"steps": 30}))
    for _ in recorded(run, lambda now: 0.1).steps():
        pass
    assert (run.step, run.history.events) == (30, [])
    assert run.seconds < 15


@pytest.mark.night
def test_with_its_events_it_is_repeated_without_a_clock():
    first = Run("a", "a", tiny(**TIMED))
    for _ in recorded(first, burst).steps():
        pass
    events = History.from_json(first.history.to_json()).events
    again = Run("b", "b", tiny(**TIMED | {"minutes": 0.0}))
    for step in recorded(again).steps():
        again.live |= {knob: value for after, knob, value in events if after == step}
    assert curve(again) == curve(first)
    assert again.history.events == first.history.events


def test_what_was_planned_is_kept_when_it_goes_on():
    later = TimedSteps(1.0, 400, 60, 50.0)
    assert later.plan(61, 50.1) is None  # the moments that are over are not made up for
    assert later.plan(70, 53.0) == 70 + int(7 / 0.3)

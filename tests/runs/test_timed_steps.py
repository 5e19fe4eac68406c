"""How fast this machine is, in which precision a run is computed, and what follows: how long it takes, and how many steps fit a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from playground.runs import machine_speed
from playground.runs.history import History
from playground.runs.pace import STRETCHES, Pace
from playground.runs.recording import Recording
from playground.runs.run import Run
from playground.runs.timed_steps import MOMENTS, TimedSteps
from playground.training.loop import Training
from playground.training.work import Work
from tests.runs.tiny import CORPORA, LIMITS, curve, tiny


@pytest.fixture
def rates(monkeypatch):
    """Says how many times as fast as float32 bfloat16 is on this machine."""

    def say(ratio: float) -> None:
        monkeypatch.setattr(machine_speed, "product_rate", lambda width, dtype, device: ratio if dtype == torch.bfloat16 else 1.0)

    return say


@pytest.mark.parametrize(
    ("wanted", "d_model", "ratio", "expected"),
    [
        ("auto", 512, 8.0, "bfloat16"), ("auto", 256, 8.0, "bfloat16"), ("auto", 248, 8.0, "float32"), ("auto", 512, 1.5, "float32"),
        ("auto", 512, 0.01, "float32"), ("float32", 512, 8.0, "float32"), ("bfloat16", 8, 0.01, "bfloat16"),
    ],
)  # fmt: skip
def test_what_is_chosen(rates, wanted, d_model, ratio, expected):
    rates(ratio)
    assert machine_speed.precision(wanted, d_model, "cpu") == expected


def test_calls_products_and_elements_are_told_apart():
    """From steps whose seconds are known, and what would take less than no time takes none."""
    counted = [(5, Work(1e6, 1e5, 1, 1)), (10, Work(3e9, 2e7, 1, 1)), (10, Work(9e9, 1e7, 1, 1)), (40, Work(1e6, 2e5, 1, 1))]
    for steps, once in ((3, 0.0), (4, 0.003)):
        speed = machine_speed.MachineSpeed(0.001, 1e-11, 1e-9, once)
        again = machine_speed.solved(counted[:steps], [speed.step(*one) for one in counted[:steps]])
        assert (again.layer, again.operation, again.element, again.once) == pytest.approx((0.001, 1e-11, 1e-9, once))
    assert speed.step(*counted[2], faster=4.0) == pytest.approx(0.003 + 0.01 + 0.09 / 4 + 0.01)
    assert machine_speed.solved(counted[:3], [0.01, 0.01, 0.01]).element == 0.0


TIMED = {"steps": 400, "minutes": 0.25, "schedule": "linear", "eval_every": 1000}


def burst(now: float) -> float:
    return 0.5 if 5 < now < 8 else 0.08


def train(run: Run, load: Callable[[float], float] = lambda now: 0.0) -> Iterator[Any]:
    """Its steps, in this thread, by a clock that goes on at each look, by as many seconds as the load makes of it."""
    torch.set_num_threads(1)
    run.seen_at, now = float("-inf"), [0.0]
    recording = Recording(run, Training(run.experiment, CORPORA.get(run.experiment)), LIMITS.replay_bytes)
    recording.clock = lambda: now.append(now[-1] + load(now[-1])) or now[-1]
    return recording.steps()


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
    for _ in train(run, burst):
        pass
    rates, planned = run.history.steps.column("learning_rate"), [value for _, knob, value in run.history.events if knob == "steps"]
    assert rates[-1] < 0.04 * max(rates)
    assert run.seconds == pytest.approx(15, rel=0.05)
    assert 1 < len(planned) <= len(MOMENTS)
    assert planned[-1] == run.steps == run.step < 400


@pytest.mark.night
def test_with_its_events_it_is_repeated_without_a_clock():
    first, again = Run("a", "a", tiny(**TIMED)), Run("b", "b", tiny(**TIMED | {"minutes": 0.0}))
    for _ in train(first, burst):
        pass
    events = History.from_json(first.history.to_json()).events
    for step in train(again):
        again.live |= {knob: value for after, knob, value in events if after == step}
    assert (curve(again), again.history.events) == (curve(first), first.history.events)


def test_what_was_planned_is_kept_when_it_goes_on():
    later = TimedSteps(1.0, 400, 60, 50.0)
    assert later.plan(61, 50.1) is None  # the moments that are over are not made up for
    assert later.plan(70, 53.0) == 70 + int(7 / 0.3)


@given(st.floats(0.05, 2.0), st.floats(0.0, 0.9), st.integers(1, 50), st.integers(0, 1000))
def test_the_time_that_is_left_is_a_range_around_the_mean_pace_of_the_newest_stretches(mean, spread, count, left):
    """What was long ago is forgotten; a stretch without a step goes on; and nothing is said before there are two."""
    pace, now = Pace(0.0, 0), 10_000.0
    pace.note(now, 1)
    assert pace.left(left) is None
    for stretch in range(STRETCHES):
        pace.note(now, 1 + stretch * count)  # no step since
        now += count * mean * (1 + spread * (-1) ** stretch)
        pace.note(now, 1 + (stretch + 1) * count)
        assert pace.left(left)
    deviation = mean * spread * (STRETCHES / (STRETCHES - 1)) ** 0.5
    assert pace.left(left) == pytest.approx((left * max(mean - deviation, 0.0), left * (mean + deviation)))

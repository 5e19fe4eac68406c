"""The machine: its date, whose change ends nothing, cores, memory, speed; a run's precision, its time, and how many steps fit a time."""

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from hypothesis import given, strategies as st

from playground.rooms.registry import WRONG_CODES, Rooms
from playground.runs import limits, machine_speed, runtime
from playground.runs.forecast import MAX_STRETCHES, REPLANNING_MOMENTS, Pace, TimedSteps
from playground.runs.history import History
from playground.runs.limits import Limits, free_memory, machine_cores
from playground.runs.machine_speed import Work
from playground.runs.recording import Recording
from playground.runs.run import Run
from playground.runs.runtime import JUMP_SECONDS, LASTING_SECONDS, SteadyClock
from playground.training.loop import Training
from tests.runs.tiny import CORPORA, LIMITS, ME, alone, at_rest, begun, curve, ended, refused, tiny

DAY = 86_400.0
JUMPS = st.sampled_from([DAY, -DAY, 30 * 365 * DAY, -30 * 365 * DAY])
TIMED = {"steps": 400, "minutes": 0.25, "schedule": "linear", "eval_every": 1000}


class Machine:
    """Its two clocks: the one on its wall, and the one that only goes forward."""

    def __init__(self) -> None:
        self.even, self.jumped = 1000.0, 0.0
        self.clock = SteadyClock(lambda: 1.8e9 + self.even + self.jumped, lambda: self.even)


@given(JUMPS | st.just(JUMP_SECONDS / 2))
def test_a_jump_counts_once_it_has_lasted_and_a_small_one_at_once(jump):
    machine = Machine()
    first, machine.jumped = machine.clock(), jump
    for passed in (0.0, LASTING_SECONDS / 2, LASTING_SECONDS - 1):
        machine.even = 1000.0 + passed
        assert machine.clock() == pytest.approx(first + passed + (jump if jump == JUMP_SECONDS / 2 else 0))
    machine.even = 1000.0 + LASTING_SECONDS
    machine.clock()
    assert machine.clock() == pytest.approx(first + LASTING_SECONDS + jump)


@given(JUMPS)
def test_one_that_is_taken_back_never_was(jump):
    machine = Machine()
    first = machine.clock()
    for jumped in (jump, 0.0, jump):  # and again: it begins anew
        machine.even += 0.6 * LASTING_SECONDS
        machine.jumped = jumped
        machine.clock()
    assert machine.clock() == pytest.approx(first + machine.even - 1000.0)


@pytest.mark.fault("the clock set a day or thirty years forth or back while a room is open", "it stays open; codes can be tried no sooner")
@pytest.mark.parametrize("seconds", [DAY, -30 * 365 * DAY])
def test_a_room_stays_open_as_long_as_it_was_to_be_and_codes_can_be_tried_no_sooner(tmp_path, monkeypatch, seconds):
    real, rooms = time.time, Rooms(tmp_path)
    monkeypatch.setattr(runtime, "_clock", SteadyClock(lambda: time.time()))
    code = rooms.open(ME, "en", time.time() + DAY / 2).code
    for _ in range(WRONG_CODES):
        with refused("rooms.unknown"):
            rooms.join("AAAAA", "a stranger", address="there")
    monkeypatch.setattr(time, "time", lambda: real() + seconds)  # of this whole process
    rooms.tidy()
    assert rooms.join(code, "a student").code == code
    with refused("rooms.too_often"):
        rooms.join("AAAAA", "a stranger", address="there")


@pytest.mark.fault("the clock set thirty years forth or back while a run trains", "it trains on, and no run is deleted")
@pytest.mark.parametrize("years", [-30, pytest.param(30, marks=pytest.mark.night)])
def test_a_run_trains_on_and_none_is_deleted(world, years):
    old, run = ended(world, steps=1), begun(world, steps=12)
    looked = old.looked_at
    world.clock.offset += years * 365 * DAY
    world.round()
    assert world.runs.list_owned(ME) == [run, old]
    at_rest(world, run)
    world.runs.mark_seen(old.id)
    assert looked <= old.looked_at < looked + 600, "or it would be the last to go, or the first"
    assert (run.status, run.eta, curve(run)) == ("done", None, curve(alone(tiny())[0]))


def test_a_container_gets_its_share_and_the_environment_decides_where_it_says_a_number(monkeypatch):
    said = {"/sys/fs/cgroup/cpu.max": "100000 100000\n", "/sys/fs/cgroup/memory.max": "5000\n", "/sys/fs/cgroup/memory.current": "2000\n"}
    monkeypatch.setattr(limits, "_read", lambda path: said.get(path, "MemAvailable:   1000 kB\n"))
    assert (machine_cores(), free_memory()) == (1, 3000)
    said |= {"/sys/fs/cgroup/cpu.max": "max 100000\n", "/sys/fs/cgroup/memory.max": "max\n"}
    assert machine_cores() >= 1
    assert free_memory() == 1000 * 1024
    monkeypatch.setattr(limits, "_read", lambda path: "")
    assert free_memory() == 4 * limits.GB
    values = {"CORES": "3", "MEMORY": "1e9", "IDLE_MINUTES": "0.5", "DEVICE": "cpu", "ENGINE": "elsewhere"}
    for name, value in values.items():
        monkeypatch.setenv(f"PLAYGROUND_{name}", value)
    for number, name in enumerate(limits.COUNTS, start=1):
        monkeypatch.setenv(f"PLAYGROUND_{name.upper()}", str(number))
    one = Limits.from_environment()
    assert (one.cores, one.memory, one.idle_seconds, one.devices, one.engine) == (3, 10**9, 30.0, ("cpu",), "auto")
    assert [getattr(one, name) for name in limits.COUNTS] == list(range(1, len(limits.COUNTS) + 1))
    assert all(type(getattr(one, name)) is type(getattr(Limits, name)) for name in limits.COUNTS)
    monkeypatch.delenv("PLAYGROUND_ENGINE")
    assert Limits.from_environment().engine == "auto", "a server trains beside the page"
    for value in ("", "many", "nan", "inf", "-1", "0"):
        monkeypatch.setenv("PLAYGROUND_RUNS_EACH", value)
        assert Limits.from_environment().runs_each == Limits.runs_each
    for name in ("UNSEEN_DAYS", "SHARED_DAYS", "RUNS_KEPT", "REQUEST_SECONDS"):
        monkeypatch.setenv(f"PLAYGROUND_{name}", "never")
    one = Limits.from_environment()
    assert (one.unseen_days, one.shared_days) == (math.inf, math.inf)
    assert (one.runs_kept, one.request_seconds) == (Limits.runs_kept, Limits.request_seconds)


@pytest.mark.parametrize(("wanted", "d_model", "ratio", "expected"), [
    ("auto", 512, 8.0, "bfloat16"), ("auto", 128, 1.5, "bfloat16"), ("auto", 120, 8.0, "float32"), ("auto", 512, 1.4, "float32"),
    ("auto", 512, 0.01, "float32"), ("float32", 512, 8.0, "float32"), ("bfloat16", 8, 0.01, "bfloat16"),
])  # fmt: skip
def test_what_is_chosen(monkeypatch, wanted, d_model, ratio, expected):
    """On a machine on which bfloat16 is so many times as fast as float32."""
    monkeypatch.setattr(machine_speed, "_measure_ratio", lambda device: ratio)
    assert machine_speed.precision(wanted, d_model, "cpu") == expected


def test_calls_products_and_elements_are_told_apart():
    """From steps whose seconds are known, and what would take less than no time takes none."""
    counted = [(5, Work(1e6, 1e5, 1, 1)), (10, Work(3e9, 2e7, 1, 1)), (10, Work(9e9, 1e7, 1, 1)), (40, Work(1e6, 2e5, 1, 1))]
    for steps, once in ((3, 0.0), (4, 0.003)):
        speed = machine_speed.MachineSpeed(0.001, 1e-11, 1e-9, once)
        again = machine_speed.solve_speed(counted[:steps], [speed.step(*one) for one in counted[:steps]])
        assert (again.layer, again.operation, again.element, again.once) == pytest.approx((0.001, 1e-11, 1e-9, once))
    assert speed.step(*counted[2], faster=4.0) == pytest.approx(0.003 + 0.01 + 0.09 / 4 + 0.01)
    assert machine_speed.solve_speed(counted[:3], [0.01, 0.01, 0.01]).element == 0.0


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


def test_the_schedule_ends_with_the_time_and_what_was_planned_is_kept_when_it_goes_on():
    run = Run("a", "a", tiny(**TIMED))
    for _ in train(run, burst):
        pass
    rates, planned = run.history.steps.column("learning_rate"), [value for _, knob, value in run.history.events if knob == "steps"]
    assert rates[-1] < 0.04 * max(rates)
    assert run.seconds == pytest.approx(15, rel=0.05)
    assert 1 < len(planned) <= len(REPLANNING_MOMENTS)
    assert planned[-1] == run.steps == run.step < 400
    later = TimedSteps(1.0, 400, 60, 50.0)
    assert later.plan(61, 50.1) is None  # the moments that are over are not made up for
    assert later.plan(70, 53.0) == 70 + int(7 / 0.3)


@pytest.mark.night
def test_with_its_events_it_is_repeated_without_a_clock():
    first, again = Run("a", "a", tiny(**TIMED)), Run("b", "b", tiny(**TIMED | {"minutes": 0.0}))
    for _ in train(first, burst):
        pass
    events = History.from_json(first.history.to_json()).events
    for step in train(again):
        again.live |= {knob: value for after, knob, value in events if after == step}
    assert (curve(again), again.history.events) == (curve(first), first.history.events)


@given(st.floats(0.05, 2.0), st.floats(0.0, 0.9), st.integers(1, 50), st.integers(0, 1000))
def test_the_time_that_is_left_is_a_range_around_the_mean_pace_of_the_newest_stretches(mean, spread, count, left):
    """What was long ago is forgotten; a stretch without a step goes on; and nothing is said before there are two."""
    pace, now = Pace(0.0, 0), 10_000.0
    pace.record(now, 1)
    assert pace.estimate_left(left) is None
    for stretch in range(MAX_STRETCHES):
        pace.record(now, 1 + stretch * count)  # no step since
        now += count * mean * (1 + spread * (-1) ** stretch)
        pace.record(now, 1 + (stretch + 1) * count)
        assert pace.estimate_left(left)
    deviation = mean * spread * (MAX_STRETCHES / (MAX_STRETCHES - 1)) ** 0.5
    assert pace.estimate_left(left) == pytest.approx((left * max(mean - deviation, 0.0), left * (mean + deviation)))

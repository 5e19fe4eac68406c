"""What the machine says: of the date, where nothing that lasts days ends when its clock is set, and of its cores and memory."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.rooms.registry import WRONG_CODES, Rooms
from playground.runs import limits, steady_clock
from playground.runs.limits import Limits, free_memory, machine_cores
from playground.runs.steady_clock import JUMP_SECONDS, LASTING_SECONDS, SteadyClock
from tests.runs.by_hand import at_rest, begun, ended, refused
from tests.runs.tiny import ME, alone, curve, tiny

DAY = 86_400.0
JUMPS = st.sampled_from([DAY, -DAY, 30 * 365 * DAY, -30 * 365 * DAY])


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
    monkeypatch.setattr(steady_clock, "_clock", SteadyClock(lambda: time.time()))
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
@pytest.mark.parametrize("years", [30, -30])
def test_a_run_trains_on_and_none_is_deleted(world, years):
    old, run = ended(world, steps=1), begun(world, steps=30)
    looked = old.looked_at
    world.clock.offset += years * 365 * DAY
    world.round()
    assert world.runs.mine(ME) == [run, old]
    at_rest(world, run)
    world.runs.seen(old.id)
    assert looked <= old.looked_at < looked + 600, "or it would be the last to go, or the first"
    assert (run.status, run.eta, curve(run)) == ("done", None, curve(alone(tiny())[0]))


def test_the_environment_decides(monkeypatch):
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


def test_what_is_no_number_is_passed_over_and_only_what_lasts_may_never_end(monkeypatch):
    for value in ("", "many", "nan", "inf", "-1", "0"):
        monkeypatch.setenv("PLAYGROUND_RUNS_EACH", value)
        assert Limits.from_environment().runs_each == Limits.runs_each
    for name in ("UNSEEN_DAYS", "SHARED_DAYS", "RUNS_KEPT", "REQUEST_SECONDS"):
        monkeypatch.setenv(f"PLAYGROUND_{name}", "never")
    one = Limits.from_environment()
    assert (one.unseen_days, one.shared_days) == (math.inf, math.inf)
    assert (one.runs_kept, one.request_seconds) == (Limits.runs_kept, Limits.request_seconds)


def test_a_container_gets_its_share(monkeypatch):
    said = {"/sys/fs/cgroup/cpu.max": "100000 100000\n", "/sys/fs/cgroup/memory.max": "5000\n", "/sys/fs/cgroup/memory.current": "2000\n"}
    monkeypatch.setattr(limits, "_read", lambda path: said.get(path, "MemAvailable:   1000 kB\n"))
    assert machine_cores() == 1
    assert free_memory() == 3000
    said |= {"/sys/fs/cgroup/cpu.max": "max 100000\n", "/sys/fs/cgroup/memory.max": "max\n"}
    assert machine_cores() >= 1
    assert free_memory() == 1000 * 1024
    monkeypatch.setattr(limits, "_read", lambda path: "")
    assert free_memory() == 4 * limits.GB

"""The machine's clock is set a day or thirty years forth or back: nothing that lasts days ends for it, and nothing is deleted."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from playground.config import Refusal
from playground.rooms.registry import WRONG_CODES, Rooms
from playground.runs import steady_clock
from playground.runs.steady_clock import JUMP_SECONDS, LASTING_SECONDS, SteadyClock
from tests.runs.tiny import ME, alone, at_step, curve, done, tiny, wait

DAY = 86_400.0
JUMPS = [DAY, -DAY, 30 * 365 * DAY, -30 * 365 * DAY]


@dataclass
class Machine:
    """Its two clocks: the one on its wall, and the one that only goes forward."""

    even: float = 1000.0
    jumped: float = 0.0

    def wall(self) -> float:
        return 1.8e9 + self.even + self.jumped


@pytest.fixture
def machine():
    return Machine()


@pytest.fixture
def clock(machine):
    return SteadyClock(machine.wall, lambda: machine.even)


@pytest.mark.parametrize("jump", JUMPS)
def test_a_jump_counts_once_it_has_lasted(machine, clock, jump):
    first = clock()
    machine.jumped = jump
    for passed in (0.0, LASTING_SECONDS / 2, LASTING_SECONDS - 1):
        machine.even = 1000.0 + passed
        assert clock() == pytest.approx(first + passed)
    machine.even = 1000.0 + LASTING_SECONDS
    clock()
    assert clock() == pytest.approx(machine.wall())


@pytest.mark.parametrize("jump", JUMPS)
def test_one_that_is_taken_back_never_was(machine, clock, jump):
    first = clock()
    for time_of_day in (jump, 0.0, jump):  # and again: it begins anew
        machine.even += 0.6 * LASTING_SECONDS
        machine.jumped = time_of_day
        clock()
    assert clock() == pytest.approx(first + machine.even - 1000.0)


def test_a_clock_that_is_put_right_a_little_is_right_at_once(machine, clock):
    clock()
    machine.jumped = JUMP_SECONDS / 2
    assert clock() == pytest.approx(machine.wall())


@pytest.fixture
def jump(monkeypatch):
    """jump(seconds): so far the machine's clock is set, for this whole process."""
    real = time.time
    monkeypatch.setattr(steady_clock, "_clock", SteadyClock(lambda: time.time()))
    return lambda seconds: monkeypatch.setattr(time, "time", lambda: real() + seconds)


@pytest.mark.fault("the clock set a day or thirty years forth or back while a room is open", "it stays open; codes can be tried no sooner")
@pytest.mark.parametrize("seconds", JUMPS)
def test_a_room_stays_open_as_long_as_it_was_to_be_and_codes_can_be_tried_no_sooner(tmp_path, jump, seconds):
    rooms = Rooms(tmp_path)
    code = rooms.open(ME, "en", time.time() + DAY / 2).code
    for _ in range(WRONG_CODES):
        with pytest.raises(Refusal, match="no room"):
            rooms.join("AAAAA", "a stranger", address="there")
    jump(seconds)
    rooms.tidy()
    assert rooms.join(code, "a student").code == code
    with pytest.raises(Refusal, match="too often"):
        rooms.join("AAAAA", "a stranger", address="there")


@pytest.mark.fault("the clock set thirty years forth or back while a run trains", "it trains on, and no run is deleted")
@pytest.mark.parametrize("seconds", JUMPS[2:])
def test_a_run_trains_on_and_none_is_deleted(runs, jump, seconds):
    old, run = done(runs.create(tiny(steps=1), ME)), at_step(runs.create(tiny(steps=60), ME), 1)
    looked = old.looked_at
    jump(seconds)
    runs._housekeeper.stop_idle()
    runs._housekeeper.retire()
    assert runs.mine(ME) == [run, old]
    assert run.seconds < 60
    done(run)
    runs.seen(old.id)
    assert looked <= old.looked_at < looked + 600, "or it would be the last to go, or the first"
    assert (run.status, curve(run)) == ("done", curve(alone(tiny(steps=60))[0]))
    wait(lambda: run.eta is None)

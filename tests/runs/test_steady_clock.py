"""The machine's clock is set a day or thirty years forth or back: nothing that lasts days ends for it, and nothing is deleted."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from playground.config import Refusal
from playground.rooms.registry import WRONG_CODES, Rooms
from playground.runs import steady_clock
from playground.runs.steady_clock import JUMP_SECONDS, LASTING_SECONDS, SteadyClock
from tests.runs.by_hand import at_rest, begun, ended
from tests.runs.tiny import ME, alone, curve, tiny

DAY = 86_400.0
JUMPS = [DAY, -DAY, 30 * 365 * DAY, -30 * 365 * DAY]


@dataclass
class Machine:
    """Its two clocks: the one on its wall, and the one that only goes forward."""

    even: float = 1000.0
    jumped: float = 0.0

    def __post_init__(self) -> None:
        self.clock = SteadyClock(lambda: 1.8e9 + self.even + self.jumped, lambda: self.even)


@pytest.mark.parametrize("jump", [*JUMPS, JUMP_SECONDS / 2])
def test_a_jump_counts_once_it_has_lasted_and_a_small_one_at_once(jump):
    machine = Machine()
    first = machine.clock()
    machine.jumped = jump
    for passed in (0.0, LASTING_SECONDS / 2, LASTING_SECONDS - 1):
        machine.even = 1000.0 + passed
        assert machine.clock() == pytest.approx(first + passed + (jump if jump == JUMP_SECONDS / 2 else 0))
    machine.even = 1000.0 + LASTING_SECONDS
    machine.clock()
    assert machine.clock() == pytest.approx(first + LASTING_SECONDS + jump)


@pytest.mark.parametrize("jump", JUMPS)
def test_one_that_is_taken_back_never_was(jump):
    machine = Machine()
    first = machine.clock()
    for jumped in (jump, 0.0, jump):  # and again: it begins anew
        machine.even += 0.6 * LASTING_SECONDS
        machine.jumped = jumped
        machine.clock()
    assert machine.clock() == pytest.approx(first + machine.even - 1000.0)


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
def test_a_run_trains_on_and_none_is_deleted(world, seconds):
    old, run = ended(world, steps=1), begun(world, steps=30)
    looked = old.looked_at
    world.clock.offset += seconds
    world.round()
    assert world.runs.mine(ME) == [run, old]
    at_rest(world, run)
    world.runs.seen(old.id)
    assert looked <= old.looked_at < looked + 600, "or it would be the last to go, or the first"
    assert (run.status, run.eta, curve(run)) == ("done", None, curve(alone(tiny())[0]))

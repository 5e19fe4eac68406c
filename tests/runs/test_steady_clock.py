"""The machine's clock is set a day or thirty years forth or back: nothing that lasts days ends for it, and nothing is deleted."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.rooms.registry import WRONG_CODES, Rooms
from playground.runs import steady_clock
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

"""How often pages ask for fresh pictures: visitors are counted, not what one client holds open."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from playground.ui.pace import EACH, HERE, LONGEST, SPARE, Pace

COST = SPARE * EACH / 1000  # of a picture, in seconds, at which each visitor more adds as much as the first


@pytest.fixture
def clock():
    return SimpleNamespace(now=0.0)


@pytest.fixture
def pace(clock):
    return Pace(lambda: clock.now)


def come(pace, address: str, visitors: int, cost: float = COST, times: int = 1) -> None:
    for _ in range(times):
        for number in range(visitors):
            pace.asked(address, f"visitor {number}", cost)


def test_a_lone_visitor_never_waits_however_dear_the_pictures_nor_for_who_has_left(clock, pace):
    assert pace.refresh_ms("home") == EACH
    come(pace, "home", 1, 10 * COST, times=50)
    assert pace.refresh_ms("home") == EACH
    for later, counted in ((HERE, 21), (HERE + 1, 1)):
        school = Pace(lambda: clock.now)
        come(school, "school", 20)
        clock.now += later
        school.asked("school", "teacher", COST)
        assert school.refresh_ms("school") == counted * EACH


@pytest.mark.fault("two hundred streams held open by one visitor", "the pages of others ask for pictures as often as before")
@pytest.mark.parametrize("streams", [1, 200])
def test_what_one_visitor_holds_open_slows_down_nobody(pace, streams):
    pace.streams = streams
    come(pace, "cellar", 1, times=streams)
    come(pace, "home", 1)
    assert pace.refresh_ms("home") == 2 * EACH


def test_a_class_shares_what_the_server_can_spare_and_a_crowd_at_one_address_waits_longest_itself(pace, clock):
    """Two hundred tokens are as quickly made up as one."""
    come(pace, "school", 30)
    assert pace.refresh_ms("school") == 30 * EACH
    clock.now = HERE + 1
    for student in range(30):
        come(pace, f"home {student}", 1)
    assert {pace.refresh_ms(f"home {student}") for student in range(30)} == {30 * EACH}
    clock.now = 2 * HERE + 2
    for address, visitors in (("home", 1), ("school", 20), ("cellar", 200)):
        come(pace, address, visitors)
    assert [pace.refresh_ms(address) for address in ("home", "school", "cellar")] == [3 * EACH, 60 * EACH, LONGEST]


@pytest.mark.parametrize("cost", [COST / 10, 2 * COST])
def test_a_class_waits_as_long_as_its_pictures_cost_of_late(pace, cost):
    come(pace, "school", 30, cost, times=5)
    assert pace.refresh_ms("school") == pytest.approx(min(LONGEST, EACH + 29 * 1000 * cost / SPARE), rel=0.01)
    assert 30 * cost / (pace.refresh_ms("school") / 1000) < 1.05 * SPARE, "all of them together take what is spared"
    before = pace.refresh_ms("school")
    pace.asked("school", "visitor 1", 5 * cost)
    assert pace.refresh_ms("school") < 1.5 * before, "one dear picture does not slow down a class"


def test_all_streams_look_at_one_moment_ten_times_a_second_or_twice(pace, clock):
    """So that what they tell is written once, whenever they began."""
    for pace.streams, look in ((1, 0.1), (10, 0.2), (300, 0.5)):
        for clock.now in (60.01, 60.02, 60.09):
            assert (pace.look, clock.now + pace.until_look) == pytest.approx((look, 60 + look))

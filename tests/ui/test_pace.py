"""How often pages ask for fresh pictures: who is there is counted, not what one client holds open."""

from __future__ import annotations

import pytest

from playground.ui.pace import EACH, HERE, LONGEST, SPARE, Pace

COST = SPARE * EACH / 1000  # of a picture, in seconds, at which each visitor more adds as much as the first


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def pace(clock):
    return Pace(clock)


def test_a_lone_visitor_sees_almost_every_picture(pace):
    assert pace.refresh_ms("home") == EACH
    pace.asked("home", "ada", COST)
    assert pace.refresh_ms("home") == EACH


@pytest.mark.parametrize("streams", [1, 15, 30])
def test_streams_that_began_at_different_moments_look_at_the_same(pace, clock, streams):
    """So that what they tell is written once."""
    pace.streams, moments = streams, []
    for clock.now in (60.01, 60.02, 60.09):
        assert 0 < pace.until_look <= pace.look
        moments.append(clock.now + pace.until_look)
    assert moments == pytest.approx(moments[:1] * 3)


@pytest.mark.fault("two hundred streams held open by one visitor", "the pages of others ask for pictures as often as before")
@pytest.mark.parametrize("streams", [1, 200])
def test_what_one_visitor_holds_open_slows_down_nobody(pace, streams):
    pace.streams = streams
    for _ in range(streams):
        pace.asked("cellar", "mallory", COST)
    pace.asked("home", "ada", COST)
    assert pace.refresh_ms("home") == 2 * EACH


def test_a_class_shares_what_the_server_can_spare(pace):
    for student in range(30):
        pace.asked("school", f"student {student}", COST)
    assert pace.refresh_ms("school") == 30 * EACH


def test_thirty_at_thirty_addresses_share_alike(pace):
    for student in range(30):
        pace.asked(f"home {student}", "student", COST)
    assert {pace.refresh_ms(f"home {student}") for student in range(30)} == {30 * EACH}


def test_a_crowd_at_one_address_waits_longest_itself(pace):
    """Two hundred tokens are as quickly made up as one."""
    pace.asked("home", "ada", COST)
    for student in range(20):
        pace.asked("school", f"student {student}", COST)
    for token in range(200):
        pace.asked("cellar", f"token {token}", COST)
    assert pace.refresh_ms("home") == 3 * EACH
    assert pace.refresh_ms("school") == 60 * EACH
    assert pace.refresh_ms("cellar") == LONGEST


def test_who_has_left_does_not_count(pace, clock):
    for student in range(20):
        pace.asked("school", f"student {student}", COST)
    clock.now = HERE + 1
    pace.asked("school", "teacher", COST)
    assert pace.refresh_ms("school") == EACH
    assert HERE > LONGEST / 1000, "who waits for the next picture is still there"


@pytest.mark.parametrize("cost", [COST / 10, 2 * COST])
def test_a_class_waits_as_long_as_its_pictures_cost(pace, cost):
    for _ in range(5):
        for student in range(30):
            pace.asked("school", f"student {student}", cost)
    assert pace.refresh_ms("school") == pytest.approx(min(LONGEST, EACH + 29 * 1000 * cost / SPARE), rel=0.01)
    assert 30 * cost / (pace.refresh_ms("school") / 1000) < 1.05 * SPARE, "all of them together take what is spared"


def test_a_lone_visitor_waits_for_nobody_however_dear_the_pictures(pace):
    for _ in range(50):
        pace.asked("home", "ada", 10 * COST)
    assert pace.refresh_ms("home") == EACH


def test_one_dear_picture_does_not_slow_down_a_class(pace):
    for student in range(30):
        pace.asked("school", f"student {student}", COST)
    pace.asked("school", "student 1", 5 * COST)
    assert pace.refresh_ms("school") < 1.5 * 30 * EACH

"""The time that is left, with a clock of the test's own."""

import pytest

from playground.runs.pace import Pace


def test_an_even_pace_leaves_no_doubt():
    pace = Pace(100.0, 0)
    for second in range(1, 5):
        pace.note(100.0 + second, 10 * second)
    assert pace.left(60) == pytest.approx((6.0, 6.0))


def test_an_uneven_pace_is_a_range_around_the_mean():
    pace = Pace(0.0, 0)
    for now, step in ((1.0, 10), (3.0, 20), (4.0, 30), (6.0, 40)):  # 0.1 and 0.2 s a step, in turn
        pace.note(now, step)
    low, high = pace.left(100)
    assert (low + high) / 2 == pytest.approx(15.0)
    assert 9 < low < 10
    assert 20 < high < 21


def test_nothing_is_said_before_two_stretches_and_one_without_a_step_goes_on():
    pace = Pace(0.0, 5)
    pace.note(1.0, 5)
    pace.note(2.0, 15)
    assert pace.left(10) is None
    pace.note(4.0, 25)
    assert pace.left(10) == pytest.approx((2.0, 2.0))


def test_what_was_long_ago_is_forgotten_and_no_time_is_below_nothing():
    pace = Pace(0.0, 0)
    pace.note(1000.0, 1)
    pace.note(1000.1, 2)
    assert pace.left(10)[0] == 0.0
    for step in range(3, 30):
        pace.note(1000.1 + step, step)
    assert pace.left(10) == pytest.approx((10.0, 10.0))

"""Curves of several runs, by step and by seconds; their means with intervals, against numbers known from elsewhere."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from playground.config import Refusal
from playground.features.board.class_board import T_95, compare_pairs, pool_values
from playground.features.shared.queries.learning_curves import LearningCurve, band, common_end, learning_curve, seconds_at
from playground.runs.history import History


def made(speeds: list[float], seconds: float, first: int = 1, first_step: int = 0) -> SimpleNamespace:
    history = History()
    for step, speed in enumerate(speeds, first):
        history.steps.append(step, 1.0, 0.1, 1.0, speed)
    return SimpleNamespace(history=history, seconds=seconds, first_step=first_step)


@pytest.mark.parametrize(("speeds", "seconds", "first", "steps", "expected"), [
    ([100, 100, 50, 50], 6, 0, [0, 1, 2, 3, 4], [0, 1, 2, 4, 6]),  # half of the steps at half the speed: two thirds of the time
    ([100, math.nan, 100], 3, 0, [1, 2, 3], [1, 2, 3]),  # what is not known counts as the mean
    ([math.nan], 3, 0, [1], [3]),
    ([10] * 4, 4, 2, [0, 2, 4], [0, 4, 8]),  # a fork's parent took as long for as many
    ([10] * 2, 0, 2, [1, 2], [0, 0]),  # it has not begun
])  # fmt: skip
def test_seconds_are_the_runs_own_shared_by_speed(speeds, seconds, first, steps, expected):
    assert seconds_at(made(speeds, seconds, first_step=first), steps) == pytest.approx(expected)


def test_a_curve_is_what_the_history_says_and_empty_where_it_cannot_be_read():
    class Damaged:
        @property
        def history(self):
            raise Refusal("runs.not_a_run", what="history.json")

    run = made([10] * 4, seconds=8)
    run.history.validations.append(2, 1.5, 0.5, 0.25, 10, 20)
    run.history.validations.append(4, 0.5, 0.75, 0.5, 20, 20)
    curve = learning_curve(run, tokens_per_step=30)
    assert curve == LearningCurve([2, 4], [4, 8], [60, 120], [0.25, 0.5], [1.5, 0.5], [True, False])
    assert (curve.at("seconds"), curve.at("tokens")) == ([4, 8], [60, 120])
    assert learning_curve(Damaged()) == LearningCurve([], [], [], [], [], [])


def test_runs_are_compared_where_the_shortest_has_come_to_and_a_band_is_the_mean_and_the_ends():
    short = LearningCurve([10, 20], [3, 4], [300, 600], [0.3, 0.6], [2, 1], [False] * 2)
    long = LearningCurve([15, 20, 30], [1, 2, 6], [450, 600, 900], [0.1, 0.2, 0.9], [3, 2, 1], [False] * 3)
    assert common_end([short, long], "steps") == 20
    assert [curve.newest("steps", 19) for curve in (short, long)] == [0, 0]
    assert common_end([short, long], "seconds") == 4
    assert short.newest("seconds", 2) is None  # its first is later than that
    assert common_end([short, LearningCurve([], [], [], [], [], [])], "steps") is None
    alike = LearningCurve([10, 20, 30], [1, 2, 6], [300, 600, 900], [0.1, 0.2, 0.9], [3, 2, 1], [False] * 3)
    result = band([alike, short], "exact_match", "seconds")  # where all have been measured
    assert result.places == [2, 3]
    assert result.mean == pytest.approx([0.2, 0.4])
    assert (result.low, result.high) == ([0.1, 0.2], [0.3, 0.6])


def test_the_interval_is_that_of_the_textbook():
    """Five values with the mean 3 and the standard deviation √2.5: 3 ± 2.776 · √(2.5 / 5)."""
    result = pool_values([1, 2, 3, 4, 5])
    assert (result.count, result.mean) == (5, 3)
    assert (result.low, result.high) == pytest.approx((3 - 1.963, 3 + 1.963), abs=1e-3)
    assert (pool_values([0.5])[2:], pool_values([])) == ((None, None), None)
    assert pool_values([0.0, 1.0], (0.0, 1.0))[1:] == (0.5, 0.0, 1.0), "a share stays a share"
    assert (compare_pairs([3, 1], [2, 1, 0]), compare_pairs([], [1])) == ((6, 4, 1), (0, 0, 0)), "every value meets every other"
    angles = np.linspace(0, np.pi / 2, 100_001)
    for freedom, t in enumerate(T_95, 1):  # with t = √n·tan θ Student's density is cos θ to the power of n − 1, up to a factor
        area = np.cumsum(np.cos(angles) ** (freedom - 1))
        assert area[np.searchsorted(angles, np.arctan(t / np.sqrt(freedom)))] / area[-1] == pytest.approx(0.95, abs=2e-4)

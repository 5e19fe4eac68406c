"""Means, their intervals and pairs, against numbers known from elsewhere."""

import pytest

from playground.queries.pooled import pairs, pooled


def test_the_interval_is_that_of_the_textbook():
    """Five values with the mean 3 and the standard deviation √2.5: 3 ± 2.776 · √(2.5 / 5)."""
    result = pooled([1, 2, 3, 4, 5])
    assert (result.count, result.mean) == (5, 3)
    assert (result.low, result.high) == pytest.approx((3 - 1.963, 3 + 1.963), abs=1e-3)


def test_one_value_has_no_interval_and_none_no_mean():
    assert pooled([0.5])[2:] == (None, None)
    assert pooled([]) is None


def test_a_share_stays_a_share():
    result = pooled([0.0, 1.0], (0.0, 1.0))
    assert (result.mean, result.low, result.high) == (0.5, 0.0, 1.0)


def test_every_value_meets_every_other():
    assert pairs([3, 1], [2, 1, 0]) == (6, 4, 1)
    assert pairs([], [1]) == (0, 0, 0)

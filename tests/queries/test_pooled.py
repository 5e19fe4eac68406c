"""Means, their intervals and pairs, against numbers known from elsewhere."""

import pytest

from playground.queries.pooled import pairs, pooled


def test_the_interval_is_that_of_the_textbook():
    """Five values with the mean 3 and the standard deviation √2.5: 3 ± 2.776 · √(2.5 / 5)."""
    result = pooled([1, 2, 3, 4, 5])
    assert (result.count, result.mean) == (5, 3)
    assert (result.low, result.high) == pytest.approx((3 - 1.963, 3 + 1.963), abs=1e-3)
    assert pooled([0.5])[2:] == (None, None)
    assert pooled([]) is None
    assert pooled([0.0, 1.0], (0.0, 1.0))[1:] == (0.5, 0.0, 1.0), "a share stays a share"
    assert (pairs([3, 1], [2, 1, 0]), pairs([], [1])) == ((6, 4, 1), (0, 0, 0)), "every value meets every other"

"""Means, their intervals and pairs, against numbers known from elsewhere."""

import numpy as np
import pytest

from playground.queries.pooled import T_95, pairs, pooled


def test_the_interval_is_that_of_the_textbook():
    """Five values with the mean 3 and the standard deviation √2.5: 3 ± 2.776 · √(2.5 / 5)."""
    result = pooled([1, 2, 3, 4, 5])
    assert (result.count, result.mean) == (5, 3)
    assert (result.low, result.high) == pytest.approx((3 - 1.963, 3 + 1.963), abs=1e-3)
    assert pooled([0.5])[2:] == (None, None)
    assert pooled([]) is None
    assert pooled([0.0, 1.0], (0.0, 1.0))[1:] == (0.5, 0.0, 1.0), "a share stays a share"
    assert (pairs([3, 1], [2, 1, 0]), pairs([], [1])) == ((6, 4, 1), (0, 0, 0)), "every value meets every other"


@pytest.mark.parametrize("freedom", range(1, len(T_95) + 1))
def test_between_the_bounds_of_students_t_lie_95_percent(freedom):
    """With t = √n·tan θ its density is cos θ to the power of n − 1, up to a factor."""
    angles = np.linspace(0, np.pi / 2, 100_001)
    area = np.cumsum(np.cos(angles) ** (freedom - 1))
    share = area[np.searchsorted(angles, np.arctan(T_95[freedom - 1] / np.sqrt(freedom)))] / area[-1]
    assert share == pytest.approx(0.95, abs=2e-4)

"""Statistics over the runs of an arm: the mean with its confidence interval, and how often one arm is above another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# Student's t: 95 % of the distribution lie between -t and t, with 1, 2, … degrees of freedom, to four digits.
T_95 = (
    12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093,
    2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
T_MORE = 2.042  # with more degrees of freedom: that of 30, which makes an interval at most a twentieth too wide


class Pooled(NamedTuple):
    """A mean with its interval; `low` and `high` are None with fewer than two values."""

    count: int
    mean: float
    low: float | None
    high: float | None


class Pairs(NamedTuple):
    """Counts over `all` pairs of a value of the first arm and one of the second: the first is above, or both are the same."""

    all: int
    above: int
    same: int


def pool_values(values: Sequence[float], bounds: tuple[float, float] | None = None) -> Pooled | None:
    """Averages independent values, with a 95 % t interval, cut at `bounds`; None without values."""
    if not len(values):
        return None
    mean = float(np.mean(values))
    if len(values) == 1:
        return Pooled(1, mean, None, None)
    t = T_95[len(values) - 2] if len(values) - 2 < len(T_95) else T_MORE
    reach = t * float(np.std(values, ddof=1)) / len(values) ** 0.5
    low, high = mean - reach, mean + reach
    if bounds:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return Pooled(len(values), mean, low, high)


def compare_pairs(first: Sequence[float], second: Sequence[float]) -> Pairs:
    """Compares every value of `first` with every value of `second`."""
    difference = np.subtract.outer(np.asarray(first, dtype=float), np.asarray(second, dtype=float))
    return Pairs(difference.size, int((difference > 0).sum()), int((difference == 0).sum()))

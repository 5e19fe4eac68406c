"""A fact: a sentence's key and the computed values that fill it in."""

from __future__ import annotations

import math
from typing import NamedTuple


class Fact(NamedTuple):
    """A sentence's `key` in words/, with `values` for its {placeholders}. For sentences about one head the caller adds {layer} and
    {head}."""

    key: str
    values: dict[str, object]


def percent(share: float) -> int:
    """Rounds a share of 0 to 1 half up to a whole percentage; 0 and 100 are exact only."""
    if share <= 0 or share >= 1:
        return 100 if share >= 1 else 0
    return min(max(math.floor(100 * share + 0.5), 1), 99)


def short(value: float, digits: int = 2) -> str:
    """Formats a number with `digits` significant digits: 0.031, 2e-16, 12."""
    return f"{value:.{digits}g}"

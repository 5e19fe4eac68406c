"""A fact: a sentence's key and the computed values that fill it in."""

from __future__ import annotations

import math
from typing import NamedTuple


class Fact(NamedTuple):
    """`key` names a sentence in words/, `values` are its {placeholders}. Sentences about one head also take {layer} and {head}, which the
    caller knows."""

    key: str
    values: dict[str, object]


def percent(share: float) -> int:
    """A share of 0 to 1 as a whole percentage, rounded half up, that says 0 or 100 only where that is exactly true."""
    if share <= 0 or share >= 1:
        return 100 if share >= 1 else 0
    return min(max(math.floor(100 * share + 0.5), 1), 99)


def short(value: float, digits: int = 2) -> str:
    """A number with `digits` significant digits: 0.031, 2e-16, 12."""
    return f"{value:.{digits}g}"

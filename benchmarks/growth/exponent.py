"""Exponents: how a cost grows with what it depends on."""

from __future__ import annotations

import math
from collections.abc import Sequence


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float | None:
    """The slope of the line that fits log(cost) over log(size) best: 0 is no growth, 1 in proportion, 2 with the square. None when fewer
    than two sizes differ, or a cost is none above 0."""
    if len(set(sizes)) < 2 or min(costs) <= 0:
        return None
    x, y = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
    products = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
    return products / sum((a - middle_x) ** 2 for a in x)


def slopes(sizes: Sequence[float], costs: Sequence[float]) -> dict[str, float | None]:
    """{"all": over all sizes, "end": from the last but one to the last, where what is constant weighs least}."""
    return {"all": exponent(sizes, costs), "end": exponent(sizes[-2:], costs[-2:])}


def shown_slopes(found: dict[str, float | None]) -> str:
    return ", ".join(f"{'–' if found[name] is None else f'{found[name]:.2f}'} {said}" for name, said in SAID.items())


SAID = {"all": "over all", "end": "at the end"}

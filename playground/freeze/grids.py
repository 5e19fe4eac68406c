"""Axes and grids: which combinations of a panel's fields are asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from playground.cursor import FIELDS

# Fields that only pin something in a picture: where nothing is known of the pin, the picture stays as it is.
PINS = ("q", "k", "row", "col", "window", "token")


@dataclass(frozen=True)
class Axis:
    """Fields that change together, and the values that they take."""

    fields: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]


Grid = list[Axis]  # every combination is asked; there is a file for each value of the first axis


def axis(field: str, values: Sequence[str]) -> Axis:
    return Axis((field,), tuple((value,) for value in values))


def size(grid: Grid) -> int:
    """How many answers it has."""
    return prod(len(one.values) for one in grid)


def outside(grid: Grid, used: set[str]) -> tuple[list[str], list[str]]:
    """The fields that a panel reads and that are no axis: (those that need a server when somebody changes one, those that only pin)."""
    known = {field for one in grid for field in one.fields}
    found = sorted(field for field in used if field in FIELDS and field not in known)
    return [field for field in found if field not in PINS], [field for field in found if field in PINS]

"""Axes and grids: the combinations of a panel's fields that are precomputed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from playground.cursor import FIELDS

# Fields that only pin something in a figure: without an answer for the pin, the figure stays as it is.
PINS = ("q", "k", "row", "col", "window", "token")


@dataclass(frozen=True)
class Axis:
    """Fields that change together, and their values."""

    fields: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]


Grid = list[Axis]  # every combination is precomputed; one file per value of the first axis


def axis(field: str, values: Sequence[str]) -> Axis:
    return Axis((field,), tuple((value,) for value in values))


def size(grid: Grid) -> int:
    """Returns the number of answers."""
    return prod(len(each.values) for each in grid)


def find_unset_fields(grid: Grid, used: set[str]) -> tuple[list[str], list[str]]:
    """Returns the fields that a panel reads beside the axes: (those that need a server when changed, those that only pin)."""
    known = {field for each in grid for field in each.fields}
    fields = sorted(field for field in used if field in FIELDS and field not in known)
    return [field for field in fields if field not in PINS], [field for field in fields if field in PINS]

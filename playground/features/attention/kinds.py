"""Blocks of the Attention tab: all heads at once, and one head as lines."""

from __future__ import annotations

from typing import TypedDict

from playground.features.shared.blocks.general import Saved
from playground.features.shared.blocks.kind import Hue, MapColours, Miniature, kind


class SmallHead(TypedDict):
    label: str  # layer and head, and its name
    said: str  # its effect in this sentence
    mini: Miniature


class HeadGrid(TypedDict):
    """Every head of one kind of attention: [layer][head]. `chosen` counts from 0."""

    part: Hue
    label: str
    chosen: list[int] | None
    heads: list[list[SmallHead]]


@kind
def modelview(
    id: str,
    title: str,
    caption: str,
    hint: str,
    grids: list[HeadGrid],
    colours: MapColours,
    words: dict[str, str],
    saved: Saved,
):
    """All heads of a model at once, layers down and heads across, on one scale. `hint` gives way to the sentence of the head that is
    pointed at. `saved` as of a figure."""


class LineColours(TypedDict):
    hue: str
    guide: str


class LineNames(TypedDict):
    rows: list[str]
    columns: list[str]


@kind
def lines(
    id: str,
    title: str,
    caption: str,
    part: Hue,
    rows: list[str],
    columns: list[str],
    weights: list[list[float]],
    mask: list[list[int]],
    alignment: list[int | None] | None,
    row: int | None,
    column: int | None,
    width: int,
    colours: LineColours,
    words: dict[str, str],
    short: LineNames,
    saved: Saved,
    hint: str = "",
):
    """One head as lines from query tokens (`rows`) to key tokens (`columns`), a line for each weight. `short`: labels for little room.
    `alignment`: the right column of each row; `row` and `column` are pinned. `saved` and `hint` as of a figure."""

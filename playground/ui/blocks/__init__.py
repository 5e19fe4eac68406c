"""The parts of panels. Every kind of block is declared here once. Read in this order:

kind · general · attention · drawing · comparison · lessons.

Panels call `blocks.<kind>(id, …)`. A script registers how each is drawn (see static/kinds.js); `npm run types` tells the
scripts' type checker their fields.
"""

from __future__ import annotations

import inspect
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

from playground.cursor import FIELDS
from playground.ui.blocks import general
from playground.ui.blocks.attention import cells, compare, heads, lanes, lines, modelview, switches
from playground.ui.blocks.comparison import (
    BoardRow,
    DisagreeingRow,
    LineKey,
    OutputRow,
    RunColumn,
    RunGroup,
    RunRow,
    board,
    disagreements,
    outputs,
    runs,
)
from playground.ui.blocks.drawing import FoldLine, Join, TilesLine, TokensLine, map, pick, sheet, worksheet
from playground.ui.blocks.general import (
    TokenLine,
    button,
    choice,
    downloads,
    field,
    figure,
    later,
    many,
    numbers,
    outcome,
    probes,
    progress,
    table,
    text,
)
from playground.ui.blocks.kind import KINDS, Block, Option, Value
from playground.ui.blocks.lessons import (
    Way,
    answers,
    calibration,
    cards,
    check,
    forget,
    lessons,
    notes,
    points,
    question,
    record,
    steps,
    tour,
)

__all__ = [
    "KINDS", "Block", "BoardRow", "DisagreeingRow", "FoldLine", "Join", "LineKey", "OutputRow", "RunColumn", "RunGroup", "RunRow",
    "TilesLine", "TokensLine", "Value", "Way", "answers", "board", "button", "calibration", "cards", "cells", "check", "chips", "choice",
    "code", "column", "compare", "disagreements", "downloads", "field", "figure", "forget", "heads", "lanes", "later", "lessons", "lines",
    "live", "many", "map", "modelview", "notes", "numbers", "outcome", "outputs", "pick", "points", "probes", "progress", "question",
    "record", "row", "runs", "sheet", "slider", "steps", "switches", "table", "text", "tour", "worksheet",
]  # fmt: skip

ROOT = Path(__file__).parents[3]


def row(id: str, *blocks: Block | None, css: str = "") -> Block:
    """A row of blocks, without absent ones."""
    return general.row(id, [block for block in blocks if block], css)


def column(id: str, *blocks: Block | None) -> Block:
    """The same as a column."""
    return row(id, *blocks, css="column")


def chips(id: str, *lines: TokenLine, pick: str = "", ids: bool = False) -> Block:
    """Lines of tokens, on request with their `ids` below."""
    return general.chips(id, list(lines), pick, "with-ids" if ids else "")


def slider(
    id: str, field: str, label: str, value: float, most: float | None = None, step: float | None = None, first: int = 0
) -> Block:
    """A number of a cursor field, within its declared bounds; `most` lowers the maximum, `step` overrides the step."""
    declared = FIELDS[field]
    return general.slider(id, field, label, declared.low, declared.high if most is None else most, step or declared.step, value, first)


def live(id: str, knob: str, label: str, options: list[Option], value: str, off: bool) -> Block:
    """A choice of a live knob's value, for the run on screen; `off` for visitors who can't change it."""
    return choice(id, "", label, options, value, knob=knob, off=off)


def code(id: str, definition: Any, lit: tuple[int, ...] = ()) -> Block:
    """The source of the function or class that made the picture beside it."""
    return general.code(id, *_source(inspect.unwrap(definition)), list(lit))


@cache
def _source(definition: Any) -> tuple[str, str, str]:
    """Returns (name, source, place), cached: slow to find, and constant for the process."""
    lines, first = inspect.getsourcelines(definition)
    path = Path(inspect.getsourcefile(definition) or "").resolve().relative_to(ROOT)
    return definition.__qualname__, textwrap.dedent("".join(lines)), f"{path}:{first}"

"""What a panel is made of. Every kind of block is declared here once. Read in this order:

kind · general · attention · drawing · comparison · lessons.

Panels call `blocks.<kind>(id, …)`. static/kinds.js draws each, and static/blocks.d.ts tells the scripts' type checker their fields.
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
    """A row of those that are there."""
    return general.row(id, [block for block in blocks if block], css)


def column(id: str, *blocks: Block | None) -> Block:
    """The same from top to bottom."""
    return row(id, *blocks, css="column")


def chips(id: str, *lines: TokenLine, pick: str = "", ids: bool = False) -> Block:
    """Lines of tokens, with their `ids` under them where that is wanted."""
    return general.chips(id, list(lines), pick, "with-ids" if ids else "")


def slider(
    id: str, field: str, label: str, value: float, most: float | None = None, step: float | None = None, first: int = 0
) -> Block:
    """A number of a cursor field between the bounds of its declaration; `most` where there is less here, `step` where one is longer."""
    declared = FIELDS[field]
    return general.slider(id, field, label, declared.low, declared.high if most is None else most, step or declared.step, value, first)


def live(id: str, knob: str, label: str, options: list[Option], value: str, off: bool) -> Block:
    """A choice of one of the values of a live knob, for the run on screen; `off` when whoever looks can't change it."""
    return choice(id, "", label, options, value, knob=knob, off=off)


def code(id: str, thing: Any, lit: tuple[int, ...] = ()) -> Block:
    """The source of the very function or class that made the picture beside it."""
    return general.code(id, *_source(inspect.unwrap(thing)), list(lit))


@cache
def _source(thing: Any) -> tuple[str, str, str]:
    """(name, source, place): the same as long as the process lives, and slow to find."""
    lines, first = inspect.getsourcelines(thing)
    path = Path(inspect.getsourcefile(thing) or "").resolve().relative_to(ROOT)
    return thing.__qualname__, textwrap.dedent("".join(lines)), f"{path}:{first}"

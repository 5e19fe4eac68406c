"""The parts of panels that several tabs use: `kind` declares a kind of block, `general` has these. A kind of one tab is declared in its
feature's `__init__.py`.

Panels call `blocks.<kind>(id, …)`. A script registers how each is drawn (see ui/static/render.js);
`npm run types` tells the scripts' type checker their fields.
"""

import inspect
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

from playground.cursor import FIELDS
from playground.features.shared.blocks import general
from playground.features.shared.blocks.general import (
    TokenLine,
    button,
    calibration,
    choice,
    compare,
    downloads,
    field,
    figure,
    heads,
    later,
    lines,
    many,
    progress,
    question,
    record,
    sheet,
    table,
    text,
)
from playground.features.shared.blocks.kind import KINDS, Block, LineKey, Option, Value

__all__ = [
    "KINDS", "Block", "LineKey", "Value", "button", "calibration", "chips", "choice", "code", "column", "compare", "downloads", "field",
    "figure", "heads", "later", "lines", "live", "many", "progress", "question", "record", "row", "sheet", "slider", "table", "text",
]  # fmt: skip

ROOT = Path(__file__).parents[4]


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

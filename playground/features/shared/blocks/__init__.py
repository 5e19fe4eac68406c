"""The parts of panels. `kind` declares a kind of block; here are those that several tabs use, to read, to arrange and to choose, and those
that the live stream fills. A kind of one tab is declared in its feature.

Panels call `blocks.<kind>(id, …)`. A script registers how each is drawn (see ui/static/render.js);
`npm run types` tells the scripts' type checker their fields.
"""

import inspect
import textwrap
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypedDict

from playground.cursor import FIELDS
from playground.features.shared.blocks.kind import KINDS, Block, Hue, LineKey, Option, Shades, Token, Value, kind

__all__ = ["KINDS", "LineKey", "Value"]  # besides the kinds below

ROOT = Path(__file__).parents[4]

# ---- to read ----


@kind
def text(id: str, text: str, css: str = ""):
    """A paragraph. Terms of the glossary are explained in it unless `css` marks a heading, a formula or an error."""


@kind
def table(
    id: str, head: list[str], rows: list[list[str | float]], title: str = "", rowheads: bool = False, folded: bool = False,
    tokens: bool = False,
):  # fmt: skip
    """`rowheads`: the first cell of a row names it; `folded`: only the title shows until it is opened; `tokens`: its cells are tokens or
    sentences."""


class Plotly(TypedDict):
    data: list[dict[str, Any]]
    layout: dict[str, Any]


class Saved(TypedDict):
    """A figure's file name; its run and step; the query of the route `attention` with all weights of its kind, if there is a server."""

    file: str
    run: str
    step: int
    arrays: dict[str, str] | None


@kind
def figure(
    id: str,
    figure: Plotly,
    caption: str = "",
    title: str = "",
    live: bool = False,
    css: str = "",
    saved: Saved | None = None,
    hint: str = "",
):
    """A Plotly figure with a caption computed from its data. `live`: the page fills its traces from the run's history. `saved`: labels its
    file, unless its id and the run and step on screen do. `hint`: its interactions, shown after the caption and not in a file."""


class Line(TypedDict):
    label: str
    tokens: list[Token]
    side: str  # of the sentence: "src", "fed" or "tgt", whose tokens light up when a cell is pointed at; else ""


class TokenLine(Line, total=False):
    role: Literal["query", "key"]  # if the line is only one of them


@kind
def _chips(id: str, lines: list[TokenLine], pick: str = "", css: str = ""):
    """Lines of tokens. `pick`: the side on which a click chooses a token."""


def chips(id: str, *lines: TokenLine, pick: str = "", ids: bool = False) -> Block:
    """Lines of tokens, on request with their `ids` below."""
    return _chips(id, list(lines), pick, "with-ids" if ids else "")


@kind
def _code(id: str, name: str, source: str, place: str, lit: list[int]):
    """The source of a function or class, with its place in the project; the lines `lit`, counted from 1, are highlighted."""


def code(id: str, definition: Any, lit: tuple[int, ...] = ()) -> Block:
    """The source of the function or class that made the picture beside it."""
    return _code(id, *_source(inspect.unwrap(definition)), list(lit))


@cache
def _source(definition: Any) -> tuple[str, str, str]:
    """Returns (name, source, place), cached: slow to find, and constant for the process."""
    lines, first = inspect.getsourcelines(definition)
    path = Path(inspect.getsourcefile(definition) or "").resolve().relative_to(ROOT)
    return definition.__qualname__, textwrap.dedent("".join(lines)), f"{path}:{first}"


# ---- to arrange ----


@kind
def _row(id: str, blocks: list[Block], css: str = ""):
    """Blocks side by side; stacked on a narrow screen, or always with the `css` "column"."""


def row(id: str, *blocks: Block | None, css: str = "") -> Block:
    """A row of blocks, without absent ones."""
    return _row(id, [block for block in blocks if block], css)


def column(id: str, *blocks: Block | None) -> Block:
    """The same as a column."""
    return row(id, *blocks, css="column")


@kind
def later(id: str, panel: str, label: str, key: str, tall: int = 0):
    """The blocks of another panel, loaded after the rest because they take longer; `label` is their placeholder. They are reloaded when
    `key`, which names all their inputs, changes. `tall`: the pixels reserved for them."""


@kind
def progress(id: str, done: int, all: int, label: str):
    """The progress of a longer computation. An unfinished panel contains "more", and is reloaded as long as it is visible."""


# ---- to choose ----


@kind
def choice(
    id: str,
    field: str,
    label: str,
    options: list[Option],
    value: str,
    resets: dict[str, str | int] | None = None,
    knob: str = "",
    off: bool = False,
    tokens: bool = False,
):
    """One of a few values of a cursor field, which also `resets` others; or of a live `knob` of the run on screen. `off`: disabled;
    `tokens`: its labels are tokens, except the one whose value is empty."""


def live(id: str, knob: str, label: str, options: list[Option], value: str, off: bool) -> Block:
    """A choice of a live knob's value, for the run on screen; `off` for visitors who can't change it."""
    return choice(id, "", label, options, value, knob=knob, off=off)


@kind
def many(id: str, field: str, label: str, options: list[Option], value: list[str]):
    """Any number of values of a cursor field."""


@kind
def _slider(id: str, field: str, label: str, low: float, high: float, step: float, value: float, first: int = 0):
    """A number of a cursor field. `first` is added to the shown number: 1 if people count from one and the cursor from zero."""


def slider(
    id: str, field: str, label: str, value: float, most: float | None = None, step: float | None = None, first: int = 0
) -> Block:
    """A number of a cursor field, within its declared bounds; `most` lowers the maximum, `step` overrides the step."""
    declared = FIELDS[field]
    return _slider(id, field, label, declared.low, declared.high if most is None else most, step or declared.step, value, first)


@kind
def field(id: str, field: str, label: str, value: str, hint: str = ""):
    """A line of text of a cursor field; `hint` is its placeholder."""


Act = Literal["draw", "knob", "command", "room", "move", "play", "take", "tune", "set", "read"]


@kind
def button(
    id: str,
    act: Act,
    label: str,
    knob: str = "",
    command: str = "",
    values: dict[str, Any] | None = None,
    to: dict[str, str | int] | None = None,
):
    """Draws another sample, points at a `knob`, sends a `command` with `values` to the server or to the `room` of a class, moves the cursor
    `to` somewhere, plays the replay from its beginning, opens the run's download, trains the run on
    with other data, sets the knobs of `values`, or reads own sentences as
    `values` say."""


class FileLink(TypedDict):
    label: str
    query: dict[str, str]


@kind
def downloads(id: str, label: str, path: str, files: list[FileLink]):
    """Downloads from one of our routes."""


# ---- in several tabs ----


@kind
def heads(
    id: str,
    label: str,
    layer: int | None,
    head: int | None,
    weights: list[list[list[list[float]]]],
    mask: list[list[int]],
    colours: Shades,
    names: list[list[list[str]]] | None = None,
    tall: int = 0,
):
    """Every head small, drawn anew as its weights change: `weights` are (L, H, Q, K), `mask` is (Q, K) with 0 for masked cells; the chosen
    `layer` and `head` count from 0, and are None while no head is. `names`: each head's name and the number that supports it, by layer.
    `tall`: the height in pixels that they fill together; 0: they are small."""


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
    tall: int = 0,
):
    """One head as lines from query tokens (`rows`) to key tokens (`columns`), a line for each weight. `short`: labels for little room.
    `alignment`: the right column of each row; `row` and `column` are pinned. `saved` and `hint` as of a figure. `tall`: the height in
    pixels that it fills; 0: the height follows from the width."""


class Answer(TypedDict):
    name: Literal["before", "after", "reference"]
    label: str
    tokens: list[Token]
    verdict: str
    right: bool | None


class ComparedLine(Answer, total=False):
    long: str  # the full name of the model that wrote it


@kind
def compare(id: str, lines: list[ComparedLine]):
    """The sentence before and after a change, and the reference."""


@kind
def record(id: str, lab: str, sure: int, right: bool):
    """Invisible: counts the guess, `sure` in percent; 0 is not counted."""


@kind
def calibration(id: str):
    """The fraction of right guesses by stated confidence."""


@kind
def question(id: str, field: str, name: str):
    """The question of a lab or a lesson (`field` of the cursor) as a class's: how it is asked, and the result. Invisible outside of a room.
    """

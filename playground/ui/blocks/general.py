"""Blocks that any panel may use: text, tables, figures, controls and what arranges them; and those that the live stream fills."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from playground.ui.blocks.kind import Block, Option, Token, kind

# ---- to read ----


@kind
def text(id: str, text: str, css: str = ""):
    """A paragraph. Terms of the glossary are explained in it unless `css` says that it is a heading, a formula or an error."""


@kind
def table(
    id: str, head: list[str], rows: list[list[str | float]], title: str = "", rowheads: bool = False, folded: bool = False,
    tokens: bool = False,
):  # fmt: skip
    """`rowheads`: the first cell of a row names it; `folded`: only the title is seen until somebody opens it; `tokens`: its cells are
    tokens or sentences."""


class Plotly(TypedDict):
    data: list[dict[str, Any]]
    layout: dict[str, Any]


class Saved(TypedDict):
    """How a file of a figure is named; of which run and step it is; the query of the route `attention` with all weights of its kind,
    where there is a server."""

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
    """A Plotly figure with a caption computed from its data. `live`: its traces are filled from the run's history by the page. `saved`:
    what a file of it has to say, where that is not simply its id and the run and step on screen. `hint`: what can be done with it here,
    which stands after the caption and in no file."""


class Line(TypedDict):
    label: str
    tokens: list[Token]
    side: str  # of the sentence: "src", "fed" or "tgt", where pointing at a cell lights its tokens up; else ""


class TokenLine(Line, total=False):
    role: Literal["query", "key"]  # where a line is only the one


@kind
def chips(id: str, lines: list[TokenLine], pick: str = "", css: str = ""):
    """Lines of tokens. `pick`: the side on which a click chooses the token."""


@kind
def code(id: str, name: str, source: str, place: str, lit: list[int]):
    """The source of a function or class, with its place in the project; the lines `lit`, counted from 1, stand out."""


# ---- to arrange ----


@kind
def row(id: str, blocks: list[Block], css: str = ""):
    """Blocks side by side; one below the other on a narrow screen, or always when `css` says "column"."""


@kind
def later(id: str, panel: str, label: str, key: str):
    """The blocks of another panel, asked for once the rest is shown because they take longer; `label` stands there until they come. They
    are asked for again when `key` changes, which names all that they depend on."""


@kind
def progress(id: str, done: int, all: int, label: str):
    """How much of a longer work is done. A panel that is not done says "more", and is asked again as long as somebody looks at it."""


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
    """One of a few values of a cursor field, which also `resets` others; or of a live `knob` of the run on screen. `off`: as it is;
    `tokens`: its labels are tokens."""


@kind
def many(id: str, field: str, label: str, options: list[Option], value: list[str]):
    """Any number of values of a cursor field."""


@kind
def slider(id: str, field: str, label: str, low: float, high: float, step: float, value: float, first: int = 0):
    """A number of a cursor field. `first` is added to what is shown: 1 where people count from one and the cursor from zero."""


@kind
def field(id: str, field: str, label: str, value: str, hint: str = ""):
    """A line of text that a cursor field holds; `hint` stands in it while it is empty."""


Act = Literal["draw", "knob", "command", "room", "move", "play", "take", "set", "read"]


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
    `to` somewhere, plays the replay from its beginning, shows where to take the run home, sets the knobs
    of `values`, or has own sentences read as `values` say."""


class FileLink(TypedDict):
    label: str
    query: dict[str, str]


@kind
def downloads(id: str, label: str, path: str, files: list[FileLink]):
    """Files to be had from one of our routes."""


# ---- filled from the stream of a run that trains ----


@kind
def outcome(id: str, text: str):
    """What a run has come to; while it trains, a bar of its steps."""


class NumberItem(TypedDict):
    id: str
    label: str
    help: str


@kind
def numbers(id: str, items: list[NumberItem], more: str = "", folded: list[NumberItem] = []):  # noqa: B006  nobody changes it
    """The newest numbers of the run, of which some are `folded` away under the title `more`; the page knows them by the id of an item."""


# ---- what a run makes of its samples ----


class Probe(TypedDict):
    src: list[str]
    reference: list[str]
    output: list[str]
    right: list[bool]  # one for each token of the output
    finished: bool


@kind
def probes(id: str, title: str, caption: str, joint: str, rows: list[Probe]):
    """The fixed probe sentences and what the model makes of them. `joint` stands between source tokens."""

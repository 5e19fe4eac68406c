"""Blocks for any panel: text, tables, figures, controls and layout; and those that the live stream fills."""

from typing import Any, Literal, TypedDict

from playground.features.shared.blocks.kind import Block, Hue, Option, Shades, Token, kind

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
def chips(id: str, lines: list[TokenLine], pick: str = "", css: str = ""):
    """Lines of tokens. `pick`: the side on which a click chooses a token."""


@kind
def code(id: str, name: str, source: str, place: str, lit: list[int]):
    """The source of a function or class, with its place in the project; the lines `lit`, counted from 1, are highlighted."""


# ---- to arrange ----


@kind
def row(id: str, blocks: list[Block], css: str = ""):
    """Blocks side by side; stacked on a narrow screen, or always with the `css` "column"."""


@kind
def later(id: str, panel: str, label: str, key: str):
    """The blocks of another panel, loaded after the rest because they take longer; `label` is their placeholder. They are reloaded when
    `key`, which names all their inputs, changes."""


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
    `tokens`: its labels are tokens."""


@kind
def many(id: str, field: str, label: str, options: list[Option], value: list[str]):
    """Any number of values of a cursor field."""


@kind
def slider(id: str, field: str, label: str, low: float, high: float, step: float, value: float, first: int = 0):
    """A number of a cursor field. `first` is added to the shown number: 1 if people count from one and the cursor from zero."""


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


class Meaning(TypedDict):
    text: str
    title: str


class Way(Meaning, total=False):
    """A number's name and, if the model computed it, the link to it; if it was learned, its place, for an `editor` beside it."""

    to: dict[str, str | int]
    edit: str


class Term(TypedDict):
    left: Way
    left_value: str
    right: Way | None
    right_value: str
    part: str


class Lead(TypedDict):
    label: Way
    value: str


class Calculation(TypedDict):
    why: str
    text: str
    result: str


@kind
def sheet(
    id: str,
    title: str,
    secret: bool,
    answer: float,
    asks: bool,
    equals: str,
    sign: str,
    head: list[str],
    terms: list[Term],
    leads: list[Lead],
    steps: list[Calculation],
    words: dict[str, str],
    still: bool = False,
    closed: bool = False,
):
    """The derivation of one number. While it is `secret` its last step is a question, and `answer` only for the page to compare with; it
    `asks` if there is something to calculate. A `closed` one opens when its number was read off. The page scrolls to a new one, unless it
    is `still`: not requested."""


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

"""Blocks about attention and decoding: heads small and as lines, aligned decodings, and the effect of an intervention."""

from __future__ import annotations

from typing import Literal, TypedDict

from playground.features.shared.blocks.general import Saved
from playground.features.shared.blocks.kind import Hue, MapColours, Miniature, Shades, Token, kind

# ---- attention ----


@kind
def heads(
    id: str,
    label: str,
    layer: int,
    head: int,
    weights: list[list[list[list[float]]]],
    mask: list[list[int]],
    colours: Shades,
    names: list[list[list[str]]] | None = None,
):
    """Every head small: `weights` are (L, H, Q, K), `mask` is (Q, K) with 0 for masked cells; the chosen `layer` and `head` count from 0.
    `names`: each head's name and the number that supports it, by layer."""


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


# ---- two decodings side by side ----


class LaneRow(TypedDict):
    name: Literal["fed", "says"]
    label: str
    tokens: list[Token]


class Lane(TypedDict):
    name: str
    verdict: str
    right: bool | None
    fixed: int | None
    rows: list[LaneRow]


@kind
def lanes(id: str, label: str, steps: int, at: int, parted: int | None, parts: str, fixes: str, lanes: list[Lane]):
    """Aligned decodings of one sentence, a column for each of `steps`. `at` is chosen; they diverge at `parted`, as `parts` says; `fixes`
    says that the token of step `fixed` was replaced."""


# ---- interventions ----


class Switch(TypedDict):
    id: str
    name: str
    weights: list[list[float]] | None


class SwitchLayer(TypedDict):
    label: str
    all: str
    heads: list[Switch]


class SwitchPart(TypedDict):
    part: Hue
    label: str
    all: str
    mask: list[list[int]]
    layers: list[SwitchLayer]


@kind
def switches(id: str, label: str, none: str, is_off: str, parts: list[SwitchPart], off: list[str], colours: Shades):
    """Every head as a switch; those in `off` are switched off. `all` and `none` label the buttons that switch many."""


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


class Cell(TypedDict):
    token: str
    before: float
    after: float
    state: Literal["", "masked", "given"]
    said: str
    name: str


class CellAct(TypedDict):
    label: str
    cells: str
    on: bool


class CellSlider(TypedDict):
    """The cursor's `cells` are `first`, the slider's number, then `rest`."""

    label: str
    value: float
    first: str
    rest: str


@kind
def cells(
    id: str,
    title: str,
    label: list[str],
    place: dict[str, int],
    cells: list[Cell],
    chosen: int | None,
    hint: str,
    acts: list[CellAct],
    slider: CellSlider | None,
    sum: str,
):
    """One row of attention as clickable bars, without and with a change; `acts` and `slider` change the `chosen` one."""

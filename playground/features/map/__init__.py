"""The Map tab: the model as one drawing, any number with its derivation; and the paper's figure 1 beside every tab.

Its blocks: the drawing itself, a stop of its tour, and what is below the open stage.
"""

from typing import Literal, TypedDict

from playground.features.shared.blocks.kind import Block, Hue, MapColours, Miniature, Option, Token, kind


class Name(TypedDict):
    text: str


class Piece(Name, total=False):
    """A step of the path to the open stage. One with a `stage` is a link; an `aside` is no place."""

    stage: str
    aside: bool


class Title(TypedDict):
    text: str
    hue: Hue


class TileStage(TypedDict):
    address: str
    name: str
    shape: str
    part: Hue
    label: str
    inputs: list[str]
    square: bool
    mini: Miniature
    changed: str  # by numbers that are typed over: how; "" if not


class Tile(TileStage, total=False):
    """A stage as a button. It `follows` if the tile before it is one of its inputs."""

    follows: bool


class TokensLine(TypedDict):
    kind: Literal["tokens"]
    side: str
    title: Title | None
    label: str
    tokens: list[Token]


class TilesLine(TypedDict):
    kind: Literal["tiles"]
    tiles: list[Tile]
    title: Title | None


class FoldLine(TypedDict):
    """A folded layer: `tile` is its output."""

    kind: Literal["fold"]
    text: str
    stage: str
    hue: Hue
    tile: Tile


class Join(TypedDict):
    """A line between two tiles: around a sublayer, or from the encoder output into a cross-attention."""

    kind: Literal["residual", "memory"]
    start: str
    end: str
    hue: Hue


@kind
def map(
    id: str,
    label: str,
    open: str,
    close: str,
    here: list[Piece],
    encoder: list[TokensLine | TilesLine | FoldLine],
    memory: TilesLine | None,
    decoder: list[TokensLine | TilesLine | FoldLine],
    lines: list[Join],
    order: list[str],
    colours: MapColours,
    words: dict[str, str],
    blocks: list[Block],
):
    """The model as one drawing. `open` is the address of the open stage, whose `blocks` unfold in place, and `close` the link that closes
    it; `order` lists the addresses in the order of computation. Without a memory, the decoder's lines below those of the encoder are as
    wide as both."""


class PickColumn(TypedDict):
    value: int
    label: str


@kind
def pick(id: str, rows: list[str], columns: list[PickColumn], row: int | None, col: int | None, words: dict[str, str]):
    """Chooses a cell of the open stage by the names of its row and its column."""


class EditTarget(TypedDict):
    """A number that can be typed over: its `place` as the cursor names it, and of a learned one the `matrix` that can be randomised."""

    place: str
    label: str
    value: str
    matrix: str


@kind
def editor(id: str, targets: list[EditTarget], most: int, most_value: float, words: dict[str, str]):
    """The line in which a number is typed over: at first the chosen cell, or a learned number of its calculation."""


@kind
def worksheet(id: str, kinds: list[Option], value: str, words: dict[str, str]):
    """The link to the printable calculation sheets; `value` is the kind of attention chosen at first."""


class Mistake(TypedDict):
    """A number from the wrong place, and its feedback."""

    value: float
    text: str


@kind
def tour(
    id: str,
    stop: str,
    place: str,
    title: str,
    text: str,
    formula: str,
    ask: str,
    answer: float | None,
    tolerance: float,
    right: str,
    where: str,
    mistakes: list[Mistake],
    previous: str,
    next: str,
    words: dict[str, str],
):
    """A stop of the tour: an explanation, and a number to read off. It is the `answer` within the `tolerance`, None for no number; `where`
    says where to find it. `previous` and `next` name the adjacent stops."""

"""Blocks of the map: the drawing itself, and the details below the open stage and beside the drawing."""

from __future__ import annotations

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
    memory: TilesLine,
    decoder: list[TokensLine | TilesLine | FoldLine],
    lines: list[Join],
    order: list[str],
    colours: MapColours,
    words: dict[str, str],
    blocks: list[Block],
):
    """The model as one drawing. `open` is the address of the open stage, whose `blocks` unfold in place, and `close` the link that closes
    it; `order` lists the addresses in the order of computation."""


# ---- under the open stage ----


class Meaning(TypedDict):
    text: str
    title: str


class Way(Meaning, total=False):
    """A number's name and, if the model computed it, the link to it."""

    to: dict[str, str | int]


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
):
    """The derivation of one number. While it is `secret` its last step is a question, and `answer` only for the page to compare with; it
    `asks` if there is something to calculate. The page scrolls to a new one, unless it is `still`: not requested."""


class PickColumn(TypedDict):
    value: int
    label: str


@kind
def pick(id: str, rows: list[str], columns: list[PickColumn], row: int | None, col: int | None, words: dict[str, str]):
    """Chooses a cell of the open stage by the names of its row and its column."""


@kind
def worksheet(id: str, kinds: list[Option], value: str, words: dict[str, str]):
    """The link to the printable calculation sheets; `value` is the kind of attention chosen at first."""

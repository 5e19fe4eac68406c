"""What a kind of block is, and the records that several kinds are made of."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Literal, NewType, ParamSpec, TypedDict

Block = NewType("Block", dict[str, Any])
Parameters = ParamSpec("Parameters")
KINDS: dict[str, Callable[..., Block]] = {}  # every kind there is, by its name


def kind(declared: Callable[Parameters, None]) -> Callable[Parameters, Block]:
    """Declares a kind of block by a function without a body: its name is the kind, its parameters are the fields with their types and
    defaults, its docstring says what the block is. Calling it makes such a block, {"kind": name, "id": …, field: value, …}.

    The first field of all is `id`: by kind and id the page finds an element again, to change it in place.
    """
    fields = inspect.signature(declared)
    names, rest = tuple(fields.parameters), {name: one.default for name, one in fields.parameters.items() if one.default is not one.empty}

    @wraps(declared)
    def make(*values: Parameters.args, **named: Parameters.kwargs) -> Block:
        given = dict(zip(names, values, strict=False))
        found = {**rest, **given, **named}
        if len(found) != len(names) or len(given) != len(values) or given.keys() & named.keys():
            fields.bind(*values, **named)  # says what is wrong; it takes as long as the rest of a small panel
        return Block({"kind": declared.__name__, **{name: found[name] for name in names}})

    KINDS[declared.__name__] = make
    return make


# ---- records: dictionaries with these keys; those of a class with total=False may be absent ----

Hue = Literal["encoder", "decoder", "cross"]


class TokenId(TypedDict):
    text: str
    id: int
    known: bool  # whether the model's vocabulary has it


class Token(TokenId, total=False):
    """A token as the page shows it."""

    right: bool  # against the reference
    p: float  # how likely it was
    given: bool  # by the visitor's prefix
    mark: str  # a class of its own where two outputs differ


class Value(TypedDict):
    value: str
    label: str


class Option(Value, total=False):
    """A value that can be chosen. `hue` colours its button."""

    hue: str


class Shades(TypedDict):
    """How a small picture of attention is coloured: weights from 0 to 1 along `scale`, masked cells hatched."""

    scale: list[str]
    masked: str
    hatch: str


class Miniature(TypedDict):
    """A stage as a small grid of whole numbers, rows of signed bytes in base64: -128 is masked, ±127 the strongest. `blocks`: how many
    rows and columns of the stage became one of the grid."""

    rows: int
    columns: int
    data: str
    scale: Literal["signed", "probability", "plain"]
    blocks: list[int]


class MapColours(TypedDict):
    """The scales of miniatures, and how masked cells are hatched."""

    signed: list[str]
    probability: list[str]
    plain: list[str]
    masked: str
    hatch: str

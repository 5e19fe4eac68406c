"""Declares kinds of blocks, and the records that several kinds share."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Literal, NewType, ParamSpec, TypedDict

Block = NewType("Block", dict[str, Any])
Parameters = ParamSpec("Parameters")
KINDS: dict[str, Callable[..., Block]] = {}  # every kind by its name


def kind(declaration: Callable[Parameters, None]) -> Callable[Parameters, Block]:
    """Declares a kind of block by a function without a body: its name is the kind (after a "_" where the calls have a shorter form), its
    parameters are the fields with their types and defaults, its docstring describes the block. A call returns {"kind": name, "id": …,
    field: value, …}.

    The first field is always `id`: by kind and id the page finds an element again, to change it in place.
    """
    own_name, fields = declaration.__name__.strip("_"), inspect.signature(declaration)
    names = tuple(fields.parameters)
    defaults = {name: field.default for name, field in fields.parameters.items() if field.default is not field.empty}

    @wraps(declaration)
    def make(*values: Parameters.args, **named: Parameters.kwargs) -> Block:
        positional = dict(zip(names, values, strict=False))
        fields_given = {**defaults, **positional, **named}
        if len(fields_given) != len(names) or len(positional) != len(values) or positional.keys() & named.keys():
            fields.bind(*values, **named)  # raises with the reason; it takes as long as the rest of a small panel
        return Block({"kind": own_name, **{name: fields_given[name] for name in names}})

    KINDS[own_name] = make
    return make


# ---- records: dictionaries with these keys; those of a class with total=False may be absent ----

Hue = Literal["encoder", "decoder", "cross"]


class TokenId(TypedDict):
    text: str
    id: int
    known: bool  # whether the model's vocabulary has it


class Token(TokenId, total=False):
    """A token as the page shows it."""

    right: bool  # equals the reference
    p: float  # its probability
    given: bool  # by the visitor's prefix
    mark: str  # a CSS class where two outputs differ


class LineKey(TypedDict):
    """The style of a run's line in the figures."""

    color: str
    dash: str


class Value(TypedDict):
    value: str
    label: str


class Option(Value, total=False):
    """A value that can be chosen. `hue` colours its button; `resets` are more fields of the cursor that it sets."""

    hue: str
    resets: dict[str, str]


class Shades(TypedDict):
    """The colours of a small picture of attention: weights from 0 to 1 along `scale`, masked cells hatched."""

    scale: list[str]
    masked: str
    hatch: str


class Miniature(TypedDict):
    """A stage as a small grid of integers, rows of signed bytes in base64: -128 is masked, ±127 the strongest. `blocks`: the rows and
    columns of the stage pooled into one cell."""

    rows: int
    columns: int
    data: str
    scale: Literal["signed", "probability", "plain"]
    blocks: list[int]


class MapColours(TypedDict):
    """The scales of miniatures, and the hatching of masked cells."""

    signed: list[str]
    probability: list[str]
    plain: list[str]
    masked: str
    hatch: str

"""Types for the checker of the page's scripts: blocks, a model's figure. `npm run types` writes static/blocks.d.ts before each check."""

import types
from collections.abc import Callable, Iterable
from inspect import cleandoc, getdoc
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from playground.features import registry  # noqa: F401  imports every declaration
from playground.features.map.architecture import ModelFigure
from playground.features.shared.blocks import KINDS, Block

PLAYGROUND = Path(__file__).parents[2] / "playground"
FILE = PLAYGROUND / "ui" / "static" / "blocks.d.ts"
BEGINNING = "// Fields of every kind of block, made from the declarations of all features by `npm run types`.\n"
SIMPLE = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null", Any: "any", Block: "Block"}


def typescript() -> str:
    """The whole file: an interface for every record and for every kind, `Blocks` by their names, and `Block`, which is any of them."""
    hints = {name: fields_of(declared) for name, declared in KINDS.items()}
    records = {kind.__name__: kind for hint in [ModelFigure, *chain(*map(dict.values, hints.values()))] for kind in _records(hint)}
    parts = [
        _interface(name, cleandoc(record.__doc__ or ""), fields_of(record), record.__optional_keys__) for name, record in records.items()
    ]
    for name, fields in hints.items():
        parts.append(_interface(f"{name.title()}Block", getdoc(KINDS[name]), {"kind": Literal[name], **fields}))
    by_name = "".join(f"  {name}: {name.title()}Block;\n" for name in hints)
    parts.append(f"export interface Blocks {{\n{by_name}}}\n\nexport type Block = Blocks[keyof Blocks];\n")
    return "\n".join([BEGINNING, *parts])


def fields_of(declared: Callable[..., Any]) -> dict[str, Any]:
    """The type of every field of a kind or a record."""
    return {name: hint for name, hint in get_type_hints(declared).items() if name != "return"}


def _interface(name: str, doc: str | None, fields: dict[str, Any], absent: Iterable[str] = ()) -> str:
    comment = "/** " + doc.replace("\n", "\n * ") + " */\n" if doc else ""
    lines = "".join(f"  {field}{'?' if field in absent else ''}: {_type(hint)};\n" for field, hint in fields.items())
    return f"{comment}export interface {name} {{\n{lines}}}\n"


def _type(hint: Any) -> str:
    """A Python type in TypeScript's words. Raises TypeError for one that JSON has no words for."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in SIMPLE:
        return SIMPLE[hint]
    if is_typeddict(hint):
        return hint.__name__
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in inner)
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(map(_type, inner)))
    if origin is list:
        item = _type(inner[0])
        return f"({item})[]" if "|" in item else f"{item}[]"
    if origin is tuple:
        return f"[{', '.join(map(_type, inner))}]"
    if origin is dict:
        return f"Record<{_type(inner[0])}, {_type(inner[1])}>"
    raise TypeError(f"a field of a block can't be {hint}")


def _records(hint: Any) -> Iterable[type]:
    """The records in a type, and those in their fields before them."""
    if is_typeddict(hint):
        for field in get_type_hints(hint).values():
            yield from _records(field)
        yield hint
    elif hint != Block:
        for inner in get_args(hint):
            yield from _records(inner)


if __name__ == "__main__":
    FILE.write_text(typescript(), encoding="utf-8")

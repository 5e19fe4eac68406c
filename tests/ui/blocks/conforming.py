"""Whether what a panel says is what the kinds of its blocks declare: every field, and of the type that stands there."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from playground.ui.blocks import KINDS, Block
from tests.js.typedefs import fields_of

PLAIN = {str: str, bool: bool, int: int, float: (int, float), type(None): type(None)}


def faults(block: dict, where: str = "") -> Iterator[str]:
    """What is wrong with a block of a panel as the page gets it: a sentence each."""
    at = f"{where}/{block.get('kind')} {block.get('id')}"
    if block.get("kind") not in KINDS:
        yield f"{at}: no such kind"
        return
    fields = fields_of(KINDS[block["kind"]])
    yield from _keys(at, block.keys() - {"kind"}, set(fields), set(fields))
    for name in fields.keys() & block.keys():
        yield from _wrong(f"{at}.{name}", block[name], fields[name])


def _keys(at: str, found: set[str], known: set[str], needed: set[str]) -> Iterator[str]:
    yield from (f"{at}: {name} isn't declared" for name in sorted(found - known))
    yield from (f"{at}: {name} is missing" for name in sorted(needed - found))


def _wrong(at: str, value: Any, hint: Any) -> Iterator[str]:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Block:
        yield from faults(value, at)
    elif is_typeddict(hint) and isinstance(value, dict):
        fields = get_type_hints(hint)
        yield from _keys(at, set(value), set(fields), set(hint.__required_keys__))
        for name in fields.keys() & value.keys():
            yield from _wrong(f"{at}.{name}", value[name], fields[name])
    elif origin in (Union, types.UnionType):
        if all(any(_wrong(at, value, one)) for one in inner):
            yield f"{at}: {str(value)[:60]!r} is none of {hint}"
    elif origin is Literal:
        if value not in inner:
            yield f"{at}: {value!r} is none of {inner}"
    elif origin in (list, tuple) and isinstance(value, list):
        for place, one in enumerate(value):
            yield from _wrong(f"{at}[{place}]", one, inner[0 if origin is list else place])
    elif origin is dict and isinstance(value, dict):
        for name, one in value.items():
            yield from _wrong(f"{at}[{name}]", one, inner[1])
    elif hint is not Any and not (hint in PLAIN and isinstance(value, PLAIN[hint]) and (hint is bool or not isinstance(value, bool))):
        yield f"{at}: {str(value)[:60]!r} is no {hint}"

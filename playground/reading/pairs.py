"""Pairs: what was understood of an upload, and the JSON as which a run keeps it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from playground.config import Refusal
from playground.reading.column_mapping import Column
from playground.reading.encodings import Encoding
from playground.reading.filtering import Pair, PreviewRow
from playground.reading.formats import limits
from playground.reading.formats.table import Notes
from playground.reading.text import normalise

_PART = 5000  # pairs that are turned into JSON at once


@dataclass(frozen=True)
class Pairs:
    """What was understood. `lines` counts rows: lines, but a quoted cell that goes over several makes them one."""

    pairs: tuple[Pair, ...]
    dropped: dict[str, tuple[int, ...]]  # reason (one of REASONS) -> lines
    lines: int
    kind: str  # which reader understood it
    names: tuple[str, ...]
    credit: str = ""  # whom the sentences are owed to: the licence in a column, in the format, or beside them in an archive
    notes: Notes = ()  # what else a person should know: keys and values of sentences
    unit: str = "line"  # what `Pair.line` and the numbers in `dropped` count: "line", "row" or "item"
    columns: tuple[Column, ...] = ()
    chosen: tuple[int, int] = (0, 1)  # the columns of source and target
    header: bool = False  # whether the first row was taken as names of columns
    named: bool = False  # whether the format itself names the columns, so that no row does
    encodings: tuple[Encoding, ...] = ()  # one for each file
    preview: tuple[PreviewRow, ...] = ()  # the first rows as they were understood
    dropped_rows: dict[str, tuple[PreviewRow, ...]] = field(default_factory=dict)  # the first of each reason
    traces: tuple[str, ...] = ()  # what tools left in the sentences (kinds of formats.escapes), undone if `undone`
    undone: bool = False
    given: tuple[int, int] = (0, 0)  # how many of the pairs, which stand last, were given to validate on and to test on
    joined: tuple[int, ...] = ()  # columns that are part of the source, behind the chosen one
    group: int | None = None  # the column by which pairs stay together in one split, if it isn't the source
    groups: tuple[str, ...] = ()  # what stands in it, for each pair

    @cached_property
    def units(self) -> dict[str, tuple[int, int]]:
        """How many different words, and characters, the sources and the targets have."""
        sides = ([pair.src for pair in self.pairs], [pair.tgt for pair in self.pairs])
        words, characters = (len(set(" ".join(side).split())) for side in sides), (len(set().union(*side)) for side in sides)
        return {"words": tuple(words), "characters": tuple(characters)}

    @cached_property
    def references(self) -> dict[str, tuple[str, ...]]:
        """Source, as `normalise` leaves it -> every different target it has, in their order. Threads that ask at the same time for the
        first time may each make it; they are equal."""
        found: dict[str, list[str]] = {}
        for src, tgt, _ in self.pairs:
            source = normalise(src)
            found.setdefault(src if src == source else source, []).append(tgt)  # of two equal texts the one that is there anyway
        return {source: tuple(dict.fromkeys(targets)) for source, targets in found.items()}


def with_splits(train: Pairs, validation: Pairs | None, test: Pairs | None) -> Pairs:
    """All of them as one, which knows what each is for. What is None stays as it came with the pairs to train on."""
    (validating, _), last = train.given, len(train.pairs) - sum(train.given)
    before = (train.pairs[last : last + validating], train.pairs[last + validating :])
    more = [found.pairs if found else old for found, old in zip((validation, test), before, strict=True)]
    groups = (*train.groups[:last], *(pair.src for found in more for pair in found)) if train.groups else ()
    return replace(train, pairs=(*train.pairs[:last], *more[0], *more[1]), given=(len(more[0]), len(more[1])), groups=groups)


def to_json(pairs: Pairs) -> dict[str, Any]:
    """All that is known of `pairs` but the pairs themselves."""
    known = {one.name: getattr(pairs, one.name) for one in fields(pairs) if one.name != "pairs"}
    return known | {"encodings": [asdict(one) for one in pairs.encodings]}


def json_parts(pairs: Pairs) -> Iterator[bytes]:
    """What `to_json` gives and the "pairs" beside it, as one object in UTF-8 that comes in parts."""
    yield _dump(to_json(pairs))[:-1] + b',"pairs":['
    for start in range(0, len(pairs.pairs), _PART):
        yield (b"," if start else b"") + _dump(pairs.pairs[start : start + _PART])[1:-1]
    yield b"]}"


def check_size(pairs: Pairs) -> None:
    """Raises Refusal when the JSON of these pairs is larger than any that would be read back."""
    size = sum(map(len, json_parts(pairs)))
    if size > limits.JSON_LIMIT:
        shown = f"{math.ceil(size / 100_000) / 10:g}"
        raise Refusal("data.too_large_to_keep", name=" + ".join(pairs.names), size=shown, limit=f"{limits.JSON_LIMIT / 1e6:g}")


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "surrogatepass")

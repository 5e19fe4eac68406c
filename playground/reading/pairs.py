"""Pairs: the parsed upload, the JSON that a run saves of it, and its report for users and programs."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from playground.config import Refusal
from playground.reading import formats
from playground.reading.column_mapping import Column
from playground.reading.encodings import Encoding
from playground.reading.filtering import Pair, PreviewRow
from playground.reading.formats import Notes
from playground.reading.text import normalise
from playground.words import ENGLISH, say

_PART = 5000  # pairs per chunk of JSON
MAX_LINE_NUMBERS = 8  # line numbers listed in a message of the report


@dataclass(frozen=True)
class Pairs:
    """The sentence pairs of an upload, what was dropped and why, and the choices of its reading. `lines` counts rows: a quoted cell over
    several lines is one."""

    pairs: tuple[Pair, ...]
    dropped: dict[str, tuple[int, ...]]  # reason (one of REASONS) -> lines
    lines: int
    kind: str  # name of the reader
    names: tuple[str, ...]
    credit: str = ""  # attribution: the licence in a column, in the format, or beside the files in an archive
    notes: Notes = ()  # messages for the user: keys and values
    unit: str = "line"  # unit of `Pair.line` and of the numbers in `dropped`: "line", "row" or "item"
    columns: tuple[Column, ...] = ()
    chosen: tuple[int, int] = (0, 1)  # columns of source and target
    header: bool = False  # whether the first row was a header
    named: bool = False  # whether the format itself names the columns
    encodings: tuple[Encoding, ...] = ()  # one per file
    preview: tuple[PreviewRow, ...] = ()  # the first rows as parsed
    dropped_rows: dict[str, tuple[PreviewRow, ...]] = field(default_factory=dict)  # the first of each reason
    traces: tuple[str, ...] = ()  # kinds of escapes in the sentences, undone if `undone`
    undone: bool = False
    given: tuple[int, int] = (0, 0)  # numbers of validation and test pairs that the upload itself marks; they stand last
    joined: tuple[int, ...] = ()  # columns appended to the source
    group: int | None = None  # column whose equal cells keep pairs in one split, if it isn't the source
    groups: tuple[str, ...] = ()  # its cell for each pair
    tokenizers: tuple[str, ...] = ()  # given ones of source and target, as JSON documents; () where they are trained on the pairs

    @cached_property
    def units(self) -> dict[str, tuple[int, int]]:
        """Returns the numbers of distinct words and characters of sources and targets."""
        sides = ([pair.src for pair in self.pairs], [pair.tgt for pair in self.pairs])
        words, characters = (len(set(" ".join(side).split())) for side in sides), (len(set().union(*side)) for side in sides)
        return {"words": tuple(words), "characters": tuple(characters)}

    @cached_property
    def references(self) -> dict[str, tuple[str, ...]]:
        """Maps each source, normalised, to its distinct targets in order. Threads racing for the first call may each compute it; the values
        are equal."""
        targets_of: dict[str, list[str]] = {}
        for src, tgt, _ in self.pairs:
            source = normalise(src)
            targets_of.setdefault(src if src == source else source, []).append(tgt)  # reuses the existing string of two equal ones
        return {source: tuple(dict.fromkeys(targets)) for source, targets in targets_of.items()}


def with_splits(train: Pairs, validation: Pairs | None, test: Pairs | None) -> Pairs:
    """Joins the splits into one; a split that is None keeps the pairs that came with `train`."""
    (validating, _), last = train.given, len(train.pairs) - sum(train.given)
    before = (train.pairs[last : last + validating], train.pairs[last + validating :])
    splits = [split.pairs if split else old for split, old in zip((validation, test), before, strict=True)]
    groups = (*train.groups[:last], *(pair.src for split in splits for pair in split)) if train.groups else ()
    return replace(train, pairs=(*train.pairs[:last], *splits[0], *splits[1]), given=(len(splits[0]), len(splits[1])), groups=groups)


def to_json(pairs: Pairs) -> dict[str, Any]:
    """Returns everything but the pairs themselves."""
    saved = {entry.name: getattr(pairs, entry.name) for entry in fields(pairs) if entry.name != "pairs"}
    return saved | {"encodings": [asdict(entry) for entry in pairs.encodings]}


def json_parts(pairs: Pairs) -> Iterator[bytes]:
    """Yields the object of `to_json` with its "pairs" as chunks of UTF-8."""
    yield _dump(to_json(pairs))[:-1] + b',"pairs":['
    for start in range(0, len(pairs.pairs), _PART):
        yield (b"," if start else b"") + _dump(pairs.pairs[start : start + _PART])[1:-1]
    yield b"]}"


def check_size(pairs: Pairs) -> None:
    """Raises Refusal when the JSON of these pairs exceeds the limit for reading it back."""
    size = sum(map(len, json_parts(pairs)))
    if size > formats.JSON_LIMIT:
        megabytes = f"{math.ceil(size / 100_000) / 10:g}"
        raise Refusal("data.too_large_to_keep", name=" + ".join(pairs.names), size=megabytes, limit=f"{formats.JSON_LIMIT / 1e6:g}")


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


# --- report ---


def report(pairs: Pairs, language: str) -> list[str]:
    """Returns the report as sentences for the user: the counts, one sentence per reason for dropped lines, and notes."""
    unit, dropped = pairs.unit, sum(map(len, pairs.dropped.values()))
    sentences = [say(language, f"data.report_{unit}", lines=pairs.lines, kept=len(pairs.pairs) - sum(pairs.given), dropped=dropped)]
    for reason, lines in pairs.dropped.items():
        where = format_line_numbers(lines, unit, language)
        sentences.append(say(language, "data.report_dropped", count=len(lines), why=say(language, f"data.why_{reason}"), where=where))
    return sentences + _format_notes(pairs, language)


def format_line_numbers(lines: Sequence[int], unit: str, language: str) -> str:
    """Formats line numbers: "line 3", "rows 21, 40", "items 1, 2, 3, …"."""
    where = ", ".join(map(str, lines[:MAX_LINE_NUMBERS])) + (", …" if len(lines) > MAX_LINE_NUMBERS else "")
    return say(language, f"data.{unit}s" if len(lines) > 1 else f"data.{unit}", where=where)


def _format_notes(pairs: Pairs, language: str) -> list[str]:
    """Formats the notes; a note with a line number may use {where}: "line 3", "row 3", "item 3"."""
    where = [{"where": say(language, f"data.{pairs.unit}", where=values.get("line", "?"))} for _, values in pairs.notes]
    return [say(language, note, **place, **values) for (note, values), place in zip(pairs.notes, where, strict=True)]


def as_json(pairs: Pairs, language: str = ENGLISH) -> dict[str, Any]:
    """Returns the report for programs: counts, the first pair, and all dropped lines by reason."""
    return {
        "kind": pairs.kind,
        "names": list(pairs.names),
        "unit": pairs.unit,
        "lines": pairs.lines,
        "pairs": len(pairs.pairs) - sum(pairs.given),
        "given": list(pairs.given),
        "first": list(pairs.pairs[0][:2]),
        "dropped": {reason: list(lines) for reason, lines in pairs.dropped.items()},
        "credit": pairs.credit,
        "encodings": [{"file": encoding.file, "name": encoding.name, "guessed": encoding.guessed} for encoding in pairs.encodings],
        "columns": [{"name": column.name, "filled": column.filled, "samples": list(column.samples)} for column in pairs.columns],
        "chosen": list(pairs.chosen),
        "header": pairs.header,
        "warnings": _format_notes(pairs, language),
    }

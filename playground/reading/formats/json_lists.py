"""JSON and JSON Lines: parses text into values; `shapes` finds the list of items in them, `items` makes rows of these."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from playground.config import Refusal
from playground.reading.formats.items import BROKEN, VALUE_LIMIT, Number, flatten, join_keys, make_table
from playground.reading.formats.shapes import are_words, find_items
from playground.reading.formats.table import SAMPLE, Confidence, Source, Table, reads

_NAMED = (".json", ".jsonl", ".ndjson", ".geojson", ".json5", ".jsonc")
_CERTAIN = re.compile(r'\s*[\[{][\s\[{]*"[^\t]*$', re.MULTILINE)  # no other text begins with brackets, a quotation mark, and no tab
_STRING = re.compile('"[^"]*"?')
_BETWEEN = re.compile(r"[\s,]*")


def _merge_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Builds a dictionary; a repeated key gets the list of its values, so that a word keeps all its meanings."""
    merged = dict(pairs)
    if len(merged) < len(pairs):
        several: dict[str, list] = {}
        for key, value in pairs:
            several.setdefault(key, []).extend(value if isinstance(value, list) else [value])
        merged = {key: value if len(value) > 1 else merged[key] for key, value in several.items()}
    return merged


_DECODER = json.JSONDecoder(
    object_pairs_hook=_merge_duplicates,
    parse_int=Number,  # as written: 1.50 stays 1.50, and any length is allowed
    parse_float=Number,
    parse_constant=lambda name: None if name == "NaN" else Number(name),
    strict=False,  # allows line ends within strings
)


@reads(Confidence.SIGNATURE, is_whole=True)
def read_json(source: Source) -> Table | None:
    """Reads one document in a common shape, several in sequence, or one per line."""
    if not _looks_like_json(source.lines):
        return None
    if _is_lines(source.lines, lenient=True):
        return _table_of_lines(source)
    certain = source.name.lower().endswith(_NAMED) or _CERTAIN.match("\n".join(source.lines[:SAMPLE])[:SAMPLE])
    try:
        shape = find_items(_parse_document(source), source.name)
    except Refusal as refusal:
        if refusal.key == "data.json_broken" and _is_lines(source.lines, lenient=False):
            return _table_of_lines(source)
        if not certain and refusal.key == "data.json_broken":
            return None
        raise
    if shape is None:
        if certain:
            raise Refusal("data.json_no_pairs", name=source.name)
        return None
    table = make_table("json", source.name, enumerate(shape.items, 1), shape.names, notes=shape.notes)
    return replace(table, credit=shape.credit) if shape.credit else table


# --- one value on each line ---


def _looks_like_json(lines: Sequence[str]) -> bool:
    """Whether the first filled line begins like a list or an object, or most lines do."""
    filled = list(islice(filter(None, map(str.strip, lines)), SAMPLE))
    return bool(filled) and (filled[0][0] in "[{" or 2 * sum(line[0] in "[{" for line in filled) >= len(filled))


def _parse_line(line: str, lenient: bool = True) -> Any:
    """Parses the list or object on a line: None if empty, BROKEN for anything else. `lenient` allows a comma at its end."""
    line = line.strip()
    if not line:
        return None
    if line[0] not in "[{":
        return BROKEN
    try:
        return _DECODER.decode(line.removesuffix(",") if lenient else line)
    except (ValueError, RecursionError):
        return BROKEN


def _is_lines(lines: Sequence[str], lenient: bool) -> bool:
    """Whether several lines, and at least half of the filled ones, hold a value each; `lenient` requires it of the first line."""
    filled = list(islice(filter(str.strip, lines), SAMPLE))
    if len(filled) < 2 or (lenient and _parse_line(filled[0]) is BROKEN):
        return False
    return max(2, len(filled) / 2) <= sum(_parse_line(line, lenient) is not BROKEN for line in filled)


def _table_of_lines(source: Source) -> Table:
    values = enumerate(map(_parse_line, source.lines), 1)
    first = list(islice(values, SAMPLE))
    single = are_words([value for _, value in first])
    numbered = chain(first, values)
    if single:
        numbered = ((number, next(iter(value.items()), None) if isinstance(value, dict) else value) for number, value in numbered)
    return make_table("json_lines", source.name, numbered, unit="line")


# --- whole documents ---


def _parse_document(source: Source) -> Any:
    """Parses a file's value; several in sequence become a list."""
    text = "\n".join(source.lines)
    if _has_too_many_values(text):
        raise Refusal("data.too_many_values", name=source.name, limit=VALUE_LIMIT)
    try:
        values = list(_iterate_values(text))
    except json.JSONDecodeError as error:
        raise Refusal("data.json_broken", name=source.name, line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise Refusal("data.json_deep", name=source.name) from None
    if len(values) == 1:
        return values[0]
    lists = all(isinstance(value, list) and value and isinstance(value[0], list | dict) for value in values)
    return list(chain.from_iterable(values)) if lists else values


def _has_too_many_values(text: str) -> bool:
    """Whether a document would exhaust memory: counts commas and brackets outside strings before parsing."""
    if text.count("[") + text.count("{") > VALUE_LIMIT:
        return True
    bare = _STRING.sub("", text.replace("\\\\", "").replace('\\"', ""))
    return bare.count(",") + bare.count("[") + bare.count("{") > VALUE_LIMIT


def _iterate_values(text: str) -> Iterator[Any]:
    place = _BETWEEN.match(text).end()
    while place < len(text):
        value, place = _DECODER.raw_decode(text, place)
        yield value
        place = _BETWEEN.match(text, place).end()


# --- two documents ---


@reads(Confidence.SIGNATURE, files=(2,), is_whole=True)
def read_two_documents(left: Source, right: Source) -> Table | None:
    """Reads two lists of sentences, or two objects with the same keys in two languages (a program's texts)."""
    if not all(source.name.lower().endswith(_NAMED) for source in (left, right)):
        return None
    if not all(_looks_like_json(source.lines) or source.lines[0].lstrip().startswith('"') for source in (left, right) if source.lines):
        return None
    first, second = _parse_document(left), _parse_document(right)
    if isinstance(first, dict) and isinstance(second, dict):
        texts = [{key: " ".join(cell) if isinstance(cell, list) else cell for key, cell in flatten(value)} for value in (first, second)]
        rows = join_keys(*texts)
        if 2 * sum(all(row.cells) for row in rows) >= len(rows) > 0:
            return Table("json", rows, (left.name, right.name), "item")
    elif all(isinstance(value, list) and not any(isinstance(entry, list | dict) for entry in value) for value in (first, second)):
        if len(first) != len(second):
            raise Refusal("data.unequal_lists", name=f"{left.name} + {right.name}", one=left.name, count_one=len(first), two=right.name,
                          count_two=len(second))  # fmt: skip
        return make_table("json", left.name, enumerate(zip(first, second, strict=True), 1), (left.name, right.name))
    raise Refusal("data.two_tables", one=left.name, two=right.name)

"""Wrapped: tables that a program wrapped once more: lines in quotes, cells in single quotes, dictionaries of Python in cells."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence

from playground.config import Refusal
from playground.data.formats.delimited import read_csv
from playground.data.formats.json_lists import read_json
from playground.data.formats.limits import LINE_LIMIT, SAMPLE
from playground.data.formats.records import csv_rows
from playground.data.formats.table import Row, Source, Table

_PAGE = ("<!doctype html", "<html")
_SINGLE = re.compile(r"\s*'(.*)'\s*", re.DOTALL)
_BETWEEN = {delimiter: re.compile(rf"'\s*{delimiter}\s*'") for delimiter in (",", ";", "\t", r"\|")}
_LITERAL = re.compile(r"\s*\{\s*['\"]")


def read_wrapped(sources: Sequence[Source]) -> Table | None:
    """One file in one of these wrappings. A web page is refused: which of its texts belong together, it doesn't say."""
    if len(sources) != 1:
        return None
    source = sources[0]
    filled = [line for line in source.lines[:SAMPLE] if line.strip()]
    if filled and filled[0].lstrip().casefold().startswith(_PAGE):
        raise Refusal("data.web_page", name=source.name)
    if len(filled) < 2:
        return None
    return _single_quoted(source, filled) or _quoted_lines(source, filled)


def _single_quoted(source: Source, filled: Sequence[str]) -> Table | None:
    """Every line is `'…','…'`."""
    if not all(_SINGLE.fullmatch(line) for line in filled):
        return None
    between = max(_BETWEEN.values(), key=lambda pattern: sum(bool(pattern.search(line)) for line in filled))
    if not all(between.search(line) for line in filled):
        return None
    rows = []
    for number, line in enumerate(source.lines, 1):
        found = _SINGLE.fullmatch(line)
        cells = between.split(found[1]) if found else [line]
        rows.append(Row(number, [cell.replace("''", "'").replace("\\'", "'") for cell in cells], "long" if len(line) > LINE_LIMIT else ""))
    return Table("csv", rows)


def _quoted_lines(source: Source, filled: Sequence[str]) -> Table | None:
    """Every line, but perhaps the first, is one cell in double quotes, and in it is a line of a table or a dictionary."""
    if not all(line.strip()[:1] == '"' for line in filled[1:]):
        return None
    if not all(len(row.cells) == 1 and row.height == 1 and not row.fault for row in csv_rows(filled, ",")):
        return None
    inside = [row.cells[0] if row.cells and row.height == 1 else "" for row in csv_rows(source.lines, ",")]
    if len(inside) != len(source.lines):
        return None
    first = next(place for place, line in enumerate(inside) if line.strip())
    if all(_LITERAL.match(line) for line in inside[first + 1 : SAMPLE] if line.strip()):
        return _dictionaries(source, inside, first)
    return read_csv([source._replace(lines=inside)])


def _dictionaries(source: Source, cells: list[str], first: int) -> Table | None:
    """As pandas writes a column of dictionaries; what is none stays as it is, and is named as broken."""
    named = not _LITERAL.match(cells[first])
    lines = ["" if named and place == first else _as_json(cell) for place, cell in enumerate(cells)]
    table = read_json([source._replace(lines=lines, data="\n".join(lines).encode("utf-8", "replace"))])
    if table is None or not named:
        return table
    return Table(table.kind, [Row(first + 1, [], "header"), *table.rows], table.columns, table.unit, table.pair, table.credit, table.notes)


def _as_json(text: str) -> str:
    try:
        return json.dumps(ast.literal_eval(text)) if len(text) <= LINE_LIMIT else text
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text

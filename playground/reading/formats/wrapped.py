"""Wrapped tables: lines in quotes, cells in single quotes, Python dictionaries in cells."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from playground.config import Refusal
from playground.reading.formats.delimited import read_csv
from playground.reading.formats.items import BROKEN, make_table
from playground.reading.formats.limits import LINE_LIMIT, SAMPLE
from playground.reading.formats.records import csv_rows, is_filled
from playground.reading.formats.table import Row, Source, Table

_PAGE = ("<!doctype html", "<html")
_SINGLE = re.compile(r"\s*'(.*)'\s*", re.DOTALL)
_BETWEEN = {delimiter: re.compile(rf"'(?:(?!{delimiter})\s)*{delimiter}\s*'") for delimiter in (",", ";", "\t", r"\|")}
_STRING = r"""(?:'[^'\\]*'|"[^"\\]*")"""
_PLAIN = re.compile(rf"\s*\{{\s*{_STRING}\s*:\s*{_STRING}(?:\s*,\s*{_STRING}\s*:\s*{_STRING})*\s*\}}\s*")  # texts only, no backslash
_TEXT = re.compile(_STRING)
_NO_SEPARATOR = "\x1f"  # never occurs: lines of one cell
_LITERAL = re.compile(r"\{\s*['\"]")  # the beginning of a dictionary


def read_wrapped(sources: Sequence[Source]) -> Table | None:
    """Reads one file in one of these wrappings. A web page is refused: its texts are not aligned."""
    if len(sources) != 1:
        return None
    source = sources[0]
    filled = [line for line in source.lines[:SAMPLE] if line.strip()]
    if filled and filled[0].lstrip().casefold().startswith(_PAGE):
        raise Refusal("data.web_page", name=source.name)
    if len(filled) < 2:
        return None
    return _read_single_quoted(source, filled) or _read_dictionaries(source, filled) or _read_quoted_lines(source, filled)


def _read_single_quoted(source: Source, filled: Sequence[str]) -> Table | None:
    """Reads a file whose lines are all `'…','…'`."""
    if not all(_SINGLE.fullmatch(line) for line in filled):
        return None
    between = max(_BETWEEN.values(), key=lambda pattern: sum(bool(pattern.search(line)) for line in filled))
    if not all(between.search(line) for line in filled):
        return None
    rows = []
    for number, line in enumerate(source.lines, 1):
        match = _SINGLE.fullmatch(line)
        cells = between.split(match[1]) if match else [line]
        rows.append(Row(number, [cell.replace("''", "'").replace("\\'", "'") for cell in cells], "long" if len(line) > LINE_LIMIT else ""))
    return Table("csv", rows)


def _read_quoted_lines(source: Source, filled: Sequence[str]) -> Table | None:
    """Reads a file whose lines, possibly except the first, are single double-quoted cells with a table's line in each."""
    if not all(line.strip()[:1] == '"' for line in filled[1:]):
        return None
    if not all(len(row.cells) == 1 and row.height == 1 and not row.fault for row in csv_rows(filled, ",")):
        return None
    inside = [row.cells[0] if row.cells and row.height == 1 else "" for row in csv_rows(source.lines, ",")]
    return read_csv([source._replace(lines=inside)]) if len(inside) == len(source.lines) else None


# --- dictionaries in cells ---


def _read_dictionaries(source: Source, filled: Sequence[str]) -> Table | None:
    """Reads a table with a column of dictionaries, as pandas writes the Hub's translations; other cells there are broken."""
    if not any(_LITERAL.search(line) for line in filled[1:3]):
        return None
    for delimiter in _NO_SEPARATOR, "\t", ",", ";", "|":
        written = [row for row in csv_rows(source.lines[:SAMPLE], delimiter) if is_filled(row) and not row.fault]
        places = [place for place in range(len(written[0].cells)) if _are_dictionaries(written[1:], place)] if len(written) > 1 else []
        if places:
            named = not any(_is_dictionary(written[0].cells[place]) for place in places)
            names = _name_columns(written[0].cells if named else [], max(len(row.cells) for row in written))
            head = written[0].line if named else 0
            items = ((row.line, _make_item(row, names, places)) for row in csv_rows(source.lines, delimiter) if row.line != head)
            table = make_table("json_lines", source.name, items, unit="line")
            return _insert_header(head, table) if len(table.columns) > 1 else None
    return None


def _insert_header(head: int, table: Table) -> Table:
    """Puts the header line, if any, among the rows of the table."""
    return replace(table, rows=sorted([*table.rows, *([Row(head, [], "header")] if head else [])], key=lambda row: row.line))


def _is_dictionary(cell: str) -> bool:
    return bool(_LITERAL.match(cell.lstrip())) and cell.rstrip().endswith("}")


def _are_dictionaries(rows: Sequence[Row], place: int) -> bool:
    """Whether a column holds dictionaries only; one cell in twenty may be broken."""
    cells = [row.cells[place] for row in rows if place < len(row.cells) and row.cells[place].strip()]
    return 20 * sum(map(_is_dictionary, cells)) >= 19 * max(1, len(cells))


def _name_columns(head: Sequence[str], width: int) -> list[str]:
    """Returns unique column names: those of the header, or numbers."""
    names = [cell.strip() for cell in head] + [""] * (width - len(head))
    return [name if name and names.count(name) == 1 else str(place) for place, name in enumerate(names, 1)]


def _make_item(row: Row, names: Sequence[str], places: Sequence[int]) -> Any:
    """Returns a row as a dictionary of its cells; None if it is blank."""
    if row.fault or not is_filled(row):
        return BROKEN if row.fault else None
    named_cells = enumerate(zip(names, row.cells, strict=False))
    cells = {name: _parse_value(cell) if place in places else cell for place, (name, cell) in named_cells}
    return BROKEN if BROKEN in cells.values() else cells


def _parse_value(cell: str) -> Any:
    """Parses a dictionary in JSON or Python syntax."""
    if not cell.strip() or len(cell) > LINE_LIMIT:
        return BROKEN if cell.strip() else ""
    if _PLAIN.fullmatch(cell):  # the common case, ten times as fast as ast.literal_eval
        texts = [text[1:-1] for text in _TEXT.findall(cell)]
        return dict(zip(texts[::2], texts[1::2], strict=True))
    for read in (json.loads, ast.literal_eval):
        try:
            parsed = read(cell.strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        if isinstance(parsed, dict):
            return parsed
    return BROKEN

"""Wrapped tables: comments before the lines, line numbers, lines in quotes, Python dictionaries in cells."""

import ast
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from playground.config import Refusal
from playground.reading.formats import FORMATS, LINE_LIMIT, SAMPLE, Confidence, Row, Source, Table, comment_row, read_first, reads
from playground.reading.formats.delimited import read_csv
from playground.reading.formats.items import BROKEN, make_table
from playground.reading.formats.records import csv_rows, is_filled
from playground.reading.text import normalise

TERMS = re.compile(r"(?i)licen[cs]e|\bCC[ -](BY|0)|creativecommons|attribution|copyright|public domain")
_REMARK = re.compile(r"#(?![\t,;|])")  # before a separator it is a column name: "#,English,German"
_NUMBER = re.compile(r"^\s*(\d{1,6})[.)][ \u00a0]+(?=\S)")
_MIN_LINES = 3  # that must be numbered
_MAX_CREDIT_CHARACTERS = 300
_CUE = re.compile(r"\s*[\d:]{5,12}[.,]\d{1,3}\s*-->")  # the time of a subtitle
_PAGE = ("<!doctype html", "<html")
_SINGLE = re.compile(r"\s*'(.*)'\s*", re.DOTALL)
_BETWEEN = {delimiter: re.compile(rf"'(?:(?!{delimiter})\s)*{delimiter}\s*'") for delimiter in (",", ";", "\t", r"\|")}
_STRING = r"""(?:'[^'\\]*'|"[^"\\]*")"""
_PLAIN = re.compile(rf"\s*\{{\s*{_STRING}\s*:\s*{_STRING}(?:\s*,\s*{_STRING}\s*:\s*{_STRING})*\s*\}}\s*")  # texts only, no backslash
_TEXT = re.compile(_STRING)
_NO_SEPARATOR = "\x1f"  # never occurs: lines of one cell
_LITERAL = re.compile(r"\{\s*['\"]")  # the beginning of a dictionary


@reads(Confidence.TRIMMED, files=(1, 2))
def read_trimmed(*sources: Source) -> Table | None:
    """Reads files without the comments above them and their line numbers, by a less confident reader; None where they have neither."""
    comment_count = _count_comments(sources[0].lines) if len(sources) == 1 else 0
    stripped = [[""] * comment_count + source.lines[comment_count:] for source in sources]
    is_numbered = all(map(_are_numbered, stripped))
    if is_numbered:
        stripped = [[_NUMBER.sub("", line, 1) for line in lines] for lines in stripped]
    if not (comment_count or is_numbered):
        return None
    plain = [entry for entry in FORMATS if entry.confidence < Confidence.TRIMMED]
    table = read_first(plain, [source._replace(lines=lines) for source, lines in zip(sources, stripped, strict=True)])
    if table is None or table.unit != "line":
        return table
    rows, notes = (_strip_last_numbers(table.rows), [("data.note_numbers", {})]) if is_numbered else (table.rows, [])
    head = sources[0].lines[:comment_count]
    comments = [comment_row(number, line) for number, line in enumerate(head, 1)]
    credit = table.credit or "; ".join(normalise(line.lstrip("#! ")) for line in head if TERMS.search(line))[:_MAX_CREDIT_CHARACTERS]
    return replace(table, rows=[*comments, *(row for row in rows if row.line > comment_count)], credit=credit, notes=(*table.notes, *notes))


def _strip_last_numbers(rows: Iterable[Row]) -> list[Row]:
    """Strips the numbers from last cells too where all have one."""
    rows = list(rows)
    if not _are_numbered([row.cells[-1] for row in rows if len(row.cells) > 1]):
        return rows
    return [row._replace(cells=[*row.cells[:-1], _NUMBER.sub("", row.cells[-1], 1)]) if len(row.cells) > 1 else row for row in rows]


def _count_comments(lines: Sequence[str]) -> int:
    """Counts the comment lines at the beginning, with blank ones between; 0 where a later line begins with # too."""
    first = next((place for place, line in enumerate(lines) if line.strip() and not _REMARK.match(line)), 0)
    count = max((place + 1 for place in range(first) if lines[place].strip()), default=0)
    return 0 if count and any(line.startswith("#") for line in lines[first:]) else count


def _are_numbered(lines: Sequence[str]) -> bool:
    """Whether the filled lines begin with 1., 2., 3., …"""
    place = 0
    for place, line in enumerate(filter(str.strip, lines), 1):
        match = _NUMBER.match(line)
        if not match or int(match[1]) != place:
            return False
    return place >= _MIN_LINES


@reads(Confidence.SIGNATURE, files=(1, 2))
def refuse_unaligned(*sources: Source) -> None:
    """Refuses a web page, and subtitles: their lines are not aligned."""
    if len(sources) == 1 and next(filter(str.strip, sources[0].lines), "").lstrip().casefold().startswith(_PAGE):
        raise Refusal("data.web_page", name=sources[0].name)
    if all(any(map(_CUE.match, source.lines[:SAMPLE])) for source in sources):
        raise Refusal("data.subtitles", name=" + ".join(source.name for source in sources))


@reads(Confidence.LAYOUT)
def read_wrapped(source: Source) -> Table | None:
    """Reads a table in quotes or with dictionaries."""
    filled = [line for line in source.lines[:SAMPLE] if line.strip()]
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
    return read_csv(source._replace(lines=inside)) if len(inside) == len(source.lines) else None


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
            cells = [cell.strip() for cell in written[0].cells if named]
            cells += [""] * (max(len(row.cells) for row in written) - len(cells))
            names = [name if name and cells.count(name) == 1 else str(place) for place, name in enumerate(cells, 1)]
            head = written[0].line if named else 0
            items = ((row.line, _make_item(row, names, places)) for row in csv_rows(source.lines, delimiter) if row.line != head)
            table = make_table("json_lines", source.name, items, unit="line")
            header = [Row(head, [], "header")] if named else []
            rows = sorted([*header, *table.rows], key=lambda row: row.line)
            return replace(table, rows=rows) if len(table.columns) > 1 else None
    return None


def _is_dictionary(cell: str) -> bool:
    return bool(_LITERAL.match(cell.lstrip())) and cell.rstrip().endswith("}")


def _are_dictionaries(rows: Sequence[Row], place: int) -> bool:
    """Whether a column holds dictionaries only; one cell in twenty may be broken."""
    cells = [row.cells[place] for row in rows if place < len(row.cells) and row.cells[place].strip()]
    return 20 * sum(map(_is_dictionary, cells)) >= 19 * max(1, len(cells))


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

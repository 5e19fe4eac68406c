"""Trimmed: strips what surrounds a file's lines: comments before the first, and line numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from playground.reading.formats.table import Row, Source, Table, comment_row
from playground.reading.text import normalise

TERMS = re.compile(r"(?i)licen[cs]e|\bCC[ -](BY|0)|creativecommons|attribution|copyright|public domain")
_REMARK = re.compile(r"#(?![\t,;|])")  # before a separator it is a column name: "#,English,German"
_NUMBER = re.compile(r"^\s*(\d{1,6})[.)][ \u00a0]+(?=\S)")
_MIN_LINES = 3  # that must be numbered
_MAX_CREDIT_CHARACTERS = 300


def read_trimmed(read: Callable[[Sequence[Source]], Table | None], sources: Sequence[Source]) -> Table | None:
    """Reads files without their comments and line numbers through `read`; None where they have neither, or `read` returns None."""
    comment_count = _count_comments(sources[0].lines) if len(sources) == 1 else 0
    stripped = [[""] * comment_count + source.lines[comment_count:] for source in sources]
    is_numbered = all(map(_are_numbered, stripped))
    if is_numbered:
        stripped = [[_NUMBER.sub("", line, 1) for line in lines] for lines in stripped]
    if not (comment_count or is_numbered):
        return None
    table = read([source._replace(lines=lines) for source, lines in zip(sources, stripped, strict=True)])
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

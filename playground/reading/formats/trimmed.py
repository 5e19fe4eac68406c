"""Trimmed: what stands around the lines of a file and is no part of them: remarks before the first, numbers that count them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from playground.reading.formats.table import Row, Source, Table, comment_row
from playground.reading.text import normalise

TERMS = re.compile(r"(?i)licen[cs]e|\bCC[ -](BY|0)|creativecommons|attribution|copyright|public domain")
_REMARK = re.compile(r"#(?![\t,;|])")  # before a separator it is the name of a column: "#,English,German"
_NUMBER = re.compile(r"^\s*(\d{1,6})[.)][ \u00a0]+(?=\S)")
_MIN_LINES = 3  # from which numbers are believed to count them
_MAX_CREDIT_CHARACTERS = 300


def read_trimmed(read: Callable[[Sequence[Source]], Table | None], sources: Sequence[Source]) -> Table | None:
    """What `read` makes of files without their remarks and numbers; None where they have neither, or `read` makes nothing of it."""
    remarks = _remarks(sources[0].lines) if len(sources) == 1 else 0
    rest = [[""] * remarks + source.lines[remarks:] for source in sources]
    counted = all(map(_are_counted, rest))
    if counted:
        rest = [[_NUMBER.sub("", line, 1) for line in lines] for lines in rest]
    if not (remarks or counted):
        return None
    table = read([source._replace(lines=lines) for source, lines in zip(sources, rest, strict=True)])
    if table is None or table.unit != "line":
        return table
    rows, notes = (_uncounted(table.rows), [("data.note_numbers", {})]) if counted else (table.rows, [])
    head = sources[0].lines[:remarks]
    remarked = [comment_row(number, line) for number, line in enumerate(head, 1)]
    credit = table.credit or "; ".join(normalise(line.lstrip("#! ")) for line in head if TERMS.search(line))[:_MAX_CREDIT_CHARACTERS]
    return replace(table, rows=[*remarked, *(row for row in rows if row.line > remarks)], credit=credit, notes=(*table.notes, *notes))


def _uncounted(rows: Iterable[Row]) -> list[Row]:
    """The rows, without the numbers before their last cells too where all of them have one."""
    rows = list(rows)
    if not _are_counted([row.cells[-1] for row in rows if len(row.cells) > 1]):
        return rows
    return [row._replace(cells=[*row.cells[:-1], _NUMBER.sub("", row.cells[-1], 1)]) if len(row.cells) > 1 else row for row in rows]


def _remarks(lines: Sequence[str]) -> int:
    """How many lines at the beginning are remarks, blank ones between them; 0 where a later line begins as they do."""
    first = next((place for place, line in enumerate(lines) if line.strip() and not _REMARK.match(line)), 0)
    count = max((place + 1 for place in range(first) if lines[place].strip()), default=0)
    return 0 if count and any(line.startswith("#") for line in lines[first:]) else count


def _are_counted(lines: Sequence[str]) -> bool:
    """Whether the lines that are filled begin with 1., 2., 3., …"""
    place = 0
    for place, line in enumerate(filter(str.strip, lines), 1):
        found = _NUMBER.match(line)
        if not found or int(found[1]) != place:
            return False
    return place >= _MIN_LINES

"""Records: the rows of cells in lines with a separator, quoted where need be (RFC 4180), each with the line it begins on."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from playground.data.formats.limits import COLUMN_LIMIT, ENDLESS, LINE_LIMIT
from playground.data.formats.table import Row

_CELL_LINES = 100  # a quoted cell that goes on for more lines was never closed
_OPENING = re.compile(' *"')
_QUOTES = re.compile('"+')
_BLANKS = re.compile(" *")


def csv_rows(lines: Sequence[str], delimiter: str, width: int = 0, start: int = 0) -> Iterator[Row]:
    """The records from line `start` (from 0) on. With a `width`, one over several lines that has another has a stray quote: it costs
    its first line."""
    while start < len(lines):
        row = _record(lines, start, delimiter)
        if width and row.height > 1 and width not in (row_width(row.cells), len(row.cells)):
            row = Row(start + 1, [], "quote")
        yield row
        start += row.height


def _record(lines: Sequence[str], start: int, delimiter: str) -> Row:
    """The record that begins on line `start` (from 0). A broken quote costs its own line, never the lines below."""
    text, height, place, cells = lines[start], 1, 0, []
    if '"' not in text:
        return Row(start + 1, text.split(delimiter, COLUMN_LIMIT), too_long(text))
    if simple := _simple_record(text, delimiter):
        return Row(start + 1, simple[: COLUMN_LIMIT + 1], too_long(text))
    while place <= len(text):
        if opening := _OPENING.match(text, place):
            end = _closing_quote(text, opening.end())
            while end < 0:  # the cell goes on in the next line
                if height == _CELL_LINES or start + height == len(lines) or len(text) > ENDLESS:
                    return Row(start + 1, [], "quote")
                seen, text = len(text), f"{text}\n{lines[start + height]}"
                height, end = height + 1, _closing_quote(text, seen)
            cell = text[opening.end() : end].replace('""', '"')
            end = _BLANKS.match(text, end + 1).end()
            if text[end : end + 1] not in ("", delimiter):
                return Row(start + 1, [], "quote")
        else:
            end = text.find(delimiter, place)
            end = end if end >= 0 else len(text)
            cell = text[place:end]
        if len(cells) <= COLUMN_LIMIT:
            cells.append(cell)
        place = end + 1
    return Row(start + 1, cells, too_long(*lines[start : start + height]), height)


def _simple_record(text: str, delimiter: str) -> list[str]:
    """The cells of a line that the standard library reads as it is meant, several times faster; [] where it doesn't."""
    try:
        cells = next(csv.reader([text], delimiter=delimiter, strict=True))
    except (csv.Error, TypeError):  # a cell that goes on, a broken quote; an odd delimiter
        return []
    blanks = any(cell[:1] == " " and cell.lstrip(" ")[:1] == '"' for cell in cells)  # before a quote, which is then no text
    return [] if blanks else cells


def _closing_quote(text: str, place: int) -> int:
    """Where the cell that began before `place` ends: at the last of an odd number of quotes (two in a row are one that is text); or -1."""
    return next((run.end() - 1 for run in _QUOTES.finditer(text, place) if len(run[0]) % 2), -1)


def row_width(cells: Sequence[str]) -> int:
    """How many cells a row has, empty ones at its end not counted beyond the second."""
    width = len(cells)
    while width > 2 and not cells[width - 1].strip():
        width -= 1
    return width


def usual_width(rows: Iterable[Row]) -> int:
    """How many columns most rows have: at least 2, and of two equally frequent numbers the smaller."""
    widths = Counter(row_width(row.cells) for row in rows)
    return max((width for width in widths if width > 1), key=lambda width: (widths[width], -width), default=2)


def is_filled(row: Row) -> bool:
    """Whether anything stands in a row: text, or something that could not be read."""
    return bool(row.fault) or any(map(str.strip, row.cells))


def too_long(*lines: str) -> str:
    return "long" if max(map(len, lines), default=0) > LINE_LIMIT else ""

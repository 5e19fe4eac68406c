"""Records: the rows of cells in lines with a separator, quoted where need be (RFC 4180), each with the line it begins on."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from playground.reading.formats.limits import COLUMN_LIMIT, ENDLESS, LINE_LIMIT
from playground.reading.formats.table import Row

_CELL_LINES = 100  # a quoted cell that goes on for more lines was never closed
_OPENING = re.compile(' *"')
_QUOTES = re.compile('"+')
_BLANKS = re.compile(" *")


class Widths(NamedTuple):
    """How many cells the rows of a table have, at least 2; empty ones at the end count only in `cells`."""

    cells: int  # in most rows
    usual: int  # in most of these
    widest: int  # in the widest of these
    rows: int = 0  # how many have so many


def csv_rows(lines: Sequence[str], delimiter: str, widths: Collection[int] = (), start: int = 0) -> Iterator[Row]:
    """The records from line `start` (from 0) on. With `widths`, one over several lines that has none of these numbers of cells, with or
    without the empty ones at its end, has a stray quote: it costs its first line."""
    while start < len(lines):
        row = _record(lines, start, delimiter)
        if widths and row.height > 1 and row_width(row.cells) not in widths and len(row.cells) not in widths:
            row = Row(start + 1, [], "quote")
        yield row
        start += row.height


def even_rows(lines: Sequence[str], delimiter: str, start: int = 0) -> list[Row]:
    """The records from line `start` (from 0) on, of which those over several lines are as wide as those on one line, or as the first."""
    rows = list(csv_rows(lines, delimiter, start=start))
    if all(row.height == 1 for row in rows):
        return rows
    found = measure([row for row in rows if row.height == 1 and len(row.cells) > 1] or rows)
    first = next((row_width(row.cells) for row in rows if is_filled(row)), 0)
    return list(csv_rows(lines, delimiter, {found.cells, found.usual, found.widest, first}, start))


def _record(lines: Sequence[str], start: int, delimiter: str) -> Row:
    """The record that begins on line `start` (from 0), with at most one cell more than COLUMN_LIMIT. A broken quote costs its own line,
    never the lines below; what is closed too late to be meant so, `csv_rows` has to see."""
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


def measure(rows: Iterable[Row]) -> Widths:
    """How wide most rows are, whether their last cells are filled or not; of two equally frequent numbers of cells the smaller counts.

    An empty cell is there for what could stand in it: where rows have three cells, a remark in the third is no stray separator.
    """
    counts = Counter((len(row.cells), row_width(row.cells)) for row in rows if len(row.cells) > 1 and any(map(str.strip, row.cells)))
    whole, filled = _sums(counts, 0), _sums(counts, 1)
    cells, width = _commonest(whole), _commonest(filled)
    if filled[width] > whole[cells]:  # separators at the end of some rows only
        return Widths(width, width, width, filled[width])
    alike = Counter({width: count for (one, width), count in counts.items() if one == cells})
    return Widths(cells, _commonest(alike), max(alike, default=2), whole[cells])


def _sums(counts: Counter[tuple[int, int]], side: int) -> Counter[int]:
    found: Counter[int] = Counter()
    for widths, count in counts.items():
        found[widths[side]] += count
    return found


def _commonest(counts: Counter[int]) -> int:
    return max(counts, key=lambda width: (counts[width], -width), default=2)


def is_filled(row: Row) -> bool:
    """Whether anything stands in a row: text, or something that could not be read."""
    return bool(row.fault) or any(map(str.strip, row.cells))


def too_long(*lines: str) -> str:
    return "long" if max(map(len, lines), default=0) > LINE_LIMIT else ""

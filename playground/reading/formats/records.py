"""Records: rows of cells in lines with a separator, quoted where needed (RFC 4180), numbered by their first lines; and the signs that may
separate the sides of a pair.

Sentences may contain the same signs, so such a sign must occur exactly once in nine of ten lines, with text on both sides.
"""

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from playground.reading.formats import COLUMN_LIMIT, ENDLESS, SAMPLE, Row, find_fault

_CELL_LINES = 100  # a quoted cell over more lines was never closed
_OPENING = re.compile(' *"')
_QUOTES = re.compile('"+')
_BLANKS = re.compile(" *")
STRONG = tuple(
    re.compile(mark, re.IGNORECASE)
    for mark in (
        r"<?[-=]{1,3}>|[→⇒⟶⟹↔⇔➔➡]",
        r"<sep>|\[sep\]|<tab>|\[tab\]|\\t",
        r"#{2,3}|@{3}|\${2,3}|\*{2,3}|~{2,3}",
        r"::",
        "[\x01\x1e\x1f]",  # control characters that programs use as separators
        r"\s={1,2}\s",
    )
)
WEAK = tuple(re.compile(mark) for mark in (r"\s[-–—]{1,2}\s", r"\s/{1,2}\s", r"\s~\s", r"\s?:\s|：", "=", " {3,}", "；", "，"))
_INNER = WEAK[-2:]
STOPS = tuple(".!?…。！？")


class Widths(NamedTuple):
    """The widths of a table's rows, at least 2; only `cells` counts empty cells at the end."""

    cells: int  # in most rows
    usual: int  # in most of these
    widest: int  # in the widest of these
    rows: int = 0  # rows with `cells` cells


def csv_rows(lines: Sequence[str], delimiter: str, widths: Collection[int] = (), start: int = 0) -> Iterator[Row]:
    """Yields the records from line `start` (from 0). With `widths`, a record over several lines of any other width, with or without empty
    cells at its end, has a stray quote: its first line is a fault."""
    while start < len(lines):
        row = _parse_record(lines, start, delimiter)
        if widths and row.height > 1 and row_width(row.cells) not in widths and len(row.cells) not in widths:
            row = Row(start + 1, [], "quote")
        yield row
        start += row.height


def iterate_even_rows(lines: Sequence[str], delimiter: str, start: int = 0) -> list[Row]:
    """Returns the records from line `start` (from 0); those over several lines must be as wide as single-line ones, or the first."""
    rows = list(csv_rows(lines, delimiter, start=start))
    if all(row.height == 1 for row in rows):
        return rows
    widths = measure_widths([row for row in rows if row.height == 1 and len(row.cells) > 1] or rows)
    first = next((row_width(row.cells) for row in rows if is_filled(row)), 0)
    return list(csv_rows(lines, delimiter, {widths.cells, widths.usual, widths.widest, first}, start))


def _parse_record(lines: Sequence[str], start: int, delimiter: str) -> Row:
    """Parses the record at line `start` (from 0), with at most one cell more than COLUMN_LIMIT. A broken quote makes only its own line a
    fault; `csv_rows` detects quotes that are closed too late."""
    text, height, place, cells = lines[start], 1, 0, []
    if '"' not in text:
        return Row(start + 1, text.split(delimiter, COLUMN_LIMIT), find_fault(text))
    if simple := _parse_simple_record(text, delimiter):
        return Row(start + 1, simple[: COLUMN_LIMIT + 1], find_fault(text))
    while place <= len(text):
        if opening := _OPENING.match(text, place):
            end = _find_closing_quote(text, opening.end())
            while end < 0:  # the cell continues on the next line
                if height == _CELL_LINES or start + height == len(lines) or len(text) > ENDLESS:
                    return Row(start + 1, [], "quote")
                scanned, text = len(text), f"{text}\n{lines[start + height]}"
                height, end = height + 1, _find_closing_quote(text, scanned)
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
    return Row(start + 1, cells, find_fault(*lines[start : start + height]), height)


def _parse_simple_record(text: str, delimiter: str) -> list[str]:
    """Parses a line with the standard library, several times faster; [] where its result could differ."""
    try:
        cells = next(csv.reader([text], delimiter=delimiter, strict=True))
    except (csv.Error, TypeError):  # a cell over several lines, a broken quote; an unusual delimiter
        return []
    blanks = any(cell[:1] == " " and cell.lstrip(" ")[:1] == '"' for cell in cells)  # before a quote, which then opens a cell
    return [] if blanks else cells


def _find_closing_quote(text: str, place: int) -> int:
    """Returns the end of a cell that began before `place`: the last of an odd run of quotes (two are an escaped one); or -1."""
    return next((run.end() - 1 for run in _QUOTES.finditer(text, place) if len(run[0]) % 2), -1)


def row_width(cells: Sequence[str]) -> int:
    """Returns the number of cells, without empty ones at the end beyond the second."""
    width = len(cells)
    while width > 2 and not cells[width - 1].strip():
        width -= 1
    return width


def measure_widths(rows: Iterable[Row]) -> Widths:
    """Measures the width of most rows, whether their last cells are filled or not; of equally frequent widths the smaller.

    An empty cell counts: where rows have three cells, text in the third is not a stray separator.
    """
    counts = Counter((len(row.cells), row_width(row.cells)) for row in rows if len(row.cells) > 1 and any(map(str.strip, row.cells)))
    whole, filled = Counter(), Counter()
    for (cell_count, width), count in counts.items():
        whole[cell_count] += count
        filled[width] += count
    cells, width = _find_commonest(whole), _find_commonest(filled)
    if filled[width] > whole[cells]:  # separators at the end of some rows only
        return Widths(width, width, width, filled[width])
    alike = Counter({width: count for (cell_count, width), count in counts.items() if cell_count == cells})
    return Widths(cells, _find_commonest(alike), max(alike, default=2), whole[cells])


def _find_commonest(counts: Counter[int]) -> int:
    return max(counts, key=lambda width: (counts[width], -width), default=2)


def is_filled(row: Row) -> bool:
    """Whether a row holds text or a fault."""
    return bool(row.fault) or any(map(str.strip, row.cells))


def find_separator(lines: Sequence[str], marks: Sequence[re.Pattern[str]]) -> re.Pattern[str] | None:
    """Returns the first of `marks` that splits nine of ten lines (and at least two) in two, or None."""
    filled = [line for line in lines[:SAMPLE] if line.strip()]
    return next((mark for mark in marks if _separates(mark, filled)), None)


def _separates(mark: re.Pattern[str], filled: Sequence[str]) -> bool:
    """Whether the mark separates sides: texts before it must vary (else it follows a speaker's name) and not be a running number."""
    cut = [parts for parts in (mark.split(line, 2) for line in filled) if len(parts) == 2 and all(map(str.strip, parts))]
    if len(cut) < 2 or len(cut) * 10 < len(filled) * 9:
        return False
    before, after = ([parts[side].strip() for parts in cut] for side in (0, 1))
    if mark in _INNER and are_prose(before, after):
        return False
    counted = any([text.rstrip(".)") for text in before] == [str(first + n) for n in range(len(cut))] for first in (0, 1))
    return len(set(before)) * 5 >= len(cut) * 4 and not counted


def are_prose(first: Sequence[str], last: Sequence[str]) -> bool:
    """Whether sentences were cut in the middle: last cells end as sentences do, first cells don't."""
    begins, ends = (sum(text.strip().endswith(STOPS) for text in texts) for texts in (first, last))
    return 2 * ends >= len(last) and 10 * begins < len(first)

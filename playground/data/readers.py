"""Readers: the bytes of uploaded files become rows of cells, every row with the number its first line has in an editor.

A reader says whether it recognises what was uploaded and yields its rows; `READERS` is asked in order. A new format is one more entry.
No reader decides what to keep: a row it can't understand is passed on with the reason.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from playground.config import Refusal
from playground.data.text import normalise

LINE_LIMIT = 10_000  # characters a line may have to become a pair
ENDLESS = 100_000  # characters: a file with such a line has lost its line ends
MOST_LINES = 400_000
COLUMN_LIMIT = 64
_CELL_LINES = 100  # a quoted cell that goes on for more lines was never closed
_SAMPLE = 1000  # lines looked at to recognise a format
_OPENING = re.compile(' *"')
_QUOTES = re.compile('"+')
_BLANKS = re.compile(" *")
_PACKED = {b"PK\x03\x04": "ZIP/Excel", b"\x1f\x8b": "gzip", b"%PDF": "PDF", b"\xd0\xcf\x11\xe0": "Word/Excel", b"PAR1": "Parquet"}


class Text(NamedTuple):
    """One uploaded file: a name fit to be shown, and its lines without their ends."""

    name: str
    lines: list[str]


class Row(NamedTuple):
    """`cells` as they stand in the file (at most one more than COLUMN_LIMIT), or the reason why there are none in `fault`."""

    line: int
    cells: list[str]
    fault: str = ""
    height: int = 1  # lines it goes over


@dataclass(frozen=True)
class Reader:
    kind: str
    recognises: Callable[[list[Text]], bool]
    rows: Callable[[list[Text]], Iterator[Row]]


def read_text(name: str, data: bytes) -> Text:
    """The lines of a UTF-8 file, with or without byte order mark, ended by LF, CRLF or CR. Raises Refusal for anything else."""
    name = normalise(name.replace("\\", "/").rsplit("/", 1)[-1])[:60] or "?"
    for signature, what in _PACKED.items():
        if data.startswith(signature):
            raise Refusal("data.packed", name=name, what=what)
    body = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = len(_split(body[: error.start].decode("utf-8") + "?"))
        raise Refusal("data.not_utf8", name=name, line=line) from None
    if "\0" in text:
        raise Refusal("data.binary", name=name, line=len(_split(text[: text.index("\0") + 1])))
    if text.count("\n") + text.count("\r") > 2 * MOST_LINES:  # before a list of them is made; CRLF counts twice
        raise Refusal("data.too_many_lines", name=name, limit=MOST_LINES)
    lines = _split(text)
    if len(lines) > MOST_LINES:
        raise Refusal("data.too_many_lines", name=name, limit=MOST_LINES)
    for number, line in enumerate(lines, 1):
        if len(line) > ENDLESS:
            raise Refusal("data.endless_line", name=name, line=number, limit=ENDLESS)
    return Text(name, lines)


def _split(text: str) -> list[str]:
    """Lines as an editor counts them. Not str.splitlines: that also splits at U+2028, form feeds and other characters of a sentence."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


# --- two files, line by line ---


def _rows_of_two(texts: list[Text]) -> Iterator[Row]:
    one, two = texts
    if _has_tabs(one) and _has_tabs(two):
        raise Refusal("data.two_tables", one=one.name, two=two.name)
    if len(one.lines) != len(two.lines):
        raise Refusal("data.unequal", one=one.name, lines_one=len(one.lines), two=two.name, lines_two=len(two.lines))
    for line, cells in enumerate(zip(one.lines, two.lines, strict=True), 1):
        yield Row(line, list(cells), _too_long(*cells))


# --- one file, cells separated by tabs: quotes are characters like any other ---


def _has_tabs(text: Text) -> bool:
    filled = [line for line in text.lines[:_SAMPLE] if line.strip()]
    return bool(filled) and sum("\t" in line for line in filled) * 2 >= len(filled)


def _rows_of_tsv(texts: list[Text]) -> Iterator[Row]:
    for number, line in enumerate(texts[0].lines, 1):
        yield Row(number, line.split("\t", COLUMN_LIMIT), _too_long(line))


# --- one file, cells separated by commas or semicolons, quoted where need be (RFC 4180) ---


def _delimiter(text: Text) -> str:
    """The separator that gives most rows the same number of cells; "" when neither makes a table.

    Of two that do, the one that makes two columns, then the one that no space follows (as it does in a sentence), then the comma.
    """
    sample = Text(text.name, text.lines[:_SAMPLE])
    best = (0, False, False, "")
    for delimiter in (",", ";"):
        widths = Counter(row_width(row.cells) for row in csv_rows(sample, delimiter) if any(map(str.strip, row.cells)))
        tables = [(count, width == 2) for width, count in widths.items() if width > 1]
        if tables and 2 * sum(count for count, _ in tables) >= widths.total():
            spaced = any(f"{delimiter} " in line for line in sample.lines)
            best = max(best, (*max(tables), not spaced, delimiter), key=lambda found: found[:3])
    return best[3]


def _rows_of_csv(texts: list[Text]) -> Iterator[Row]:
    delimiter = _delimiter(texts[0])
    rows = list(csv_rows(texts[0], delimiter))
    flat = [row for row in rows if row.height == 1]
    return iter(rows if len(flat) == len(rows) else csv_rows(texts[0], delimiter, usual_width(flat or rows)))


def csv_rows(text: Text, delimiter: str, width: int = 0) -> Iterator[Row]:
    """The records of a CSV file. With a `width`, one over several lines that has another has a stray quote: it costs its first line."""
    start = 0
    while start < len(text.lines):
        row = _record(text.lines, start, delimiter)
        if width and row.height > 1 and row_width(row.cells) != width:
            row = Row(start + 1, [], "quote")
        yield row
        start += row.height


def _record(lines: list[str], start: int, delimiter: str) -> Row:
    """The record that begins on line `start` (from 0). A broken quote costs its own line, never the lines below."""
    text, height, place, cells = lines[start], 1, 0, []
    if '"' not in text:
        return Row(start + 1, text.split(delimiter, COLUMN_LIMIT), _too_long(text))
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
    return Row(start + 1, cells, _too_long(*lines[start : start + height]), height)


def _closing_quote(text: str, place: int) -> int:
    """Where the cell that began before `place` ends: at the last of an odd number of quotes (two in a row are one that is text); or -1."""
    return next((run.end() - 1 for run in _QUOTES.finditer(text, place) if len(run[0]) % 2), -1)


def row_width(cells: list[str]) -> int:
    """How many cells a row has, empty ones at its end not counted beyond the second."""
    width = len(cells)
    while width > 2 and not cells[width - 1].strip():
        width -= 1
    return width


def usual_width(rows: Sequence[Row]) -> int:
    """How many columns most rows have: at least 2, and of two equally frequent numbers the smaller."""
    widths = Counter(row_width(row.cells) for row in rows)
    return max((width for width in widths if width > 1), key=lambda width: (widths[width], -width), default=2)


def _too_long(*lines: str) -> str:
    return "long" if any(len(line) > LINE_LIMIT for line in lines) else ""


READERS = (
    Reader("two_files", lambda texts: len(texts) == 2, _rows_of_two),
    Reader("tsv", lambda texts: _has_tabs(texts[0]), _rows_of_tsv),
    Reader("csv", lambda texts: _delimiter(texts[0]) != "", _rows_of_csv),
)


def refusal(texts: list[Text]) -> Refusal:
    """Why no reader recognises this one file: its quotes, or the lack of a second column."""
    rows = [row for row in csv_rows(texts[0], ",") if row.fault or any(map(str.strip, row.cells))]
    broken = [row.line for row in rows if row.fault == "quote"]
    if 2 * len(broken) > len(rows):
        return Refusal("data.open_quotes", name=texts[0].name, count=len(broken), line=broken[0])
    return Refusal("data.one_column", name=texts[0].name, line=next((row.line for row in rows if len(row.cells) == 1), 1))

"""Formats: one module for each family. A reader takes sources and returns a table, or None for another format; its input
and output, the limits and the register are here. Read in this order:

records (lines with a separator) · delimited · marked · lines ·
interleaved · wrapped · sheets · xml_events and exchange · program_texts · annotated · parquet · items and json_lists.

Shared: languages (their names, and the language of a line) · column_names and columns (columns by their names and cells).

Every module here is imported, and each of its readers registers itself with its confidence: a new format is one new module.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple

BYTE_LIMIT = 20 * 1024**2  # all files of one upload together
UNPACKED_LIMIT = 50 * 1024**2  # bytes, counted while unpacking
MEMBER_LIMIT = 100  # files in one archive
LINE_LIMIT = 10_000  # characters in a line of a pair
ENDLESS = 100_000  # characters: a file of such lines has lost its line ends
MAX_LINES = 400_000  # or rows, or items
COLUMN_LIMIT = 64
PAIR_LIMIT = 200_000
JSON_LIMIT = 64_000_000  # bytes of UTF-8 of a saved upload, or of any other file of a run; larger files are never opened
SECONDS = 10  # timeout of the whole reading
MEMORY_LIMIT = 300 * 1024**2  # bytes, for the whole reading
SAMPLE = 1000  # lines examined to recognise a format

Notes = tuple[tuple[str, dict[str, Any]], ...]  # messages for the user: keys of words/ and their values


class Source(NamedTuple):
    """One file after unpacking and decoding: a displayable name, its bytes, and its lines without line ends (none if it is binary)."""

    name: str
    data: bytes
    lines: list[str]


class Row(NamedTuple):
    """`cells` as in the file (at most one more than COLUMN_LIMIT), or the reason for their absence in `fault`."""

    line: int  # its first line, from 1, in the table's unit
    cells: list[str]
    fault: str = ""
    height: int = 1  # lines it spans


@dataclass(frozen=True)
class Table:
    """A reader's result: rows of cells, and what the format declares about its columns."""

    kind: str
    rows: Iterable[Row]
    columns: tuple[str, ...] = ()  # names or languages, () if the format declares none
    unit: str = "line"  # unit of Row.line: "line" of the file, "row" of a sheet, "item" of a list
    pair: tuple[int, int] | None = None  # source and target columns, if the format declares them
    credit: str = ""
    notes: Notes = ()
    language_pairs: tuple[tuple[int, int, int], ...] = ()  # (column, column, rows that fill both), if several can be chosen
    by_order: bool = False  # whether pairs are told only by the order of lines


class Confidence(IntEnum):
    """How certain a match is. Formats of equal confidence never match the same file, so their order is irrelevant."""

    SIGNATURE = 7  # first bytes, a root element or marks unique to the format
    TRIMMED = 6  # comments before its lines, or line numbers; without them another format
    LAYOUT = 5  # its lines have a layout of their own: labels, cards, quotes
    TABS = 4  # most lines contain a tab, as sentences don't
    SIGNS = 3  # a sign between the sides that sentences hardly contain
    COLUMNS = 2  # columns cut at a comma or another sign that sentences contain too
    LOOSE = 1  # a sign that is common in sentences, or a change of script
    ORDER = 0  # lines follow each other in a typical order


class Format(NamedTuple):
    read: Callable[[Sequence[Source]], Table | None]
    confidence: Confidence
    is_whole: bool  # whether one line may hold the whole file


FORMATS: list[Format] = []


def reads(confidence: Confidence, files: tuple[int, ...] = (1,), is_whole: bool = False) -> Callable[[Callable], Callable]:
    """Registers a reader, which is called with as many sources as one of `files`. It returns None for another format, and raises Refusal,
    and nothing else, for a broken file of its own."""

    def register(read: Callable[..., Table | None]) -> Callable[..., Table | None]:
        FORMATS.append(Format(lambda sources: read(*sources) if len(sources) in files else None, confidence, is_whole))
        return read

    return register


def read_first(formats: Iterable[Format], sources: Sequence[Source]) -> Table | None:
    """Returns the table of the first reader that matches. Raises Refusal where a reader recognises its format but finds it broken."""
    return next((table for table in (entry.read(sources) for entry in formats) if table is not None), None)


def comment_row(number: int, line: str) -> Row:
    """Makes the row of a comment, which holds no pair; a blank line stays blank."""
    return Row(number, [], "header") if line.strip() else Row(number, [""])


def find_fault(*lines: str) -> str:
    """Returns "long" if any of the lines is too long for a pair, else ""."""
    return "long" if max(map(len, lines), default=0) > LINE_LIMIT else ""


for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
FORMATS.sort(key=lambda entry: -entry.confidence)
WHOLE = tuple(entry for entry in FORMATS if entry.is_whole)
BY_LINE = tuple(entry for entry in FORMATS if not entry.is_whole)

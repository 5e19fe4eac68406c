"""The interface between reading a file's bytes and choosing pairs: sources in, one table out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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


def comment_row(number: int, line: str) -> Row:
    """Makes the row of a comment, which holds no pair; a blank line stays blank."""
    return Row(number, [], "header") if line.strip() else Row(number, [""])


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


# Returns None for another format. Raises Refusal, and nothing else, for a broken file of its own.
Reader = Callable[[Sequence[Source]], Table | None]

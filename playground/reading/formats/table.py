"""What travels between reading a file's bytes and choosing pairs from them: sources in, one table out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Notes = tuple[tuple[str, dict[str, Any]], ...]  # sentences for a person: a key of words/ and what is put into it


class Source(NamedTuple):
    """One file after unpacking and decoding: a name fit to be shown, its bytes, and its lines without their ends (none if it is binary)."""

    name: str
    data: bytes
    lines: list[str]


class Row(NamedTuple):
    """`cells` as they stand in the file (at most one more than COLUMN_LIMIT), or the reason why there are none in `fault`."""

    line: int  # where it begins, from 1, counted in the table's unit
    cells: list[str]
    fault: str = ""
    height: int = 1  # lines it goes over


def comment_row(number: int, line: str) -> Row:
    """The row of a line that tells of the file and holds no pair; a blank one stays blank."""
    return Row(number, [], "header") if line.strip() else Row(number, [""])


@dataclass(frozen=True)
class Table:
    """What a reader understood: rows of cells, and what the format itself says about its columns."""

    kind: str
    rows: Iterable[Row]
    columns: tuple[str, ...] = ()  # names or languages of the columns, () when the format knows none
    unit: str = "line"  # what Row.line counts: "line" of the file, "row" of a sheet, "item" of a list
    pair: tuple[int, int] | None = None  # the columns of source and target, when the format says
    credit: str = ""
    notes: Notes = ()
    together: tuple[tuple[int, int, int], ...] = ()  # (column, column, rows that fill both) where there were several to choose from
    by_order: bool = False  # whether nothing says that two lines are a pair but that one follows the other


# None: not this format. Raises Refusal, and nothing else, when it is this format but broken.
Reader = Callable[[Sequence[Source]], Table | None]

"""A guard against formulas: what a spreadsheet would compute is written with an apostrophe before it, and read back without.

A file in which any cell is guarded says so in its header, whose names have apostrophes too. In such a file, and in no other, one
apostrophe before a sign that could begin a formula is no part of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from playground.reading.formats.table import Row
from playground.reading.text import normalise

SIGN = "'"
# The wide ones count as such where text is written wide. ui/static/csv.js has the same rule; tests/js/test_scripts.py compares them.
_DANGEROUS = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def guarded(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """The rows to be written, header first."""
    written = [[SIGN + cell if _DANGEROUS.match(cell) else cell for cell in row] for row in rows]
    marked = any(cell.startswith(SIGN) and _DANGEROUS.match(cell) for row in written for cell in row)
    return [[(SIGN if marked else "") + name for name in header], *written]


def restored(rows: Sequence[Row]) -> Sequence[Row]:
    """Rows as they were before they were guarded; as they are, if the first says nothing of it."""
    first = [normalise(cell) for cell in rows[0].cells] if rows else []
    if len(first) < 2 or not all(len(name) > 1 and name.startswith(SIGN) for name in first):
        return rows
    header = rows[0]._replace(cells=[name.removeprefix(SIGN) for name in first])
    return [header, *(row._replace(cells=[_bare(cell) for cell in row.cells]) for row in rows[1:])]


def _bare(cell: str) -> str:
    return cell[1:] if cell.startswith(SIGN) and _DANGEROUS.match(cell) else cell

"""Guard against formula injection: cells that a spreadsheet would run get an apostrophe, which is removed when they are read back.

A file with any guarded cell marks every name in its header with an apostrophe. In such a file, and no other, one apostrophe before a
possible formula is not part of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from playground.reading.formats.table import Row
from playground.reading.text import normalise

SIGN = "'"
# Fullwidth signs count as such in East Asian text. ui/static/downloads.js has the same rule; tests/js/test_scripts.py compares them.
_DANGEROUS = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def guard_rows(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """Returns the rows to write, header first, with guards."""
    written = [[SIGN + cell if _DANGEROUS.match(cell) else cell for cell in row] for row in rows]
    marked = any(cell.startswith(SIGN) and _DANGEROUS.match(cell) for row in written for cell in row)
    return [[(SIGN if marked else "") + name for name in header], *written]


def unguard_rows(rows: Sequence[Row]) -> Sequence[Row]:
    """Returns rows without guards; unchanged if the first row declares none."""
    first = [normalise(cell) for cell in rows[0].cells] if rows else []
    if len(first) < 2 or not all(len(name) > 1 and name.startswith(SIGN) for name in first):
        return rows
    header = rows[0]._replace(cells=[name.removeprefix(SIGN) for name in first])
    return [header, *(row._replace(cells=[_unguard(cell) for cell in row.cells]) for row in rows[1:])]


def _unguard(cell: str) -> str:
    return cell[1:] if cell.startswith(SIGN) and _DANGEROUS.match(cell) else cell

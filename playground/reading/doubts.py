"""Doubts: cells that are probably not sentences: row numbers and ids, one very frequent value, and the error values that spreadsheets and
exports write."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median_low
from typing import Any

from playground.reading.filtering import Pair
from playground.reading.formats.table import Row

ERRORS = frozenset({
    "__NULL__", "#VALUE!", "#REF!", "#NAME?", "#DIV/0!", "#NUM!", "#NULL!", "#N/A", "#ERROR!", "#SPILL!", "#CALC!", "#FIELD!",
    "#WERT!", "#BEZUG!", "#ZAHL!", "#NV", "#VALEUR!", "#NOM?", "#NOMBRE!", "#¡VALOR!", "#¡REF!", "#¿NOMBRE?", "#¡DIV/0!", "#¡NUM!",
    "#N/D", "#VALOR!", "#NOME?", "#RIF!", "#VALORE!",
})  # fmt: skip
_WAITING = "Loading..."  # a spreadsheet's only beside errors; elsewhere a program's text
_MIN_ROWS = 8
_ID = re.compile(r"(?=\D*\d)[\w.:#/-]{1,40}")
_DIGITS = re.compile(r"\d+")
_SHAPES = 2  # of ids with their digits replaced: "T000", "T001"
_MIN_OFTEN, _OFTEN, _MORE_OFTEN = 3, 0.05, 3  # rows; fraction of rows; times the median count of a value
_MIN_DIFFERENT = 0.25  # fraction of distinct values: fewer are labels


def remove_errors(rows: list[Row]) -> tuple[list[Row], dict[str, int]]:
    """Returns the rows with error cells emptied, and the count of each error."""
    counts = Counter(cell for row in rows for cell in row.cells if cell in ERRORS)
    if not counts:
        return rows, {}
    errors = {*counts, _WAITING}
    counts[_WAITING] = sum(row.cells.count(_WAITING) for row in rows)
    return [row if errors.isdisjoint(row.cells) else row._replace(cells=["" if cell in errors else cell for cell in row.cells])
            for row in rows], dict(+counts)  # fmt: skip


def find_doubts(pairs: Sequence[Pair]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields notes about sides of ids beside sentences, and sides dominated by one value."""
    sides = [[pair.src for pair in pairs], [pair.tgt for pair in pairs]]
    for name, side, other in (("source", *sides), ("target", *sides[::-1])):
        if _are_ids(side) and 2 * sum(_DIGITS.search(text) is not None for text in other) < len(other):
            yield f"data.note_ids_{name}", {"example": side[0]}
        else:
            yield from _note_frequent(name, side, pairs)


def _are_ids(side: Sequence[str]) -> bool:
    """Whether all cells are numbers, or ids of one or two shapes."""
    if len(side) < _MIN_ROWS or not all(map(_ID.fullmatch, side)):
        return False
    return len({_DIGITS.sub("0", text) for text in side}) <= _SHAPES


def _note_frequent(name: str, side: Sequence[str], pairs: Sequence[Pair]) -> Iterator[tuple[str, dict[str, Any]]]:
    counts = Counter(side)
    value, count = counts.most_common(1)[0]
    enough = max(_MIN_OFTEN, _OFTEN * len(side), _MORE_OFTEN * median_low(counts.values()))
    if count >= enough and len(counts) >= _MIN_DIFFERENT * len(side) and not value.isdigit():
        yield f"data.note_often_{name}", {"value": value[:60], "count": count, "of": len(side), "line": pairs[side.index(value)].line}

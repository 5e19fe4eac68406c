"""Doubts: what seems to be no sentences in what was taken for them: numbers and ids that name the rows, one value again and again, and
what a spreadsheet or an export writes where it has nothing to write."""

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
_WAITING = "Loading..."  # a spreadsheet's where it stands beside errors; a program's text elsewhere
_MIN_ROWS = 8
_ID = re.compile(r"(?=\D*\d)[\w.:#/-]{1,40}")
_DIGITS = re.compile(r"\d+")
_SHAPES = 2  # of ids once their digits are alike: "T000", "T001"
_MIN_OFTEN, _OFTEN, _MORE_OFTEN = 3, 0.05, 3  # rows, their share, times as many as other values have
_MIN_DIFFERENT = 0.25  # values in a row: fewer are labels


def without_errors(rows: list[Row]) -> tuple[list[Row], dict[str, int]]:
    """The rows with nothing where a cell holds an error, and how often each error was there."""
    counts = Counter(cell for row in rows for cell in row.cells if cell in ERRORS)
    if not counts:
        return rows, {}
    gone = {*counts, _WAITING}
    counts[_WAITING] = sum(row.cells.count(_WAITING) for row in rows)
    return [row if gone.isdisjoint(row.cells) else row._replace(cells=["" if cell in gone else cell for cell in row.cells])
            for row in rows], dict(+counts)  # fmt: skip


def doubts(pairs: Sequence[Pair]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Notes about sides that are all ids beside sentences, or are one value far more often than any other."""
    sides = [[pair.src for pair in pairs], [pair.tgt for pair in pairs]]
    for name, side, other in (("source", *sides), ("target", *sides[::-1])):
        if _are_ids(side) and 2 * sum(_DIGITS.search(text) is not None for text in other) < len(other):
            yield f"data.note_ids_{name}", {"example": side[0]}
        else:
            yield from _often(name, side, pairs)


def _are_ids(side: Sequence[str]) -> bool:
    """Whether all are numbers, or ids of one or two shapes."""
    if len(side) < _MIN_ROWS or not all(map(_ID.fullmatch, side)):
        return False
    return len({_DIGITS.sub("0", text) for text in side}) <= _SHAPES


def _often(name: str, side: Sequence[str], pairs: Sequence[Pair]) -> Iterator[tuple[str, dict[str, Any]]]:
    counts = Counter(side)
    value, count = counts.most_common(1)[0]
    enough = max(_MIN_OFTEN, _OFTEN * len(side), _MORE_OFTEN * median_low(counts.values()))
    if count >= enough and len(counts) >= _MIN_DIFFERENT * len(side) and not value.isdigit():
        yield f"data.note_often_{name}", {"value": value[:60], "count": count, "of": len(side), "line": pairs[side.index(value)].line}

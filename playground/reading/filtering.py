"""Filtering: rows of cells become pairs of sentences, or are dropped for one reason each; and cells that are probably not sentences: row
numbers and ids, one very frequent value, and the error values that spreadsheets and exports write."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median_low
from typing import Any, NamedTuple

from playground.config import Refusal
from playground.reading.column_mapping import Plan, shorten_cell
from playground.reading.encodings import is_damaged
from playground.reading.formats import PAIR_LIMIT, Row
from playground.reading.formats.languages import is_language
from playground.reading.text import count_kinds, normalise, undo

REASONS = (
    "header", "blank", "empty_source", "empty_target", "one_column", "extra_columns", "long", "quote", "damaged", "broken", "unpaired",
    "untranslated",
)  # fmt: skip
MAX_DROPPED_ROWS = 50  # shown for each reason
PREVIEW_ROWS = 8  # rows
_CELLS_AT_ONCE = 10_000
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
_MAX_LANGUAGE_CHARACTERS = 40
_MIN_DIFFERENT = 0.25  # fraction of distinct values: fewer are labels
_SIGNS = "&<@▁#[{"  # every kind of escape contains one of these


class Pair(NamedTuple):
    src: str
    tgt: str
    line: int  # first line, from 1


class PreviewRow(NamedTuple):
    """A row for display: its normalised cells, cut to MAX_CELL_CHARACTERS, and the reason it was dropped ("" if it wasn't)."""

    line: int
    cells: tuple[str, ...]
    reason: str = ""


@dataclass
class FilteredRows:
    pairs: list[Pair] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)  # of each pair, with a group column
    dropped: dict[str, list[int]] = field(default_factory=lambda: {reason: [] for reason in REASONS})
    dropped_rows: dict[str, list[PreviewRow]] = field(default_factory=lambda: {reason: [] for reason in REASONS})
    preview: list[PreviewRow] = field(default_factory=list)


@dataclass(frozen=True)
class RowFilter:
    """The conditions under which a row becomes a pair."""

    plan: Plan
    named: bool  # whether the format names its columns: then rows may be shorter
    longest: int  # maximum characters per side
    guessed: bool = False  # whether the encoding was guessed: then bytes may be undecodable
    undo: Mapping[int, Iterable[str]] = field(default_factory=dict)  # column -> kinds of escapes to undo

    def split_row(self, row: Row) -> tuple[str, str, str]:
        """Returns (source, target, "") or (…, …, reason). A row with extra cells is dropped: its sides are ambiguous."""
        plan, cells = self.plan, row.cells
        if row.line == plan.header and plan.header:
            return "", "", "header"
        if row.fault:
            return "", "", row.fault
        if plan.has_extra_cells(cells):
            return "", "", "extra_columns"
        src, tgt = (cells[place] if place < len(cells) else "" for place in (plan.source, plan.target))
        if self.guessed and (is_damaged(src) or is_damaged(tgt)):
            return "", "", "damaged"
        src, tgt = normalise(self.undo_escapes(plan.source, src)), normalise(self.undo_escapes(plan.target, tgt))
        if src and plan.joined:
            src = normalise(" ".join([src, *(cells[place] for place in plan.joined if place < len(cells))]))
        if src and tgt:
            return src, tgt, "long" if len(src) > self.longest or len(tgt) > self.longest else ""
        if not any(map(normalise, cells)):
            return "", "", "blank"
        if len(cells) < 2 and not self.named:
            return "", "", "one_column"
        return "", "", "empty_target" if src else "empty_source"

    def undo_escapes(self, place: int, cell: str) -> str:
        """Returns a cell of that column with the chosen escapes undone."""
        return undo(cell, self.undo[place]) if self.undo.get(place) else cell


def filter_rows(name: str, rows: Iterable[Row], row_filter: RowFilter, lines: Sequence[str]) -> FilteredRows:
    """Splits the rows into kept and dropped. `lines` show a row that could not be split into cells. Raises Refusal for too many pairs."""
    filtered = FilteredRows()
    for row in rows:
        src, tgt, reason = row_filter.split_row(row)
        if reason:
            filtered.dropped[reason].append(row.line)
        elif len(filtered.pairs) == PAIR_LIMIT:
            raise Refusal("data.too_many_pairs", name=name, limit=PAIR_LIMIT)
        else:
            filtered.pairs.append(Pair(src, tgt, row.line))
            if (group := row_filter.plan.group) is not None:
                filtered.groups.append(normalise(row.cells[group]) if group < len(row.cells) else "")
        is_sampled = reason and len(filtered.dropped_rows[reason]) < MAX_DROPPED_ROWS
        if is_sampled or len(filtered.preview) < PREVIEW_ROWS:
            cells = map(row_filter.undo_escapes, range(len(row.cells)), row.cells) if row.cells else lines[row.line - 1 : row.line] or [""]
            sample = PreviewRow(row.line, tuple(map(shorten_cell, cells)), reason)
            if len(filtered.preview) < PREVIEW_ROWS:
                filtered.preview.append(sample)
            if is_sampled:
                filtered.dropped_rows[reason].append(sample)
    return filtered


def count_escapes(rows: Sequence[Row], plan: Plan) -> dict[int, dict[str, int]]:
    """Counts tools' escapes in the source and target columns: column -> kind of escape -> number of sentences."""
    below = [row.cells for row in rows if not row.fault and row.line != plan.header]
    counts = {}
    for place in (plan.source, plan.target):
        cells = [cells[place] for cells in below if place < len(cells)]
        counts[place] = count_kinds(cells) if _has_any_sign(cells) else {}
    return counts


def _has_any_sign(cells: Sequence[str]) -> bool:
    """Whether any cell holds a sign of escapes, without copying all cells at once."""
    parts = ("".join(cells[start : start + _CELLS_AT_ONCE]) for start in range(0, len(cells), _CELLS_AT_ONCE))
    return any(sign in part for part in parts for sign in _SIGNS)


# --- doubts ---


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
    """Yields notes about sides of ids beside sentences, sides of languages, and sides dominated by one value."""
    sides = [[pair.src for pair in pairs], [pair.tgt for pair in pairs]]
    for name, side, other in (("source", *sides), ("target", *sides[::-1])):
        shapes = {_DIGITS.sub("0", text) for text in side} if len(side) >= _MIN_ROWS and all(map(_ID.fullmatch, side)) else set()
        if 0 < len(shapes) <= _SHAPES and 2 * sum(_DIGITS.search(text) is not None for text in other) < len(other):
            yield f"data.note_ids_{name}", {"example": side[0]}
        elif _are_languages(side):
            yield "data.note_language_side", {"value": side[0]}
        else:
            yield from _note_frequent(name, side, pairs)


def _are_languages(side: Sequence[str]) -> bool:
    """Whether most cells are languages that repeat: the sentences of several languages stand below each other."""
    if 2 * len(set(side)) > len(side) or max(map(len, side)) > _MAX_LANGUAGE_CHARACTERS:
        return False
    return 4 * sum(count for value, count in Counter(side).items() if is_language(value)) >= 3 * len(side)


def _note_frequent(name: str, side: Sequence[str], pairs: Sequence[Pair]) -> Iterator[tuple[str, dict[str, Any]]]:
    counts = Counter(side)
    value, count = counts.most_common(1)[0]
    enough = max(_MIN_OFTEN, _OFTEN * len(side), _MORE_OFTEN * median_low(counts.values()))
    if count >= enough and len(counts) >= _MIN_DIFFERENT * len(side) and not value.isdigit():
        yield f"data.note_often_{name}", {"value": value[:60], "count": count, "of": len(side), "line": pairs[side.index(value)].line}

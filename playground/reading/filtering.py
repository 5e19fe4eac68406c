"""Filtering: rows of cells become pairs of sentences, or are dropped for one reason each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.column_mapping import MAX_CELL_CHARACTERS, Plan
from playground.reading.encodings import is_damaged
from playground.reading.formats import escapes
from playground.reading.formats.limits import PAIR_LIMIT
from playground.reading.formats.table import Row
from playground.reading.text import normalise

REASONS = (
    "header", "blank", "empty_source", "empty_target", "one_column", "extra_columns", "long", "quote", "damaged", "broken", "unpaired",
    "untranslated",
)  # fmt: skip
MAX_DROPPED_ROWS = 50  # dropped rows that can be looked at, for each reason
PREVIEW_ROWS = 8  # shown as they were understood
_CELLS_AT_ONCE = 10_000
_SIGNS = "&<@▁#[{"  # one of them is in whatever a tool left


class Pair(NamedTuple):
    src: str
    tgt: str
    line: int  # where it begins, as an editor counts


class PreviewRow(NamedTuple):
    """A row as it can be shown: its cells without what is hidden, cut to MAX_CELL_CHARACTERS; and why it was dropped, "" if it wasn't."""

    line: int
    cells: tuple[str, ...]
    reason: str = ""


@dataclass
class FilteredRows:
    kept: list[Pair] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)  # of each pair, where a column says
    dropped: dict[str, list[int]] = field(default_factory=lambda: {reason: [] for reason in REASONS})
    shown: dict[str, list[PreviewRow]] = field(default_factory=lambda: {reason: [] for reason in REASONS})
    preview: list[PreviewRow] = field(default_factory=list)


@dataclass(frozen=True)
class RowFilter:
    """What a row must be to give a pair."""

    plan: Plan
    named: bool  # whether the format names its columns: then a row may have fewer cells
    longest: int  # characters on a side
    guessed: bool = False  # whether an encoding was guessed: then there may be bytes that are no text
    undo: Mapping[int, Iterable[str]] = field(default_factory=dict)  # column -> the kinds of `escapes` to be undone in it

    def judge(self, row: Row) -> tuple[str, str, str]:
        """(source, target, "") or (…, …, why it is no pair). Of more cells than usual nobody knows which to take."""
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
        src, tgt = normalise(self.undone(plan.source, src)), normalise(self.undone(plan.target, tgt))
        if src and plan.joined:
            src = normalise(" ".join([src, *(cells[place] for place in plan.joined if place < len(cells))]))
        if src and tgt:
            return src, tgt, "long" if len(src) > self.longest or len(tgt) > self.longest else ""
        if not any(map(normalise, cells)):
            return "", "", "blank"
        if len(cells) < 2 and not self.named:
            return "", "", "one_column"
        return "", "", "empty_target" if src else "empty_source"

    def undone(self, place: int, cell: str) -> str:
        """A cell of that column without the traces that are to be undone in it."""
        return escapes.undo(cell, self.undo[place]) if self.undo.get(place) else cell


def filter_rows(name: str, rows: Iterable[Row], row_filter: RowFilter, raw: Callable[[Row], str]) -> FilteredRows:
    """Every row, kept or dropped. `raw` gives the text of a row that has no cells. Raises Refusal if there are too many pairs."""
    found = FilteredRows()
    for row in rows:
        src, tgt, reason = row_filter.judge(row)
        if reason:
            found.dropped[reason].append(row.line)
        elif len(found.kept) == PAIR_LIMIT:
            raise Refusal("data.too_many_pairs", name=name, limit=PAIR_LIMIT)
        else:
            found.kept.append(Pair(src, tgt, row.line))
            if (group := row_filter.plan.group) is not None:
                found.groups.append(normalise(row.cells[group]) if group < len(row.cells) else "")
        wanted = reason and len(found.shown[reason]) < MAX_DROPPED_ROWS
        if wanted or len(found.preview) < PREVIEW_ROWS:
            cells = map(row_filter.undone, range(len(row.cells)), row.cells) if row.cells else [raw(row)]
            seen = PreviewRow(row.line, tuple(normalise(cell[: 2 * MAX_CELL_CHARACTERS])[:MAX_CELL_CHARACTERS] for cell in cells), reason)
            if len(found.preview) < PREVIEW_ROWS:
                found.preview.append(seen)
            if wanted:
                found.shown[reason].append(seen)
    return found


def traces(rows: Sequence[Row], plan: Plan) -> dict[int, dict[str, int]]:
    """What tools left in the sentences of the two chosen columns: column -> kind of `escapes` -> number of sentences."""
    below = [row.cells for row in rows if not row.fault and row.line != plan.header]
    found = {}
    for place in (plan.source, plan.target):
        cells = [cells[place] for cells in below if place < len(cells)]
        found[place] = escapes.found(cells) if _has_signs(cells) else {}
    return found


def _has_signs(cells: Sequence[str]) -> bool:
    """Quickly, and without a copy of all of them."""
    parts = ("".join(cells[start : start + _CELLS_AT_ONCE]) for start in range(0, len(cells), _CELLS_AT_ONCE))
    return any(sign in part for part in parts for sign in _SIGNS)

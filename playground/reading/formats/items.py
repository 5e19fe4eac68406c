"""Items: values of JSON, Parquet and the Hub (dictionaries, lists) become rows of cells under named columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from playground.config import Refusal
from playground.reading.formats.columns import CREDITS, find_pair, is_language, plain, rank_columns, summarise_column
from playground.reading.formats.limits import COLUMN_LIMIT, LINE_LIMIT, MAX_LINES, SAMPLE, UNPACKED_LIMIT
from playground.reading.formats.table import Notes, Row, Table
from playground.reading.formats.values import find_texts_by_language, flatten, make_cell, unwrap_records
from playground.reading.text import normalise

CELL_LIMIT = 10 * MAX_LINES  # cells in all rows together
VALUE_LIMIT = CELL_LIMIT // 2  # values in one document held in memory
BROKEN = object()  # marks an unreadable item
_PREFIX, _FILLER = 1000, "…" * LINE_LIMIT
_SPLIT_CREDITS = 20  # distinct credit lines of a credit column


class _Collected:
    """Collects items: their cells by column."""

    def __init__(self, name: str, names: Sequence[str]) -> None:
        self.name = name
        self.columns: dict[Any, int] = {key: place for place, key in enumerate(names)}  # columns of lists are numbered 0, 1, …
        self.names = tuple(names)
        self.rows: list[tuple[int, list | str]] = []  # cells, or the fault
        self.cells = self.size = 0

    def add_cells(self, number: int, cells: Iterable[tuple[Any, Any]]) -> None:
        row: list = []
        for key, cell in cells:
            place = self.columns.setdefault(key, len(self.columns))
            if place >= COLUMN_LIMIT:
                raise Refusal("data.too_many_columns", name=self.name, limit=COLUMN_LIMIT)
            row += [""] * (place + 1 - len(row))
            row[place] = cell
            self.size += len(cell)
        self.cells += len(row)
        self.add_row(number, row)

    def add_row(self, number: int, row: list | str) -> None:
        if len(self.rows) == MAX_LINES or self.cells > CELL_LIMIT:
            raise Refusal("data.too_many_items", name=self.name, limit=MAX_LINES)
        if self.size > UNPACKED_LIMIT:
            raise Refusal("data.unpacked_too_large", name=self.name, limit=UNPACKED_LIMIT // 1024**2)
        self.rows.append((number, row))

    def add_item(self, number: int, value: Any) -> None:
        if isinstance(value, dict) and not value.get("truncated_cells"):
            for record in unwrap_records(value):
                self.add_cells(number, flatten(record))
        elif isinstance(value, list | tuple) and (languages := find_texts_by_language(value)):
            self.add_cells(number, flatten(languages))
        elif isinstance(value, list | tuple):
            self.add_cells(number, ((self._name_column(place), make_cell(inner)) for place, inner in enumerate(value)))
        elif value is None:
            self.add_row(number, [])
        else:
            self.add_row(number, "broken")

    def _name_column(self, place: int) -> Any:
        return self.names[place] if place < len(self.names) else place


def make_table(
    kind: str, name: str, items: Iterable[tuple[int, Any]], names: Sequence[str] = (), unit: str = "item", notes: Notes = ()
) -> Table:
    """Makes the table of numbered items: dictionaries, or lists whose columns are called `names`.

    None is an empty item, BROKEN an unreadable one. Columns of sentences come first, then likely non-text. A cell that lists several
    correct targets (or sources) gives a row for each. Raises Refusal for too many items or columns.
    """
    collected = _Collected(name, names)
    for number, value in items:
        collected.add_item(number, value)
    keys = list(collected.columns)
    summaries = [summarise_column(iterate_column(collected.rows[:SAMPLE], place)) for place in range(len(keys))]
    pair = find_pair([str(key) for key in keys], summaries)
    column_ranks = rank_columns([str(key) for key in keys], summaries)
    order = [*pair, *sorted((place for place in range(len(keys)) if place not in pair), key=column_ranks.__getitem__)]
    columns = () if all(isinstance(key, int) for key in keys) else tuple(_shorten_keys([str(keys[place]) for place in order]))
    credit = _find_credit(keys, collected.rows)
    return Table(kind, list(check_totals(_drain_rows(collected.rows, order), name)), columns, unit, (0, 1) if pair else None, credit, notes)


def iterate_column(rows: Iterable[tuple[int, list | str]], place: int) -> Iterator[Any]:
    return (row[place] if place < len(row) else "" for _, row in rows if isinstance(row, list))


def _shorten_keys(keys: Sequence[str]) -> Iterator[str]:
    """Yields display names: "translation.en" becomes "en" where that is unique."""
    last = Counter(key.rpartition(".")[2] for key in keys)
    for key in keys:
        short = key.rpartition(".")[2]
        yield normalise(short if is_language(short) and last[short] == 1 else key)[:60]


def _find_credit(keys: Sequence[Any], rows: Sequence[tuple[int, list | str]]) -> str:
    """Returns the distinct lines of a credit column, if they are few."""
    for place in (place for place, key in enumerate(keys) if isinstance(key, str) and plain(key) in CREDITS):
        lines: dict[str, None] = {}
        for cell in iterate_column(rows, place):
            lines[normalise(cell[:LINE_LIMIT]) if isinstance(cell, str) else ""] = None
            if len(lines) > _SPLIT_CREDITS:
                return ""
        return "; ".join(filter(None, lines))
    return ""


def _drain_rows(rows: list[tuple[int, list | str]], order: Sequence[int]) -> Iterator[Row]:
    """Yields the rows with sorted columns; consumes `rows`, so that memory never holds them twice."""
    rows.reverse()
    while rows:
        number, row = rows.pop()
        if isinstance(row, str):
            yield Row(number, [], row)
            continue
        whole = [row[place] if place < len(row) else "" for place in order] if row else []
        for cells in spread_lists(whole) if list in map(type, whole) else (whole,):
            yield make_row(number, cells, "unpaired" if whole and not cells else "")


def spread_lists(cells: list) -> Iterator[list[str]]:
    """Yields rows of single cells. A list beside a sentence holds alternatives; two lists are aligned by sentence, or by word.

    Two lists of sentences with different lengths give an empty row: their alignment is unknown.
    """
    sources, targets = (cell if isinstance(cell, list) else None for cell in [*cells, "", ""][:2])
    rest = [" ".join(cell) if isinstance(cell, list) else cell for cell in cells[2:]]
    if sources is not None and targets is not None:
        spaced = [" " in text for text in (*sources, *targets)]
        if len(sources) == len(targets) > 0 and any(spaced):
            yield from ([source, target, *rest] for source, target in zip(sources, targets, strict=True))
        elif len(sources) != len(targets) and min(len(sources), len(targets)) > 0 and 2 * sum(spaced) > len(spaced):
            yield []
        else:
            yield [" ".join(sources), " ".join(targets), *rest]
    elif sources is None and targets is None:
        yield [*cells[:2], *rest]
    elif sources is not None:
        yield from ([text, *cells[1:2], *rest] for text in sources or [""])
    else:
        yield from ([cells[0], text, *rest] for text in targets or [""])


def make_row(line: int, cells: list[str], fault: str = "") -> Row:
    """Makes a row, shortening cells too long to be sentences. A shortened cell stays over the limit even after later clean-up."""
    if max(map(len, cells), default=0) > LINE_LIMIT:
        fault = fault or ("long" if max(map(len, cells[:2])) > LINE_LIMIT else "")
        cells = [cell[:_PREFIX] + _FILLER if len(cell) > LINE_LIMIT else cell for cell in cells]
    return Row(line, cells, fault)


def check_totals(rows: Iterable[Row], name: str) -> Iterator[Row]:
    """Yields the rows and checks their total number and size: one long text may be written once and repeated in every row."""
    size = 0
    for count, row in enumerate(rows, 1):
        size += sum(map(len, row.cells))
        if count > MAX_LINES:
            raise Refusal("data.too_many_items", name=name, limit=MAX_LINES)
        if size > UNPACKED_LIMIT:
            raise Refusal("data.unpacked_too_large", name=name, limit=UNPACKED_LIMIT // 1024**2)
        yield row

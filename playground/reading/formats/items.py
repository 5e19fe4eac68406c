"""Items: values as JSON, Parquet and the Hub hold them (dictionaries, lists) become rows of cells under named columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from playground.config import Refusal
from playground.reading.formats.columns import CREDITS, is_language, look, pair_of, plain, ranks
from playground.reading.formats.limits import COLUMN_LIMIT, LINE_LIMIT, MAX_LINES, SAMPLE, UNPACKED_LIMIT
from playground.reading.formats.table import Notes, Row, Table
from playground.reading.formats.values import cell_of, flat, records, texts_by_language
from playground.reading.text import normalise

CELL_LIMIT = 10 * MAX_LINES  # cells in all rows together
VALUE_LIMIT = CELL_LIMIT // 2  # values in one document that is in memory as a whole
BROKEN = object()  # stands for an item that can't be read
_KEPT, _CUT = 1000, "…" * LINE_LIMIT
_SPLIT_CREDITS = 20  # different credit lines a column may hold to be one of credits


class _Collected:
    """The items so far: their cells by column, and what each column holds."""

    def __init__(self, name: str, names: Sequence[str]) -> None:
        self.name = name
        self.columns: dict[Any, int] = {key: place for place, key in enumerate(names)}  # a list's columns are called 0, 1, …
        self.names = tuple(names)
        self.rows: list[tuple[int, list | str]] = []  # cells, or the fault
        self.cells = self.size = 0

    def add(self, number: int, cells: Iterable[tuple[Any, Any]]) -> None:
        row: list = []
        for key, cell in cells:
            place = self.columns.setdefault(key, len(self.columns))
            if place >= COLUMN_LIMIT:
                raise Refusal("data.too_many_columns", name=self.name, limit=COLUMN_LIMIT)
            row += [""] * (place + 1 - len(row))
            row[place] = cell
            self.size += len(cell)
        self.cells += len(row)
        self.put(number, row)

    def put(self, number: int, row: list | str) -> None:
        if len(self.rows) == MAX_LINES or self.cells > CELL_LIMIT:
            raise Refusal("data.too_many_items", name=self.name, limit=MAX_LINES)
        if self.size > UNPACKED_LIMIT:
            raise Refusal("data.unpacked_too_large", name=self.name, limit=UNPACKED_LIMIT // 1024**2)
        self.rows.append((number, row))

    def item(self, number: int, value: Any) -> None:
        if isinstance(value, dict) and not value.get("truncated_cells"):
            for record in records(value):
                self.add(number, flat(record))
        elif isinstance(value, list | tuple) and (languages := texts_by_language(value)):
            self.add(number, flat(languages))
        elif isinstance(value, list | tuple):
            self.add(number, ((self._key(place), cell_of(inner)) for place, inner in enumerate(value)))
        elif value is None:
            self.put(number, [])
        else:
            self.put(number, "broken")

    def _key(self, place: int) -> Any:
        return self.names[place] if place < len(self.names) else place


def table_of(
    kind: str, name: str, items: Iterable[tuple[int, Any]], names: Sequence[str] = (), unit: str = "item", notes: Notes = ()
) -> Table:
    """The table of numbered items: dictionaries, or lists whose places are called `names`.

    None is an empty item, BROKEN an unreadable one. Columns of sentences come first, then what seems to be no text. A cell that lists
    several right targets (or sources) gives a row for each. Raises Refusal for too many items or columns.
    """
    found = _Collected(name, names)
    for number, value in items:
        found.item(number, value)
    keys = list(found.columns)
    looks = [look(column(found.rows[:SAMPLE], place)) for place in range(len(keys))]
    pair = pair_of([str(key) for key in keys], looks)
    places = ranks([str(key) for key in keys], looks)
    order = [*pair, *sorted((place for place in range(len(keys)) if place not in pair), key=places.__getitem__)]
    columns = () if all(isinstance(key, int) for key in keys) else tuple(_titles([str(keys[place]) for place in order]))
    credit = _credit(keys, found.rows)
    return Table(kind, list(within(_rows(found.rows, order), name)), columns, unit, (0, 1) if pair else None, credit, notes)


def column(rows: Iterable[tuple[int, list | str]], place: int) -> Iterator[Any]:
    return (row[place] if place < len(row) else "" for _, row in rows if isinstance(row, list))


def _titles(keys: Sequence[str]) -> Iterator[str]:
    """Names fit to be shown: "translation.en" is "en" where no other column is."""
    last = Counter(key.rpartition(".")[2] for key in keys)
    for key in keys:
        short = key.rpartition(".")[2]
        yield normalise(short if is_language(short) and last[short] == 1 else key)[:60]


def _credit(keys: Sequence[Any], rows: Sequence[tuple[int, list | str]]) -> str:
    """The different lines of a column of credits, if there are few."""
    for place in (place for place, key in enumerate(keys) if isinstance(key, str) and plain(key) in CREDITS):
        lines: dict[str, None] = {}
        for cell in column(rows, place):
            lines[normalise(cell[:LINE_LIMIT]) if isinstance(cell, str) else ""] = None
            if len(lines) > _SPLIT_CREDITS:
                return ""
        return "; ".join(filter(None, lines))
    return ""


def _rows(rows: list[tuple[int, list | str]], order: Sequence[int]) -> Iterator[Row]:
    """The rows in order, columns sorted; `rows` is used up, so that there is never all of it twice."""
    rows.reverse()
    while rows:
        number, row = rows.pop()
        if isinstance(row, str):
            yield Row(number, [], row)
            continue
        whole = [row[place] if place < len(row) else "" for place in order] if row else []
        for cells in spread(whole) if list in map(type, whole) else (whole,):
            yield bounded(number, cells, "unpaired" if whole and not cells else "")


def spread(cells: list) -> Iterator[list[str]]:
    """Rows of single cells. A list beside a sentence holds several right ones; two lists are sentence by sentence, or word by word.

    Sentences that are not as many on both sides give a row of no cells: which belong together, nobody knows.
    """
    one, two = (cell if isinstance(cell, list) else None for cell in [*cells, "", ""][:2])
    rest = [" ".join(cell) if isinstance(cell, list) else cell for cell in cells[2:]]
    if one is not None and two is not None:
        if len(one) == len(two) > 0 and any(" " in said for said in (*one, *two)):
            yield from ([first, second, *rest] for first, second in zip(one, two, strict=True))
        elif len(one) != len(two) and min(len(one), len(two)) > 0 and 2 * sum(" " in said for said in (*one, *two)) > len(one) + len(two):
            yield []
        else:
            yield [" ".join(one), " ".join(two), *rest]
    elif one is None and two is None:
        yield [*cells[:2], *rest]
    elif one is not None:
        yield from ([said, *cells[1:2], *rest] for said in one or [""])
    else:
        yield from ([cells[0], said, *rest] for said in two or [""])


def bounded(line: int, cells: list[str], fault: str = "") -> Row:
    """A row whose cells are cut where they are too long to be sentences. What was cut stays too long, whatever is taken out of it later."""
    if max(map(len, cells), default=0) > LINE_LIMIT:
        fault = fault or ("long" if max(map(len, cells[:2])) > LINE_LIMIT else "")
        cells = [cell[:_KEPT] + _CUT if len(cell) > LINE_LIMIT else cell for cell in cells]
    return Row(line, cells, fault)


def within(rows: Iterable[Row], name: str) -> Iterator[Row]:
    """The rows, as long as they are not too many or too long together: a long text may be written once and stand in every row."""
    size = 0
    for count, row in enumerate(rows, 1):
        size += sum(map(len, row.cells))
        if count > MAX_LINES:
            raise Refusal("data.too_many_items", name=name, limit=MAX_LINES)
        if size > UNPACKED_LIMIT:
            raise Refusal("data.unpacked_too_large", name=name, limit=UNPACKED_LIMIT // 1024**2)
        yield row

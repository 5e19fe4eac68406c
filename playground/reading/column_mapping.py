"""Column mapping: which row names the columns, and which two columns hold the sentences, by their names and by what is in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.formats.cells import dullness
from playground.reading.formats.column_names import meaning
from playground.reading.formats.columns import look, pair_of, ranks, side_of
from playground.reading.formats.inflections import features_of
from playground.reading.formats.limits import COLUMN_LIMIT, SAMPLE
from playground.reading.formats.records import Widths, measure, row_width
from playground.reading.formats.table import Row, Table
from playground.reading.header import find_header, lacks_first
from playground.reading.text import normalise

MAX_CELL_CHARACTERS = 200  # that are shown
BY_SOURCE = -1  # as a choice of the column by which pairs are split: none, so equal sources stay together


class Column(NamedTuple):
    """A column as a person sees it: its name ("" if it has none), how many rows fill it, and what stands in the first of them."""

    name: str
    filled: int
    samples: tuple[str, ...]


class Plan(NamedTuple):
    """How a table is read. `together` are (column, column, rows that fill both) where there were several pairs to choose from."""

    header: int  # the line that names the columns, 0 if none does
    sizes: Widths  # how many cells a row has
    columns: tuple[Column, ...]
    source: int
    target: int
    together: tuple[tuple[int, int, int], ...] = ()
    joined: tuple[int, ...] = ()  # columns that are part of the source, behind it
    group: int | None = None  # the column that says which pairs stay together when some are held out

    @property
    def width(self) -> int:
        return len(self.columns)

    def has_extra_cells(self, cells: Sequence[str]) -> bool:
        """Whether a row has more cells than others: then a separator stands in a sentence, and which cells to take nobody knows."""
        width = row_width(cells) if len(cells) > self.sizes.usual else 0
        return width > self.width or (width > self.sizes.usual and len(cells) > self.sizes.cells)


@dataclass(frozen=True)
class Choices:
    """What a person wants instead of what was found; None and "" leave it to the file."""

    source: int | str | None = None  # a column: its place from 0, or its name
    target: int | str | None = None
    header: bool | None = None  # whether the first row names the columns
    encoding: str = ""  # one for all files, or one for each with commas between
    undo: bool | None = None  # traces of tools in the sentences (see formats.escapes); None only tells of them
    swap: bool = False  # source and target change places, whichever they are
    same_language: bool = False  # lines that follow one another are pairs even where they seem to be in one language
    joined: Sequence[int | str] | None = None  # columns that are part of the source as well
    group: int | str | None = None  # the column whose equal cells keep pairs together in one split; BY_SOURCE for none


def column(text: str | None) -> int | str | None:
    """A choice of a column as a person writes it: a number counts from 1, anything else is a name."""
    return int(text) - 1 if text and text.isdecimal() and len(text) < 4 else text or None


def plan(name: str, table: Table, rows: Sequence[Row], choices: Choices) -> Plan:
    """What was chosen, and for the rest what fits best. Raises Refusal for too many columns, and for one that isn't there."""
    header = find_header(rows, table, choices.header)
    line, top = (header.line, header.cells) if header else (0, [])
    below = [row for row in rows if row.line > line and not row.fault]
    sizes = _sizes(table, rows, top)
    if sizes.widest > COLUMN_LIMIT:
        raise Refusal("data.too_many_columns", name=name, limit=COLUMN_LIMIT)
    if not table.columns and lacks_first(top, [row.cells for row in below[:SAMPLE]]):
        top = ["", *top]
    width = sizes.widest
    names = _names(top if len(set(top)) > 1 or not table.columns else table.columns, width)
    found, together = (table.pair, table.together) if table.pair and max(table.pair) < width else _find(below, names)
    one, two = _place(name, choices.source, names), _place(name, choices.target, names)
    if one is not None and one == two:
        raise Refusal("data.same_column", name=name, column=names[one] or one + 1)
    rest = [place for place in (*found, *range(width)) if place not in (one, two)]
    if one is None:
        one = found[0] if found[0] != two else rest[0]
    if two is None:
        two = found[1] if found[1] != one else next(place for place in rest if place != one)
    one, two = (two, one) if choices.swap else (one, two)
    features = None if choices.swap or together else features_of([_cells(below, place) for place in range(width)])
    if features is not None and choices.source is None and choices.target is None:
        one, two = (place for place in range(width) if place != features)
    joined = _joined(name, choices, features, names, (one, two))
    group = _known(name, choices.group, names) if choices.group is not None else one if features in joined else BY_SOURCE
    return Plan(line, sizes, _columns(below, names), one, two, together, joined, group if BY_SOURCE < group < width else None)


def _joined(name: str, choices: Choices, features: int | None, names: Sequence[str], taken: Sequence[int]) -> tuple[int, ...]:
    """The columns that are part of the source as well: those that somebody wants, else the features of a form."""
    wanted = choices.joined if choices.joined is not None else () if features is None else (features,)
    places = dict.fromkeys(_known(name, one, names) for one in wanted)
    return tuple(place for place in places if place < len(names) and place not in taken)


def _sizes(table: Table, rows: Sequence[Row], top: Sequence[str]) -> Widths:
    """How many cells rows have: at least as many as there are names. Only lines of text have extra cells, elsewhere every cell is meant."""
    found = measure(rows)
    if table.unit != "line":
        widest = max((width for width in (row_width(row.cells) for row in rows) if width <= COLUMN_LIMIT), default=0)
        found = Widths(*[max(found.widest, widest)] * 3)
    named = max(len(table.columns), width if (width := row_width(top)) <= COLUMN_LIMIT else 0)
    return Widths(max(found.cells, named), max(found.usual, len(table.columns)), max(found.widest, named))


def _names(given: Sequence[str], width: int) -> list[str]:
    names = [normalise(name)[:60] for name in given[:width]]
    return names + [""] * (width - len(names))


# --- two of the columns ---


def _find(rows: Sequence[Row], names: Sequence[str]) -> tuple[tuple[int, int], tuple[tuple[int, int, int], ...]]:
    """The columns of source and target, and what pairs of languages there were to choose from."""
    if len(names) == 2 and not any(names):
        return (0, 1), ()
    cells = [_cells(rows, place) for place in range(len(names))]
    looks = list(map(look, cells))
    if pair := pair_of(names, looks):
        return pair, ()
    said = list(map(meaning, names))
    dull = list(map(dullness, cells))
    order = [
        rank if few < 3 and one and one.kind in ("language", "source", "target") else max(rank, few)
        for rank, few, one in zip(ranks(names, looks), dull, said, strict=True)
    ]
    languages = [
        place
        for place, one in enumerate(said)
        if one and one.kind == "language" and dull[place] < 3 and said.index(one) == place  # two tables may stand side by side
    ]
    together = _together(rows, languages) if len(languages) > 2 else ()
    if together:
        return together[0][:2], together
    best = sorted(range(len(names)), key=lambda place: (order[place], place))
    side = side_of(names, looks)
    if side and (order[side.place] < 2 or len(names) == 2):
        other = next(place for place in best if place != side.place)
        return side.beside(other), ()
    return (min(best[:2]), max(best[:2])), ()


def _cells(rows: Sequence[Row], place: int) -> list[str]:
    return [row.cells[place].strip() if len(row.cells) > place else "" for row in rows[: 2 * SAMPLE]]


def _together(rows: Sequence[Row], places: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
    """How many rows fill each two of the columns, the most first."""
    patterns = Counter(tuple(place for place in places if len(row.cells) > place and row.cells[place].strip()) for row in rows)
    counts: Counter[tuple[int, int]] = Counter()
    for pattern, count in patterns.items():
        for two in combinations(pattern, 2):
            counts[two] += count
    return tuple((one, two, count) for (one, two), count in sorted(counts.items(), key=lambda found: (-found[1], found[0])))


def _place(name: str, wanted: int | str | None, names: Sequence[str]) -> int | None:
    """The place of a column by its place or its name."""
    if wanted is None or (isinstance(wanted, int) and 0 <= wanted < len(names)):
        return wanted
    same = [place for place, known in enumerate(names) if known and known.casefold() == str(wanted).strip().casefold()]
    if not same:
        shown = wanted + 1 if isinstance(wanted, int) else normalise(wanted)[:40]
        columns = ", ".join(known or str(place) for place, known in enumerate(names, 1))
        raise Refusal("data.no_column", name=name, column=shown, columns=columns)
    return same[0]


def _known(name: str, wanted: int | str, names: Sequence[str]) -> int:
    """The same, but a place that isn't there stays: the page's choice of another file is passed over."""
    return wanted if isinstance(wanted, int) else _place(name, wanted, names)


def _columns(rows: Sequence[Row], names: Sequence[str]) -> tuple[Column, ...]:
    found = []
    for place, name in enumerate(names):
        filled, samples = 0, []
        for row in rows:
            if len(row.cells) > place and row.cells[place].strip():
                filled += 1
                if len(samples) < 2 and (text := normalise(row.cells[place][: 2 * MAX_CELL_CHARACTERS])[:MAX_CELL_CHARACTERS]):
                    samples.append(text)
        found.append(Column(name, filled, tuple(samples)))
    return tuple(found)

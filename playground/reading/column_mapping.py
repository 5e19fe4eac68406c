"""Column mapping: finds the header row and the source and target columns, by their names and by their cells."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.formats import COLUMN_LIMIT, SAMPLE, Row, Table
from playground.reading.formats.column_names import find_meaning
from playground.reading.formats.columns import find_features, find_pair, find_side, rank_columns, rank_dullness, summarise_column
from playground.reading.formats.records import Widths, measure_widths, row_width
from playground.reading.header import find_header, lacks_first
from playground.reading.text import normalise

MAX_CELL_CHARACTERS = 200  # of a cell in a preview
BY_SOURCE = -1  # as a choice of the group column: none, so equal sources stay together


def shorten_cell(cell: str) -> str:
    """Returns the beginning of a cell for a preview."""
    return normalise(cell[: 2 * MAX_CELL_CHARACTERS])[:MAX_CELL_CHARACTERS]


class Column(NamedTuple):
    """A column as the user sees it: its name ("" without one), the number of filled rows, and samples from the first of these."""

    name: str
    filled: int
    samples: tuple[str, ...]


class Plan(NamedTuple):
    """How a table is read. `language_pairs` are (column, column, rows that fill both) where several pairs were possible."""

    header: int  # line of the header, 0 without one
    sizes: Widths  # cells per row
    columns: tuple[Column, ...]
    source: int
    target: int
    language_pairs: tuple[tuple[int, int, int], ...] = ()
    joined: tuple[int, ...] = ()  # columns appended to the source
    group: int | None = None  # column whose equal cells keep pairs in one split

    @property
    def width(self) -> int:
        return len(self.columns)

    def has_extra_cells(self, cells: Sequence[str]) -> bool:
        """Whether a row has more cells than usual: a separator inside a sentence makes the assignment ambiguous."""
        width = row_width(cells) if len(cells) > self.sizes.usual else 0
        return width > self.width or (width > self.sizes.usual and len(cells) > self.sizes.cells)


@dataclass(frozen=True)
class Choices:
    """The user's choices for an upload; None and "" leave the decision to the file."""

    source: int | str | None = None  # a column: its index from 0, or its name
    target: int | str | None = None
    header: bool | None = None  # whether the first row is a header
    encoding: str = ""  # one for all files, or a comma-separated one for each
    undo: bool | None = None  # escapes in the sentences (see text.py); None only reports them
    swap: bool = False  # swap source and target, explicit or detected
    same_language: bool = False  # accept alternating lines as pairs even in a single language
    joined: Sequence[int | str] | None = None  # columns appended to the source
    group: int | str | None = None  # column whose equal cells keep pairs in one split; BY_SOURCE for none


def parse_column(text: str | None) -> int | str | None:
    """Parses a column as users type it: a number counts from 1, anything else is a name."""
    return int(text) - 1 if text and text.isdecimal() and len(text) < 4 else text or None


def plan_table(name: str, table: Table, rows: Sequence[Row], choices: Choices) -> Plan:
    """Applies the choices and detects the rest. Raises Refusal for too many columns or an unknown one."""
    header = find_header(rows, table, choices.header)
    line, head = (header.line, header.cells) if header else (0, [])
    below = [row for row in rows if row.line > line and not row.fault]
    sizes = _measure_rows(table, rows, head)
    if sizes.widest > COLUMN_LIMIT:
        raise Refusal("data.too_many_columns", name=name, limit=COLUMN_LIMIT)
    if not table.columns and lacks_first(head, [row.cells for row in below[:SAMPLE]]):
        head = ["", *head]
    width = sizes.widest
    names = [normalise(name)[:60] for name in (head if len(set(head)) > 1 or not table.columns else table.columns)[:width]]
    names += [""] * (width - len(names))
    pair, language_pairs = (table.pair, table.language_pairs) if table.pair and max(table.pair) < width else _find_pair(below, names)
    source, target = _find_place(name, choices.source, names), _find_place(name, choices.target, names)
    if source is not None and source == target:
        raise Refusal("data.same_column", name=name, column=names[source] or source + 1)
    rest = [place for place in (*pair, *range(width)) if place not in (source, target)]
    if source is None:
        source = pair[0] if pair[0] != target else rest[0]
    if target is None:
        target = pair[1] if pair[1] != source else next(place for place in rest if place != source)
    source, target = (target, source) if choices.swap else (source, target)
    features = None if choices.swap or language_pairs else find_features([_cells(below, place) for place in range(width)])
    if features is not None and choices.source is None and choices.target is None:
        source, target = (place for place in range(width) if place != features)
    wanted = choices.joined if choices.joined is not None else () if features is None else (features,)  # the inflectional features
    places = dict.fromkeys(_resolve_place(name, choice, names) for choice in wanted)
    joined = tuple(place for place in places if place < len(names) and place not in (source, target))
    group = _resolve_place(name, choices.group, names) if choices.group is not None else source if features in joined else BY_SOURCE
    return Plan(line, sizes, _columns(below, names), source, target, language_pairs, joined, group if BY_SOURCE < group < width else None)


def _measure_rows(table: Table, rows: Sequence[Row], head: Sequence[str]) -> Widths:
    """Measures rows, at least as wide as the header. Only lines of text have extra cells; elsewhere every cell is meant."""
    widths = measure_widths(rows)
    if table.unit != "line":
        widest = max((width for width in (row_width(row.cells) for row in rows) if width <= COLUMN_LIMIT), default=0)
        widths = Widths(*[max(widths.widest, widest)] * 3)
    named = max(len(table.columns), width if (width := row_width(head)) <= COLUMN_LIMIT else 0)
    return Widths(max(widths.cells, named), max(widths.usual, len(table.columns)), max(widths.widest, named))


# --- two of the columns ---


def _find_pair(rows: Sequence[Row], names: Sequence[str]) -> tuple[tuple[int, int], tuple[tuple[int, int, int], ...]]:
    """Returns the source and target columns, and the language pairs that were possible."""
    if len(names) == 2 and not any(names):
        return (0, 1), ()
    cells = [_cells(rows, place) for place in range(len(names))]
    summaries = list(map(summarise_column, cells))
    if pair := find_pair(names, summaries):
        return pair, ()
    meanings = list(map(find_meaning, names))
    dull = list(map(rank_dullness, cells))
    order = [
        rank if few < 3 and sense and sense.kind in ("language", "source", "target") else max(rank, few)
        for rank, few, sense in zip(rank_columns(names, summaries), dull, meanings, strict=True)
    ]
    languages = [
        place
        for place, sense in enumerate(meanings)
        if sense and sense.kind == "language" and dull[place] < 3 and meanings.index(sense) == place  # tables may stand side by side
    ]
    language_pairs = _count_pairs(rows, languages) if len(languages) > 2 else ()
    if language_pairs:
        return language_pairs[0][:2], language_pairs
    best = sorted(range(len(names)), key=lambda place: (order[place], place))
    place, side = find_side(names, summaries) or (-1, "")
    if place >= 0 and (order[place] < 2 or len(names) == 2):
        other = next(known for known in best if known != place)
        return {"source": (place, other), "target": (other, place), "": (min(place, other), max(place, other))}[side], ()
    return (min(best[:2]), max(best[:2])), ()


def _cells(rows: Sequence[Row], place: int) -> list[str]:
    return [row.cells[place].strip() if len(row.cells) > place else "" for row in rows[: 2 * SAMPLE]]


def _count_pairs(rows: Sequence[Row], places: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
    """Counts the rows that fill both columns of each pair, most frequent first."""
    patterns = Counter(tuple(place for place in places if len(row.cells) > place and row.cells[place].strip()) for row in rows)
    counts: Counter[tuple[int, int]] = Counter()
    for pattern, count in patterns.items():
        for pair in combinations(pattern, 2):
            counts[pair] += count
    return tuple((first, pair, count) for (first, pair), count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _find_place(name: str, wanted: int | str | None, names: Sequence[str]) -> int | None:
    """Returns the index of a column given by index or name. Raises Refusal."""
    if wanted is None or (isinstance(wanted, int) and 0 <= wanted < len(names)):
        return wanted
    same = [place for place, known in enumerate(names) if known and known.casefold() == str(wanted).strip().casefold()]
    if not same:
        label = wanted + 1 if isinstance(wanted, int) else normalise(wanted)[:40]
        columns = ", ".join(known or str(place) for place, known in enumerate(names, 1))
        raise Refusal("data.no_column", name=name, column=label, columns=columns)
    return same[0]


def _resolve_place(name: str, wanted: int | str, names: Sequence[str]) -> int:
    """Resolves a column like `_find_place`, but lets a missing index pass: it may be the page's choice for another file."""
    return wanted if isinstance(wanted, int) else _find_place(name, wanted, names)


def _columns(rows: Sequence[Row], names: Sequence[str]) -> tuple[Column, ...]:
    columns = []
    for place, name in enumerate(names):
        filled = [row.cells[place] for row in rows if len(row.cells) > place and row.cells[place].strip()]
        columns.append(Column(name, len(filled), tuple(islice(filter(None, map(shorten_cell, filled)), 2))))
    return tuple(columns)

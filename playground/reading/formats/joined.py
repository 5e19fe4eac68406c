"""Joined tables: two with keys in common in their first cells (verse numbers), or two of sentences and one that links their keys (Tatoeba).
The text column is guessed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from playground.reading.formats.cells import rank_dullness
from playground.reading.formats.delimited import guess_delimiter, has_tabs
from playground.reading.formats.items import make_row
from playground.reading.formats.limits import COLUMN_LIMIT, SAMPLE
from playground.reading.formats.names import compare_directions, name_columns
from playground.reading.formats.records import csv_rows, find_fault, measure_widths
from playground.reading.formats.table import Notes, Row, Source, Table


def read_common(left: Source, right: Source) -> Table | None:
    """Reads two tables with the same keys. A key in only one of them gives a row with an empty cell."""
    first, second = _find_texts(left), _find_texts(right)
    common = len(first.keys() & second.keys())
    if not common or 2 * common < min(len(first), len(second)):
        return None
    notes = (("data.note_keys", {"one": left.name, "two": right.name, "count": common}),)
    return _build_table(left, right, ((first.get(key, ""), second.get(key, "")) for key in {**first, **second}), notes)


def read_linked(sources: Sequence[Source]) -> Table | None:
    """Reads three tables, one of which links the keys of the other two. An unlinked sentence gives a row with an empty cell."""
    texts = list(map(_find_texts, sources))
    for place, links in enumerate(sources):
        (left, first), (right, second) = ((sources[other], texts[other]) for other in range(3) if other != place)
        pairs = [row.cells for row in _iterate_rows(links.lines) if len(row.cells) == 2]
        directed = [*pairs, *(cells[::-1] for cells in pairs)]  # Tatoeba has every link in both directions
        linked = dict.fromkeys((a, b) for a, b in directed if a in first and b in second)
        if linked and 10 * len(linked) >= min(len(first), len(second)):
            alone = [first.keys() - {a for a, _ in linked}, second.keys() - {b for _, b in linked}]
            rows = [(first[a], second[b]) for a, b in linked]
            rows += [(text, "") for key, text in first.items() if key in alone[0]]
            rows += [("", text) for key, text in second.items() if key in alone[1]]
            notes = (("data.note_links", {"links": links.name, "one": left.name, "two": right.name, "count": len(linked)}),)
            return _build_table(left, right, rows, notes)
    return None


def _build_table(left: Source, right: Source, rows: Iterable[tuple[str, str]], notes: Notes) -> Table:
    names = name_columns(left.name, right.name)
    cells = [make_row(number, list(row)) for number, row in enumerate(rows, 1)]
    return Table("two_files", cells, names if names[0] != names[1] else (), "item", compare_directions(left.name, right.name), notes=notes)


def _find_texts(source: Source) -> Mapping[str, str]:
    """Maps keys to texts; {} where keys repeat or there is no second column."""
    rows = list(_iterate_rows(source.lines))
    width = measure_widths(rows).usual
    sample = [[row.cells[place] for row in rows[:SAMPLE] if place < len(row.cells)] for place in range(width)]
    text = min(range(1, width), key=lambda place: (rank_dullness(sample[place]), -sum(map(len, sample[place]))))
    texts = {row.cells[0]: row.cells[text] for row in rows if text < len(row.cells)}
    return texts if 20 * len(texts) >= 19 * len(rows) else {}


def _iterate_rows(lines: Sequence[str]) -> Iterator[Row]:
    """Returns the filled rows, without comments such as `# language_name: English`."""
    if has_tabs(lines):
        rows = (Row(number, line.split("\t", COLUMN_LIMIT), find_fault(line)) for number, line in enumerate(lines, 1))
    else:
        rows = csv_rows(lines, guess_delimiter(lines[:SAMPLE]).delimiter or ",")
    return (row for row in rows if any(map(str.strip, row.cells)) and not (len(row.cells) == 1 and row.cells[0].startswith("#")))

"""Joined tables: two whose rows have their first cells in common (verses by number), or one or two of sentences and one that links their
first cells (Tatoeba). Which of their other columns holds the sentences is a guess."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from playground.reading.formats.cells import dullness
from playground.reading.formats.delimited import guess_of, has_tabs
from playground.reading.formats.items import bounded
from playground.reading.formats.limits import COLUMN_LIMIT, SAMPLE
from playground.reading.formats.names import columns_of, direction_of
from playground.reading.formats.records import csv_rows, measure, too_long
from playground.reading.formats.sheets import read_workbook
from playground.reading.formats.table import Notes, Row, Source, Table

_CODE = re.compile(r"[a-z]{2,3}([-_]\w+)?|\\N")  # of a language; Tatoeba has hundreds, and this sign for an unknown one
_MAX_LANGUAGES = 12  # with a column of their own


def is_book(source: Source) -> bool:
    """Whether it is a workbook, which has columns but no lines."""
    return source.data.startswith(b"PK")


def read_joined(one: Source, two: Source) -> Table | None:
    """Two tables of which one links the keys of the other, or with the same keys."""
    first, second = list(_rows(one)), list(_rows(two))
    return _by_links(one, first, two, second) or _by_links(two, second, one, first) or _by_keys(one, first, two, second)


def _by_keys(one: Source, rows_one: Sequence[Row], two: Source, rows_two: Sequence[Row]) -> Table | None:
    """A key that only one of the tables has gives a row with an empty cell."""
    first, second = _texts(rows_one), _texts(rows_two)
    common = len(first.keys() & second.keys())
    if not common or 2 * common < min(len(first), len(second)) or first == second:
        return None
    notes = (("data.note_keys", {"one": one.name, "two": two.name, "count": common}),)
    return _table(one, two, ((first.get(key, ""), second.get(key, "")) for key in {**first, **second}), notes)


def _by_links(texts: Source, sentences: Sequence[Row], links: Source, pairs: Sequence[Row]) -> Table | None:
    """Sentences in several languages, paired by links between their keys: a column for each language, the commonest first; of two as
    common the one that stands first in the links."""
    known = _texts_by_language(sentences)
    linked: dict[tuple[str, ...], list[str]] = {}  # both ways round as one
    for one, two in (row.cells for row in pairs if known and len(row.cells) == 2):
        if one in known and two in known and known[one][0] != known[two][0]:
            linked.setdefault(tuple(sorted((one, two))), [one, two])
    if 20 * len(linked) < min(len(known), len(pairs)):
        return None
    languages = Counter([known[keys[side]][0] for side in (0, 1) for keys in linked.values()]).most_common(_MAX_LANGUAGES)
    places = {language: place for place, (language, _) in enumerate(languages)}
    chosen = [keys for keys in linked.values() if all(known[key][0] in places for key in keys)]
    cells = [{places[language]: text for language, text in map(known.get, keys)} for keys in chosen]
    counts = Counter(tuple(sorted(row)) for row in cells).most_common()
    if not counts:
        return None
    rows = [bounded(number, [row.get(place, "") for place in range(max(row) + 1)]) for number, row in enumerate(cells, 1)]
    alone = len(known.keys() - {key for keys in chosen for key in keys})
    notes = (("data.note_export", {"name": texts.name, "links": links.name, "count": len(chosen), "alone": alone}),)
    together = tuple((*two, count) for two, count in counts)
    return Table("two_files", rows, tuple(places), "item", counts[0][0], notes=notes, together=together if len(together) > 1 else ())


def read_linked(sources: Sequence[Source]) -> Table | None:
    """Of three tables one links the keys of the other two. A sentence without a link gives a row with an empty cell."""
    tables = [list(_rows(source)) for source in sources]
    texts = list(map(_texts, tables))
    for place, links in enumerate(sources):
        (one, first), (two, second) = ((sources[other], texts[other]) for other in range(3) if other != place)
        pairs = [row.cells for row in tables[place] if len(row.cells) == 2]
        both = [*pairs, *(cells[::-1] for cells in pairs)]  # Tatoeba has every link in both directions
        linked = dict.fromkeys((a, b) for a, b in both if a in first and b in second)
        if linked and 10 * len(linked) >= min(len(first), len(second)):
            alone = [first.keys() - {a for a, _ in linked}, second.keys() - {b for _, b in linked}]
            rows = [(first[a], second[b]) for a, b in linked]
            rows += [(text, "") for key, text in first.items() if key in alone[0]]
            rows += [("", text) for key, text in second.items() if key in alone[1]]
            notes = (("data.note_links", {"links": links.name, "one": one.name, "two": two.name, "count": len(linked)}),)
            return _table(one, two, rows, notes)
    return None


def _table(one: Source, two: Source, rows: Iterable[tuple[str, str]], notes: Notes) -> Table:
    names = columns_of(one.name, two.name)
    cells = [bounded(number, list(row)) for number, row in enumerate(rows, 1)]
    return Table("two_files", cells, names if names[0] != names[1] else (), "item", direction_of(one.name, two.name), notes=notes)


def _texts(rows: Sequence[Row]) -> Mapping[str, str]:
    """Key -> text; nothing where keys come again, or there is no other column."""
    sample = _sample(rows)
    text = _text_of(sample)
    texts = {row.cells[0]: row.cells[text] for row in rows if text < len(row.cells)}
    return texts if 20 * len(texts) >= 19 * len(rows) else {}


def _texts_by_language(rows: Sequence[Row]) -> Mapping[str, tuple[str, str]]:
    """Key -> (language, text); nothing where no column says the languages."""
    sample = _sample(rows)
    codes = [place for place, cells in enumerate(sample) if place and 1 < len({*cells}) < len(cells) and _are_codes(cells[1:])]
    if len(sample) < 3 or len(codes) != 1:
        return {}
    language, text = codes[0], _text_of(sample, codes)
    return {row.cells[0]: (row.cells[language], row.cells[text]) for row in rows if max(language, text) < len(row.cells)}


def _are_codes(cells: Sequence[str]) -> bool:
    return 20 * sum(map(bool, map(_CODE.fullmatch, cells))) >= 19 * len(cells)


def _text_of(sample: Sequence[Sequence[str]], others: Sequence[int] = ()) -> int:
    """The column behind the keys that may be sentences."""
    return min({*range(1, len(sample))} - {*others}, key=lambda place: (dullness(sample[place]), -sum(map(len, sample[place])), place))


def _sample(rows: Sequence[Row]) -> list[list[str]]:
    """The first cells of each column."""
    return [[row.cells[place] for row in rows[:SAMPLE] if place < len(row.cells)] for place in range(measure(rows).usual)]


def _rows(source: Source) -> Iterator[Row]:
    """The rows that are filled, without remarks such as `# language_name: English`."""
    lines = source.lines
    if is_book(source):
        book = read_workbook([source])
        rows = iter(book.rows if book else ())
    elif has_tabs(lines):
        rows = (Row(number, line.split("\t", COLUMN_LIMIT), too_long(line)) for number, line in enumerate(lines, 1))
    else:
        rows = csv_rows(lines, guess_of(lines[:SAMPLE]).delimiter or ",")
    return (row for row in rows if any(map(str.strip, row.cells)) and not (len(row.cells) == 1 and row.cells[0].startswith("#")))

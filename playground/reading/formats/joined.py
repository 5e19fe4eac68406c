"""Joined tables: two with keys in common in their first cells (verse numbers), or one or two of sentences and one that links their keys
(Tatoeba). The text column is guessed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from playground.reading.formats.cells import rank_dullness
from playground.reading.formats.delimited import guess_delimiter, has_tabs
from playground.reading.formats.items import make_row
from playground.reading.formats.limits import COLUMN_LIMIT, SAMPLE
from playground.reading.formats.names import compare_directions, name_columns
from playground.reading.formats.records import csv_rows, find_fault, measure_widths
from playground.reading.formats.sheets import read_workbook
from playground.reading.formats.table import Notes, Row, Source, Table

_CODE = re.compile(r"[a-z]{2,3}([-_]\w+)?|\\N")  # a language code; Tatoeba writes \N for an unknown language
_MAX_LANGUAGES = 12  # that get a column


def is_workbook(source: Source) -> bool:
    """Whether the source is a workbook, which has columns but no lines."""
    return source.data.startswith(b"PK")


def read_joined(left: Source, right: Source) -> Table | None:
    """Reads two tables of which one links the keys of the other, or with the same keys."""
    first, second = list(_iterate_rows(left)), list(_iterate_rows(right))
    return (
        _join_by_links(left, first, right, second)
        or _join_by_links(right, second, left, first)
        or _join_by_keys(left, first, right, second)
    )


def _join_by_keys(left: Source, left_rows: Sequence[Row], right: Source, right_rows: Sequence[Row]) -> Table | None:
    """Joins equal keys. A key in only one of the tables gives a row with an empty cell."""
    first, second = _find_texts(left_rows), _find_texts(right_rows)
    common = len(first.keys() & second.keys())
    if not common or 2 * common < min(len(first), len(second)) or first == second:
        return None
    notes = (("data.note_keys", {"one": left.name, "two": right.name, "count": common}),)
    return _build_table(left, right, ((first.get(key, ""), second.get(key, "")) for key in {**first, **second}), notes)


def _join_by_links(texts: Source, sentences: Sequence[Row], links: Source, pairs: Sequence[Row]) -> Table | None:
    """Pairs sentences of several languages by links between their keys: a column for each language, the commonest first; ties go by the
    order in the links."""
    known = _find_texts_by_language(sentences)
    linked: dict[tuple[str, ...], list[str]] = {}  # one entry for both directions
    for left, right in (row.cells for row in pairs if known and len(row.cells) == 2):
        if left in known and right in known and known[left][0] != known[right][0]:
            linked.setdefault(tuple(sorted((left, right))), [left, right])
    if 20 * len(linked) < min(len(known), len(pairs)):
        return None
    languages = Counter([known[keys[side]][0] for side in (0, 1) for keys in linked.values()]).most_common(_MAX_LANGUAGES)
    places = {language: place for place, (language, _) in enumerate(languages)}
    chosen = [keys for keys in linked.values() if all(known[key][0] in places for key in keys)]
    cells = [{places[language]: text for language, text in map(known.get, keys)} for keys in chosen]
    counts = Counter(tuple(sorted(row)) for row in cells).most_common()
    if not counts:
        return None
    rows = [make_row(number, [row.get(place, "") for place in range(max(row) + 1)]) for number, row in enumerate(cells, 1)]
    alone = len(known.keys() - {key for keys in chosen for key in keys})
    notes = (("data.note_export", {"name": texts.name, "links": links.name, "count": len(chosen), "alone": alone}),)
    choices = tuple((*pair, count) for pair, count in counts) if len(counts) > 1 else ()
    return Table("two_files", rows, tuple(places), "item", counts[0][0], notes=notes, language_pairs=choices)


def read_linked(sources: Sequence[Source]) -> Table | None:
    """Reads three tables, one of which links the keys of the other two. An unlinked sentence gives a row with an empty cell."""
    tables = [list(_iterate_rows(source)) for source in sources]
    texts = list(map(_find_texts, tables))
    for place, links in enumerate(sources):
        (left, first), (right, second) = ((sources[other], texts[other]) for other in range(3) if other != place)
        pairs = [row.cells for row in tables[place] if len(row.cells) == 2]
        both = [*pairs, *(cells[::-1] for cells in pairs)]  # Tatoeba has every link in both directions
        linked = dict.fromkeys((a, b) for a, b in both if a in first and b in second)
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


def _find_texts(rows: Sequence[Row]) -> Mapping[str, str]:
    """Maps keys to texts; {} where keys repeat or there is no second column."""
    sample = _sample_columns(rows)
    text = _find_text_column(sample)
    texts = {row.cells[0]: row.cells[text] for row in rows if text < len(row.cells)}
    return texts if 20 * len(texts) >= 19 * len(rows) else {}


def _find_texts_by_language(rows: Sequence[Row]) -> Mapping[str, tuple[str, str]]:
    """Maps keys to (language, text); {} where no column holds language codes."""
    sample = _sample_columns(rows)
    codes = [place for place, cells in enumerate(sample) if place and 1 < len({*cells}) < len(cells) and _are_codes(cells[1:])]
    if len(sample) < 3 or len(codes) != 1:
        return {}
    language, text = codes[0], _find_text_column(sample, codes)
    return {row.cells[0]: (row.cells[language], row.cells[text]) for row in rows if max(language, text) < len(row.cells)}


def _are_codes(cells: Sequence[str]) -> bool:
    return 20 * sum(map(bool, map(_CODE.fullmatch, cells))) >= 19 * len(cells)


def _find_text_column(sample: Sequence[Sequence[str]], excluded: Sequence[int] = ()) -> int:
    """Returns the column after the keys that most likely holds sentences."""
    return min(
        {*range(1, len(sample))} - {*excluded}, key=lambda place: (rank_dullness(sample[place]), -sum(map(len, sample[place])), place)
    )


def _sample_columns(rows: Sequence[Row]) -> list[list[str]]:
    """Returns the first cells of each column."""
    return [[row.cells[place] for row in rows[:SAMPLE] if place < len(row.cells)] for place in range(measure_widths(rows).usual)]


def _iterate_rows(source: Source) -> Iterator[Row]:
    """Returns the filled rows, without comments such as `# language_name: English`."""
    lines = source.lines
    if is_workbook(source):
        workbook = read_workbook([source])
        rows = iter(workbook.rows if workbook else ())
    elif has_tabs(lines):
        rows = (Row(number, line.split("\t", COLUMN_LIMIT), find_fault(line)) for number, line in enumerate(lines, 1))
    else:
        rows = csv_rows(lines, guess_delimiter(lines[:SAMPLE]).delimiter or ",")
    return (row for row in rows if any(map(str.strip, row.cells)) and not (len(row.cells) == 1 and row.cells[0].startswith("#")))

"""Lines: two files paired line by line, or by keys in common in their first columns (verse numbers); a third file may link their keys
(Tatoeba)."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.formats import COLUMN_LIMIT, SAMPLE, Confidence, Notes, Row, Source, Table, find_fault, reads
from playground.reading.formats.column_names import compare_directions, find_role, name_columns
from playground.reading.formats.columns import rank_dullness
from playground.reading.formats.delimited import guess_delimiter, has_tabs
from playground.reading.formats.items import join_keys, make_row
from playground.reading.formats.languages import is_language
from playground.reading.formats.records import csv_rows, is_filled, measure_widths
from playground.reading.formats.sheets import read_workbook

_TAG = re.compile(
    r"\s*</?(url|talkid|keywords|description|title|speaker|reviewer|translator|doc|transcript|date|dtime|videourl|videopath)\b",
    re.IGNORECASE,
)
_TALK = {"url", "talkid", "keywords", "doc"}  # every file of talks has one of these
_STRUCTURED = ("{", "[{", "<?xml", "<tmx", "<xliff")
_TABLES = (".csv", ".tsv")
_NO_SEPARATOR = "\x1f"  # never occurs: every record is one cell
_MAX_COST_RATIO = 0.8  # cost with a drift relative to the cost without
_CODE = re.compile(r"[a-z]{2,3}([-_]\w+)?|\\N")  # a language code; Tatoeba writes \N for an unknown language
_MAX_LANGUAGES = 12  # that get a column


@reads(Confidence.LAYOUT, files=(2,))
def read_tagged(left: Source, right: Source) -> Table | None:
    """Reads two files of talks as IWSLT writes them: sentences, with lines in tags between them that are not sentences."""
    for source in (left, right):
        tags = {match[1].casefold() for match in map(_TAG.match, source.lines[:SAMPLE]) if match}
        if len(tags) < 2 or not tags & _TALK:
            return None
    plain = [[line for line in source.lines if not _TAG.match(line)] for source in (left, right)]
    _pad(*plain)
    if len(plain[0]) != len(plain[1]):
        raise Refusal("data.unequal_tagged", one=left.name, lines_one=len(plain[0]), two=right.name, lines_two=len(plain[1]))
    return join_files("tagged", _tagged_rows(left.lines, *plain), left, right)


def _tagged_rows(lines: Sequence[str], left: Sequence[str], right: Sequence[str]) -> Iterator[Row]:
    """Yields rows numbered by the first file; tags of the second may stand elsewhere."""
    pairs = zip(left, right, strict=True)
    for number, line in enumerate(lines, 1):
        cells = [] if _TAG.match(line) else list(next(pairs))
        yield Row(number, cells, find_fault(*cells) if cells else "header")
    for number, rest in enumerate(pairs, len(lines) + 1):  # blank lines at the end of the second file only
        yield Row(number, list(rest), find_fault(*rest))


@reads(Confidence.ORDER, files=(2,))
def read_two(left: Source, right: Source) -> Table | None:
    """Reads two files line by line. Blank lines at the end of one are rows; any other difference is refused, and so are tables without
    common keys."""
    sources = left, right
    if not all(source.lines or _is_workbook(source) for source in sources) or all(map(_is_structured, sources)):
        return None
    tables = [source for source in sources if _is_table(source)]
    if len(tables) == 2 or _share_header(left.lines, right.lines):
        first, second = map(_read_keyed, sources)
        if table := _join_by_links(first, second) or _join_by_links(second, first) or _join_by_keys(first, second):
            return table
        raise Refusal("data.two_tables", one=left.name, two=right.name)
    if tables:
        raise Refusal("data.one_table", table=tables[0].name, other=(right if tables[0] is left else left).name)
    first, second = map(_read_cells, sources)
    texts = [[_NO_SEPARATOR.join(row.cells) for row in rows] for rows in (first, second)]
    _pad(*texts)
    if len(texts[0]) != len(texts[1]):
        values = {"one": left.name, "lines_one": len(texts[0]), "two": right.name, "lines_two": len(texts[1])}
        drift = _find_drift(*texts)
        raise Refusal("data.unequal_from", **values, line=drift) if drift else Refusal("data.unequal", **values)
    sure = all(source.name.casefold().endswith(_TABLES) for source in sources)
    rows = list(_pair_lines(first, *texts))
    return join_files("two_files", _mark_header(rows) if sure else rows, left, right)


def _is_structured(source: Source) -> bool:
    return next(filter(str.strip, source.lines), "").lstrip().casefold().startswith(_STRUCTURED)


def _is_table(source: Source) -> bool:
    """Whether a file has columns: tabs, or, if its name says so, commas or semicolons that cut it evenly (sentences have them too)."""
    if _is_workbook(source) or has_tabs(source.lines):
        return True
    guess = guess_delimiter(source.lines[:SAMPLE]) if source.name.casefold().endswith(_TABLES) else None
    return guess is not None and guess.tight and guess.share >= 0.9


def _share_header(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether two files begin with the same line, and it names columns."""
    first = next((line for line in left if line.strip()), "")
    if first != next((line for line in right if line.strip()), ""):
        return False
    cells = [cell.strip() for row in csv_rows([first], guess_delimiter([first]).delimiter or ",") for cell in row.cells]
    return sum(map(_is_name, cells)) > 1 and 2 * sum(map(_is_name, cells)) >= len(cells)


def _is_name(cell: str) -> bool:
    return bool(find_role(cell)) or is_language(cell)


def _read_cells(source: Source) -> list[Row]:
    """Returns the lines of a file, or the unquoted cells of a column written by a spreadsheet.

    In a .csv or .tsv file every quotation mark must be part of a cell's quoting; in others most lines must be quoted as well.
    """
    named = source.name.casefold().endswith(_TABLES)
    plain = [Row(number, [line], find_fault(line)) for number, line in enumerate(source.lines, 1)]
    quoted = sum(line.startswith('"') for line in source.lines)
    if not quoted or (not named and 2 * quoted < sum(bool(line.strip()) for line in source.lines)):
        return plain
    cells = list(csv_rows(source.lines, _NO_SEPARATOR))
    whole = not any(row.fault == "quote" or (row.height > 1 and not named) for row in cells)
    return cells if whole else plain


def _pair_lines(rows: Sequence[Row], left: Sequence[str], right: Sequence[str]) -> Iterator[Row]:
    """Yields the rows, numbered by the first lines of the first file's rows."""
    last = rows[-1].line + rows[-1].height - 1
    for place, cells in enumerate(zip(left, right, strict=True)):
        line, height = (rows[place].line, rows[place].height) if place < len(rows) else (last + place + 1 - len(rows), 1)
        yield Row(line, list(cells), find_fault(*cells), height)


def _mark_header(rows: list[Row]) -> list[Row]:
    """Marks the first filled row of two tables as the header if it names both columns."""
    place = next((place for place, row in enumerate(rows) if is_filled(row)), 0)
    names = [cell.strip() for cell in rows[place].cells]
    if names and all(map(_is_name, names)):
        rows[place] = rows[place]._replace(fault="header")
    return rows


def join_files(kind: str, rows: Iterable[Row], left: Source, right: Source, unit: str = "line", notes: Notes = ()) -> Table:
    """Makes the table of two files, a column each, named and directed by the names of the files."""
    names = name_columns(left.name, right.name)
    direction = compare_directions(left.name, right.name)
    return Table(kind, list(rows), names if names[0] != names[1] else (), unit, direction, notes=notes)


def _pad(left: list[str], right: list[str]) -> None:
    """Pads the shorter list where the longer one only ends in blank lines."""
    short, long = sorted((left, right), key=len)
    if not any(map(str.strip, long[len(short) :])):
        short += [""] * (len(long) - len(short))


def _find_drift(left: Sequence[str], right: Sequence[str]) -> int:
    """Returns the line from which the shorter file fits later lines of the longer one better; 0 if the lengths don't tell.

    Finds the cheapest split: lines before it are compared one to one, those after it shifted by the difference.
    """
    short, long = sorted(([len(line.strip()) for line in lines] for lines in (left, right)), key=len)
    shift = len(long) - len(short)
    if len(short) < 10 or shift * 4 > len(short):
        return 0
    scale = sum(long) / max(1, sum(short))
    costs_before = list(accumulate((_measure_cost(a * scale, b) for a, b in zip(short, long, strict=False)), initial=0.0))
    costs_after = list(accumulate((_measure_cost(a * scale, b) for a, b in zip(short, long[shift:], strict=True)), initial=0.0))
    costs = [aligned + costs_after[-1] - shifted for aligned, shifted in zip(costs_before, costs_after, strict=True)]
    best = min(range(len(costs)), key=costs.__getitem__)
    return best + 1 if costs[best] < _MAX_COST_RATIO * costs_before[-1] else 0


def _measure_cost(a: float, b: float) -> float:
    """Measures how badly two lengths fit, from 0 (equal) towards 1."""
    return abs(a - b) / (a + b + 5)


# --- tables joined by keys ---


class _Keyed(NamedTuple):
    """A table whose first column holds keys."""

    source: Source
    rows: list[Row]
    texts: dict[str, str]  # key -> text in the likeliest column; {} where keys repeat
    languages: dict[str, tuple[str, str]]  # key -> (language, text); {} where no column holds language codes


def _is_workbook(source: Source) -> bool:
    """Whether the source is a workbook, which has columns but no lines."""
    return source.data.startswith(b"PK")


def _read_keyed(source: Source) -> _Keyed:
    rows = list(_iterate_rows(source))
    sample = [[row.cells[place] for row in rows[:SAMPLE] if place < len(row.cells)] for place in range(measure_widths(rows).usual)]

    def find_text(*excluded: int) -> int:
        """Returns the column after the keys that most likely holds sentences."""
        places = [place for place in range(1, len(sample)) if place not in excluded]
        return min(places, key=lambda place: (rank_dullness(sample[place]), -sum(map(len, sample[place])), place))

    text = find_text()
    texts = {row.cells[0]: row.cells[text] for row in rows if text < len(row.cells)}
    varied = [place for place, cells in enumerate(sample) if place and 1 < len({*cells}) < len(cells)]
    codes = [place for place in varied if 20 * sum(map(bool, map(_CODE.fullmatch, sample[place][1:]))) >= 19 * (len(sample[place]) - 1)]
    languages = {}
    if len(sample) > 2 and len(codes) == 1:
        language, text = codes[0], find_text(*codes)
        languages = {row.cells[0]: (row.cells[language], row.cells[text]) for row in rows if max(language, text) < len(row.cells)}
    return _Keyed(source, rows, texts if 20 * len(texts) >= 19 * len(rows) else {}, languages)


def _iterate_rows(source: Source) -> Iterator[Row]:
    """Returns the filled rows, without comments such as `# language_name: English`."""
    lines = source.lines
    if _is_workbook(source):
        workbook = read_workbook(source)
        rows = iter(workbook.rows if workbook else ())
    elif has_tabs(lines):
        rows = (Row(number, line.split("\t", COLUMN_LIMIT), find_fault(line)) for number, line in enumerate(lines, 1))
    else:
        rows = csv_rows(lines, guess_delimiter(lines[:SAMPLE]).delimiter or ",")
    return (row for row in rows if any(map(str.strip, row.cells)) and not (len(row.cells) == 1 and row.cells[0].startswith("#")))


def _join_by_keys(left: _Keyed, right: _Keyed) -> Table | None:
    """Joins equal keys. A key in only one of the tables gives a row with an empty cell."""
    first, second = left.texts, right.texts
    common = len(first.keys() & second.keys())
    if not common or 2 * common < min(len(first), len(second)) or first == second:
        return None
    notes = (("data.note_keys", {"one": left.source.name, "two": right.source.name, "count": common}),)
    return join_files("two_files", join_keys(first, second), left.source, right.source, "item", notes)


def _join_by_links(texts: _Keyed, links: _Keyed) -> Table | None:
    """Pairs sentences of several languages by links between their keys: a column for each language, the commonest first; ties go by the
    order in the links."""
    known = texts.languages
    linked: dict[tuple[str, ...], list[str]] = {}  # one entry for both directions
    for left, right in (row.cells for row in links.rows if known and len(row.cells) == 2):
        if left in known and right in known and known[left][0] != known[right][0]:
            linked.setdefault(tuple(sorted((left, right))), [left, right])
    if 20 * len(linked) < min(len(known), len(links.rows)):
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
    notes = (("data.note_export", {"name": texts.source.name, "links": links.source.name, "count": len(chosen), "alone": alone}),)
    choices = tuple((*pair, count) for pair, count in counts) if len(counts) > 1 else ()
    return Table("two_files", rows, tuple(places), "item", counts[0][0], notes=notes, language_pairs=choices)


@reads(Confidence.LAYOUT, files=(3,))
def read_linked(*sources: Source) -> Table | None:
    """Reads three tables, one of which links the keys of the other two. An unlinked sentence gives a row with an empty cell."""
    tables = list(map(_read_keyed, sources))
    for links in tables:
        left, right = (table for table in tables if table is not links)
        first, second = left.texts, right.texts
        pairs = [row.cells for row in links.rows if len(row.cells) == 2]
        both = [*pairs, *(cells[::-1] for cells in pairs)]  # Tatoeba has every link in both directions
        linked = dict.fromkeys((a, b) for a, b in both if a in first and b in second)
        if linked and 10 * len(linked) >= min(len(first), len(second)):
            alone = first.keys() - {a for a, _ in linked}, second.keys() - {b for _, b in linked}
            cells = [(first[a], second[b]) for a, b in linked]
            cells += [(text, "") for key, text in first.items() if key in alone[0]]
            cells += [("", text) for key, text in second.items() if key in alone[1]]
            rows = [make_row(number, list(both)) for number, both in enumerate(cells, 1)]
            names = {"links": links.source.name, "one": left.source.name, "two": right.source.name}
            return join_files("two_files", rows, left.source, right.source, "item", (("data.note_links", {**names, "count": len(linked)}),))
    return None

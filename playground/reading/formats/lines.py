"""Lines: two files whose lines belong together, and one file with both sides on each line behind their labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from playground.config import Refusal
from playground.reading.formats import joined
from playground.reading.formats.columns import is_language
from playground.reading.formats.delimited import guess_delimiter, has_tabs
from playground.reading.formats.limits import SAMPLE
from playground.reading.formats.names import columns_of, direction, direction_of, role
from playground.reading.formats.records import csv_rows, is_filled, too_long
from playground.reading.formats.table import Row, Source, Table

_TAG = re.compile(
    r"\s*</?(url|talkid|keywords|description|title|speaker|reviewer|translator|doc|transcript|date|dtime|videourl|videopath)\b",
    re.IGNORECASE,
)
_TALK = {"url", "talkid", "keywords", "doc"}  # one of these is in every file of talks
_STRUCTURED = ("{", "[{", "<?xml", "<tmx", "<xliff")
_TABLES = (".csv", ".tsv")
_NOTHING = "\x1f"  # separates nothing: every cell is a row
_CLEARLY = 0.8  # of the cost without a drift: what a drift must bring it down to
_LABEL = re.compile(r"([^\W\d_][\w-]{0,14}) ?[:：]")


def read_tagged(sources: Sequence[Source]) -> Table | None:
    """Two files of talks as IWSLT has them: sentences, and between them lines in tags, which are no sentences."""
    if len(sources) != 2 or not all(_is_of_talks(source.lines[:SAMPLE]) for source in sources):
        return None
    one, two = sources
    plain = [[line for line in source.lines if not _TAG.match(line)] for source in sources]
    _pad(*plain)
    if len(plain[0]) != len(plain[1]):
        raise Refusal("data.unequal_tagged", one=one.name, lines_one=len(plain[0]), two=two.name, lines_two=len(plain[1]))
    return _table("tagged", _tagged_rows(one.lines, *plain), one, two)


def _is_of_talks(lines: Sequence[str]) -> bool:
    tags = {found[1].casefold() for found in map(_TAG.match, lines) if found}
    return len(tags) > 1 and bool(tags & _TALK)


def _tagged_rows(lines: Sequence[str], one: Sequence[str], two: Sequence[str]) -> Iterator[Row]:
    """The rows by the lines of the first file; tags of the second may stand elsewhere."""
    pairs = zip(one, two, strict=True)
    for number, line in enumerate(lines, 1):
        cells = [] if _TAG.match(line) else list(next(pairs))
        yield Row(number, cells, too_long(*cells) if cells else "header")
    for number, rest in enumerate(pairs, len(lines) + 1):  # blank lines that only the second file ends with
        yield Row(number, list(rest), too_long(*rest))


def read_two(sources: Sequence[Source]) -> Table | None:
    """Two files, line by line. Blank lines at the end of one of them are rows; any other difference is refused, and so are tables."""
    if len(sources) != 2 or not all(source.lines for source in sources):
        return None
    one, two = sources
    if all(_is_structured(source.lines) for source in sources):
        return None
    tables = [source for source in sources if _is_table(source)]
    if len(tables) == 2 or _have_one_head(one.lines, two.lines):
        if table := joined.read_common(one, two):
            return table
        raise Refusal("data.two_tables", one=one.name, two=two.name)
    if tables:
        raise Refusal("data.one_table", table=tables[0].name, other=(two if tables[0] is one else one).name)
    first, second = map(_cells, sources)
    texts = [[_NOTHING.join(row.cells) for row in rows] for rows in (first, second)]
    _pad(*texts)
    if len(texts[0]) != len(texts[1]):
        values = {"one": one.name, "lines_one": len(texts[0]), "two": two.name, "lines_two": len(texts[1])}
        drift = _drift(*texts)
        raise Refusal("data.unequal_from", **values, line=drift) if drift else Refusal("data.unequal", **values)
    sure = all(source.name.casefold().endswith(_TABLES) for source in sources)
    rows = list(_paired(first, *texts))
    return _table("two_files", _headed(rows) if sure else rows, one, two)


def _is_table(source: Source) -> bool:
    """Whether a file has columns: tabs, or commas and semicolons that cut it evenly if its name says so (sentences have them too)."""
    if has_tabs(source.lines):
        return True
    guess = guess_delimiter(source.lines[:SAMPLE]) if source.name.casefold().endswith(_TABLES) else None
    return guess is not None and guess.tight and guess.share >= 0.9


def _have_one_head(one: Sequence[str], two: Sequence[str]) -> bool:
    """Whether two files begin with the same line, and it is one that names columns."""
    first = next((line for line in one if line.strip()), "")
    if first != next((line for line in two if line.strip()), ""):
        return False
    cells = [cell.strip() for row in csv_rows([first], guess_delimiter([first]).delimiter or ",") for cell in row.cells]
    return sum(map(_is_name, cells)) > 1 and 2 * sum(map(_is_name, cells)) >= len(cells)


def _is_name(cell: str) -> bool:
    return bool(role(cell)) or is_language(cell)


def _cells(source: Source) -> list[Row]:
    """The lines of a file, or the cells of a column that a spreadsheet has written, without their quotation marks.

    A file of that name holds nothing else if no quotation mark is left over. In any other most lines must be in quotation marks.
    """
    named = source.name.casefold().endswith(_TABLES)
    plain = [Row(number, [line], too_long(line)) for number, line in enumerate(source.lines, 1)]
    quoted = sum(line.startswith('"') for line in source.lines)
    if not quoted or (not named and 2 * quoted < sum(bool(line.strip()) for line in source.lines)):
        return plain
    cells = list(csv_rows(source.lines, _NOTHING))
    whole = not any(row.fault == "quote" or (row.height > 1 and not named) for row in cells)
    return cells if whole else plain


def _paired(rows: Sequence[Row], one: Sequence[str], two: Sequence[str]) -> Iterator[Row]:
    """The rows by the lines of the first file, on which they begin."""
    last = rows[-1].line + rows[-1].height - 1
    for place, cells in enumerate(zip(one, two, strict=True)):
        line, height = (rows[place].line, rows[place].height) if place < len(rows) else (last + place + 1 - len(rows), 1)
        yield Row(line, list(cells), too_long(*cells), height)


def _headed(rows: list[Row]) -> list[Row]:
    """The rows of tables, the first of which is no pair if it names both columns."""
    place = next((place for place, row in enumerate(rows) if is_filled(row)), 0)
    names = [cell.strip() for cell in rows[place].cells]
    if names and all(map(_is_name, names)):
        rows[place] = rows[place]._replace(fault="header")
    return rows


def _table(kind: str, rows: Iterable[Row], one: Source, two: Source) -> Table:
    names = columns_of(one.name, two.name)
    return Table(kind, list(rows), names if names[0] != names[1] else (), pair=direction_of(one.name, two.name))


def _is_structured(lines: Sequence[str]) -> bool:
    return next((line for line in lines if line.strip()), "").lstrip().casefold().startswith(_STRUCTURED)


def _pad(one: list[str], two: list[str]) -> None:
    """Makes two lists of lines equally long where the longer one only ends in blank lines."""
    short, long = sorted((one, two), key=len)
    if not any(map(str.strip, long[len(short) :])):
        short += [""] * (len(long) - len(short))


def _drift(one: Sequence[str], two: Sequence[str]) -> int:
    """The line from which on the lines of the shorter file fit later lines of the longer one better; 0 if their lengths don't say.

    The place that costs least is looked for: before it lines are compared one to one, behind it moved by the difference.
    """
    short, long = sorted(([len(line.strip()) for line in lines] for lines in (one, two)), key=len)
    moved = len(long) - len(short)
    if len(short) < 10 or moved * 4 > len(short):
        return 0
    scale = sum(long) / max(1, sum(short))
    here = list(accumulate((_cost(a * scale, b) for a, b in zip(short, long, strict=False)), initial=0.0))
    there = list(accumulate((_cost(a * scale, b) for a, b in zip(short, long[moved:], strict=True)), initial=0.0))
    costs = [before + there[-1] - after for before, after in zip(here, there, strict=True)]
    best = min(range(len(costs)), key=costs.__getitem__)
    return best + 1 if costs[best] < _CLEARLY * here[-1] else 0


def _cost(a: float, b: float) -> float:
    """How badly two lengths fit: 0 for equal ones, towards 1."""
    return abs(a - b) / (a + b + 5)


def read_scan(sources: Sequence[Source]) -> Table | None:
    """One file with lines as SCAN has them, `IN: jump twice OUT: JUMP JUMP`: the same two labels in most of them."""
    if len(sources) != 1:
        return None
    lines = sources[0].lines
    filled = [line for line in lines[:SAMPLE] if line.strip()]
    for first, second in _labels(filled[:3]):
        form = re.compile(rf"\s*{re.escape(first)} ?[:：](.*?)\s{re.escape(second)} ?[:：](.*)", re.DOTALL | re.IGNORECASE)
        known = direction((first, second))
        if sum(form.fullmatch(line) is not None for line in filled) * 10 >= len(filled) * (5 if known else 9):
            cells = ([*found.groups()] if (found := form.fullmatch(line)) else [line] for line in lines)
            rows = [Row(number, both, too_long(line)) for number, (line, both) in enumerate(zip(lines, cells, strict=True), 1)]
            return Table("scan", rows, (first, second), pair=known)
    return None


def _labels(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of different labels that lines begin with and have further on, the most likely ones first."""
    found = {}
    for line in lines:
        names = [match[1] for match in _LABEL.finditer(line[:SAMPLE])][:8]
        if names and line.lstrip().startswith(names[0]):
            found |= {(names[0], name): None for name in names[1:] if name.casefold() != names[0].casefold()}
    return sorted(found, key=lambda labels: direction(labels) is None)

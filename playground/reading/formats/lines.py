"""Lines: two files paired line by line, and one file with both sides on each line after their labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from playground.config import Refusal
from playground.reading.formats import joined
from playground.reading.formats.columns import is_language
from playground.reading.formats.delimited import guess_delimiter, has_tabs
from playground.reading.formats.limits import SAMPLE
from playground.reading.formats.names import compare_directions, find_direction, find_role, name_columns
from playground.reading.formats.records import csv_rows, find_fault, is_filled
from playground.reading.formats.table import Row, Source, Table

_TAG = re.compile(
    r"\s*</?(url|talkid|keywords|description|title|speaker|reviewer|translator|doc|transcript|date|dtime|videourl|videopath)\b",
    re.IGNORECASE,
)
_TALK = {"url", "talkid", "keywords", "doc"}  # every file of talks has one of these
_STRUCTURED = ("{", "[{", "<?xml", "<tmx", "<xliff")
_TABLES = (".csv", ".tsv")
_NO_SEPARATOR = "\x1f"  # never occurs: every record is one cell
_MAX_COST_RATIO = 0.8  # cost with a drift relative to the cost without
_LABEL = re.compile(r"([^\W\d_][\w-]{0,14}) ?[:：]")


def read_tagged(sources: Sequence[Source]) -> Table | None:
    """Reads two files of talks as IWSLT writes them: sentences, with lines in tags between them that are not sentences."""
    if len(sources) != 2 or not all(_is_of_talks(source.lines[:SAMPLE]) for source in sources):
        return None
    left, right = sources
    plain = [[line for line in source.lines if not _TAG.match(line)] for source in sources]
    _pad(*plain)
    if len(plain[0]) != len(plain[1]):
        raise Refusal("data.unequal_tagged", one=left.name, lines_one=len(plain[0]), two=right.name, lines_two=len(plain[1]))
    return _build_table("tagged", _tagged_rows(left.lines, *plain), left, right)


def _is_of_talks(lines: Sequence[str]) -> bool:
    tags = {match[1].casefold() for match in map(_TAG.match, lines) if match}
    return len(tags) > 1 and bool(tags & _TALK)


def _tagged_rows(lines: Sequence[str], left: Sequence[str], right: Sequence[str]) -> Iterator[Row]:
    """Yields rows numbered by the first file; tags of the second may stand elsewhere."""
    pairs = zip(left, right, strict=True)
    for number, line in enumerate(lines, 1):
        cells = [] if _TAG.match(line) else list(next(pairs))
        yield Row(number, cells, find_fault(*cells) if cells else "header")
    for number, rest in enumerate(pairs, len(lines) + 1):  # blank lines at the end of the second file only
        yield Row(number, list(rest), find_fault(*rest))


def read_two(sources: Sequence[Source]) -> Table | None:
    """Reads two files line by line. Blank lines at the end of one are rows; any other difference is refused, and so are tables."""
    if len(sources) != 2 or not all(source.lines or joined.is_workbook(source) for source in sources):
        return None
    left, right = sources
    if all(_is_structured(source.lines) for source in sources):
        return None
    tables = [source for source in sources if _is_table(source)]
    if len(tables) == 2 or _share_header(left.lines, right.lines):
        if table := joined.read_joined(left, right):
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
    return _build_table("two_files", _mark_header(rows) if sure else rows, left, right)


def _is_table(source: Source) -> bool:
    """Whether a file has columns: tabs, or, if its name says so, commas or semicolons that cut it evenly (sentences have them too)."""
    if joined.is_workbook(source) or has_tabs(source.lines):
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


def _build_table(kind: str, rows: Iterable[Row], left: Source, right: Source) -> Table:
    names = name_columns(left.name, right.name)
    return Table(kind, list(rows), names if names[0] != names[1] else (), pair=compare_directions(left.name, right.name))


def _is_structured(lines: Sequence[str]) -> bool:
    return next((line for line in lines if line.strip()), "").lstrip().casefold().startswith(_STRUCTURED)


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


def read_scan(sources: Sequence[Source]) -> Table | None:
    """Reads one file with lines like SCAN's, `IN: jump twice OUT: JUMP JUMP`: the same two labels in most of them."""
    if len(sources) != 1:
        return None
    lines = sources[0].lines
    filled = [line for line in lines[:SAMPLE] if line.strip()]
    for first, second in _find_labels(filled[:3]):
        form = re.compile(rf"\s*{re.escape(first)} ?[:：](.*?)\s{re.escape(second)} ?[:：](.*)", re.DOTALL | re.IGNORECASE)
        known = find_direction((first, second))
        if sum(form.fullmatch(line) is not None for line in filled) * 10 >= len(filled) * (5 if known else 9):
            cells = ([*match.groups()] if (match := form.fullmatch(line)) else [line] for line in lines)
            rows = [Row(number, both, find_fault(line)) for number, (line, both) in enumerate(zip(lines, cells, strict=True), 1)]
            return Table("scan", rows, (first, second), pair=known)
    return None


def _find_labels(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Returns pairs of different labels, one at a line's beginning and one later, likeliest first."""
    pairs = {}
    for line in lines:
        names = [match[1] for match in _LABEL.finditer(line[:SAMPLE])][:8]
        if names and line.lstrip().startswith(names[0]):
            pairs |= {(names[0], name): None for name in names[1:] if name.casefold() != names[0].casefold()}
    return sorted(pairs, key=lambda labels: find_direction(labels) is None)

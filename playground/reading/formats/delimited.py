"""Delimited text: one file with cells separated by tabs, commas, semicolons or bars; and Anki's notes, which declare their columns.

In a tab-separated file quotes are ordinary characters, unless all of them are placed as a spreadsheet writes them.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from playground.config import Refusal
from playground.reading.formats import COLUMN_LIMIT, SAMPLE, Confidence, Row, Source, Table, find_fault, reads, records
from playground.reading.text import strip_markup

_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)  # a first line that only Excel interprets
_TABS = re.compile("\t+")
_NUMBER = re.compile(r"\s*(?:(?:[-+][\d.,]*|[\d.,]+)\s*)?")
_RULE = set("-:+= \t")
_SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "colon": ":", "space": " "}
_ABOUT = ("guid column", "notetype column", "deck column", "tags column")  # columns without text of a note


@reads(Confidence.TABS)
def read_tsv(source: Source) -> Table | None:
    """Reads a file in which at least every second line contains a tab."""
    lines = source.lines
    if not has_tabs(lines) or _find_declared(lines):
        return None
    quoted = any(line.startswith('"') or '\t"' in line for line in lines)
    faults = [row.fault == "quote" for row in records.csv_rows(lines[:SAMPLE], "\t")] if quoted else []
    if quoted and sum(faults) * 20 <= len(faults):  # if quotes are plain text, few lines show it
        rows = records.iterate_even_rows(lines, "\t")
        if _are_a_spreadsheets(rows, lines):
            return Table("csv", rows, notes=(("data.note_quoted", {}),))
    if _are_aligned(lines):
        return Table("marked", [Row(number, _TABS.split(line, 1), find_fault(line)) for number, line in enumerate(lines, 1)])
    return Table("tsv", [Row(number, line.split("\t", COLUMN_LIMIT), find_fault(line)) for number, line in enumerate(lines, 1)])


def has_tabs(lines: Sequence[str]) -> bool:
    filled = [line for line in lines[:SAMPLE] if line.strip()]
    return bool(filled) and sum("\t" in line for line in filled) * 2 >= len(filled)


def _are_aligned(lines: Sequence[str]) -> bool:
    """Whether tabs align two columns: no line has tabs in two places, and many have several in one."""
    runs = [_TABS.findall(line.rstrip("\t")) for line in lines if "\t" in line] if any("\t\t" in line for line in lines) else []
    return max(map(len, runs), default=0) == 1 and sum(run[0] != "\t" for run in runs if run) * 10 >= len(runs)


def _are_a_spreadsheets(rows: Sequence[Row], lines: Sequence[str]) -> bool:
    """Whether the quotes are a spreadsheet's: cells with quotes, tabs or line ends are quoted, or all cells are.

    Cells quoted only for tabs or line ends count only where the raw lines make no even table.
    """
    good = bad = doubled = over = 0
    all_quoted = True
    for row in rows:
        marks = sum(line.count('"') for line in lines[row.line - 1 : row.line - 1 + row.height])
        inside = sum(cell.count('"') for cell in row.cells)
        needing = sum('"' in cell or "\t" in cell or "\n" in cell for cell in row.cells)
        texts = sum(not _NUMBER.fullmatch(cell) for cell in row.cells)
        all_quoted = all_quoted and marks - 2 * inside >= 2 * texts
        if marks and (row.fault == "quote" or marks < 2 * (inside + needing)):
            bad += 1
        elif marks:
            good += 1
            doubled += inside > 0
            over += needing > 0 and not inside
    if bad * 50 > good:
        return False
    cells = [line.split("\t", COLUMN_LIMIT) for line in lines if line.strip()] if over else []
    even = len(set(map(len, cells))) < 2 or len(set(map(records.row_width, cells))) < 2
    return doubled > 0 or all_quoted or (over > 0 and not even)


# --- comma, semicolon, bar ---


class _Guess(NamedTuple):
    """How well a separator explains a file; larger is better."""

    even: int = 0  # rows with the most frequent width
    tight: bool = False  # cells don't begin with a space, unlike text after a sentence's comma
    two: bool = False
    order: int = 0
    delimiter: str = ""
    share: float = 0.0


@reads(Confidence.COLUMNS)
def read_csv(source: Source) -> Table | None:
    """Reads a file with a separator declared for Excel, or one that cuts most rows into equally many cells."""
    lines, start = source.lines, 1
    delimiter = _find_declared(lines)
    if not delimiter:
        start = 0
        guess = guess_delimiter(lines[:SAMPLE])
        if any('\\"' in line for line in lines):  # quotes may be escaped instead of doubled, if that explains more
            escaped = [line.replace('\\"', '""') for line in lines]
            escaped_guess = guess_delimiter(escaped[:SAMPLE])
            lines, guess = (escaped, escaped_guess) if escaped_guess > guess else (lines, guess)
        if not guess.delimiter or ((not guess.tight or guess.share < 0.9) and records.find_separator(lines, records.WEAK)):
            return None
        delimiter = guess.delimiter
    head = [Row(1, [], "header")] if start else []
    return Table("csv", head + _strip_borders(records.iterate_even_rows(lines, delimiter, start), delimiter))


def _find_declared(lines: Sequence[str]) -> str:
    """Returns the separator that a first line `sep=;` declares, or ""."""
    match = _SEPARATOR_LINE.fullmatch(lines[0]) if lines else None
    return match[1] if match else ""


def guess_delimiter(sample: Sequence[str]) -> _Guess:
    """Returns the separator that explains a file best; its delimiter is "" if none does."""
    return max((_score_delimiter(sample, delimiter, order) for order, delimiter in enumerate(",;|\t")), default=_Guess())


def _score_delimiter(sample: Sequence[str], delimiter: str, order: int) -> _Guess:
    """Scores a separator: half of the rows must be even; nine of ten, and not prose, if it is followed by spaces."""
    if not any(delimiter in line for line in sample):
        return _Guess()
    rows = [row for row in records.csv_rows(sample, delimiter) if records.is_filled(row)]
    widths = records.measure_widths(rows)
    if not widths.rows:
        return _Guess()
    later = [cell for row in rows for cell in row.cells[1:] if cell.strip()]
    tight = 2 * sum(cell[0] == " " for cell in later) <= len(later) or delimiter == "|"
    share = widths.rows / len(rows)
    cut = [row.cells for row in rows if len(row.cells) > 1]
    if share < (0.5 if tight else 0.9) or (not tight and records.are_prose(*([cells[place] for cells in cut] for place in (0, -1)))):
        return _Guess()
    return _Guess(widths.rows, tight, widths.usual == 2, order, delimiter, share)


def _strip_borders(rows: list[Row], delimiter: str) -> list[Row]:
    """Strips the borders of a table drawn with bars: empty cells at both ends, and rules below the header."""
    if delimiter != "|":
        return rows
    drawn = [row for row in rows if len(row.cells) > 1]  # lines without a bar surround the table: a heading, a rule
    boxed = not any(row.cells[0].strip() for row in drawn)
    columns = next((sum(map(bool, map(str.strip, row.cells))) for row in drawn if _is_rule(row.cells)), 0)  # under which the rule stands

    def is_boxed(cells: Sequence[str]) -> bool:
        return len(cells) > 1 and (boxed or (len(cells) == columns + 2 and not cells[0].strip() and not cells[-1].strip()))

    return [
        row._replace(cells=[], fault="header") if _is_rule(row.cells) else row._replace(cells=row.cells[is_boxed(row.cells) :])
        for row in rows
    ]


def _is_rule(cells: Sequence[str]) -> bool:
    text = "".join(cells)
    return "-" in text and _RULE.issuperset(text)


def explain_failure(source: Source) -> Refusal:
    """Explains why no reader matches this file: its quotes, or the lack of a second column."""
    rows = [row for row in records.csv_rows(source.lines, ",") if records.is_filled(row)]
    broken = [row.line for row in rows if row.fault == "quote"]
    if 2 * len(broken) > len(rows):
        return Refusal("data.open_quotes", name=source.name, count=len(broken), line=broken[0])
    return Refusal("data.one_column", name=source.name, line=next((row.line for row in rows if len(row.cells) == 1), 1))


# --- Anki ---


@reads(Confidence.SIGNATURE)
def read_anki(source: Source) -> Table | None:
    """Reads "Notes in plain text": lines such as `#separator:tab`, then a delimited file. Columns of tags, decks and ids are dropped;
    declared HTML becomes text."""
    lines = source.lines
    heads = list(takewhile(lambda line: line.startswith("#"), lines))
    directives = {key.strip(): value.strip("\r\n ") for key, _, value in (line[1:].partition(":") for line in heads)}
    if "separator" not in directives and directives.get("html") not in ("true", "false"):
        return None
    name, first = directives.get("separator", "").casefold(), next(iter(lines[len(heads) :]), "")
    by_default = next((separator for separator in _SEPARATORS.values() if separator in first), "\t")
    delimiter = _SEPARATORS.get(name, name[0]) if name else by_default
    rows = records.iterate_even_rows(lines, delimiter, len(heads))
    about = {int(directives[key]) - 1 for key in _ABOUT if directives.get(key, "").isdecimal() and len(directives[key]) < 4}
    is_html = directives.get("html") == "true"
    names = next(records.csv_rows([directives["columns"]], delimiter)).cells if "columns" in directives else []
    return Table(
        "anki",
        [Row(number, [], "header") for number in range(1, len(heads) + 1)]
        + [_make_note(row, lines[row.line - 1], about, is_html) for row in rows],
        tuple(name for place, name in enumerate(names) if place not in about),
    )


def _make_note(row: Row, line: str, about: set[int], is_html: bool) -> Row:
    """Makes the row of a note. Lines beginning with # are comments; Anki quotes a field that does."""
    if line.startswith("#"):
        return row._replace(cells=[], fault="header")
    cells = [cell for place, cell in enumerate(row.cells) if place not in about]
    return row._replace(cells=list(map(strip_markup, cells)) if is_html and not row.fault else cells)

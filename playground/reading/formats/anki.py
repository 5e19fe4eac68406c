"""Anki: "Notes in plain text", a delimited file beginning with lines such as `#separator:tab` that describe its columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from playground.reading.formats.markup import strip_markup
from playground.reading.formats.records import csv_rows, iterate_even_rows
from playground.reading.formats.table import Row, Source, Table

_SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "colon": ":", "space": " "}
_ABOUT = ("guid column", "notetype column", "deck column", "tags column")  # columns without text of a note


def read_anki(sources: Sequence[Source]) -> Table | None:
    """Reads one file that begins with Anki's directives. Columns of tags, decks and ids are dropped; declared HTML becomes text."""
    lines = sources[0].lines if len(sources) == 1 else []
    heads = list(takewhile(lambda line: line.startswith("#"), lines))
    directives = {key.strip(): value.strip("\r\n ") for key, _, value in (line[1:].partition(":") for line in heads)}
    if "separator" not in directives and directives.get("html") not in ("true", "false"):
        return None
    delimiter = _find_delimiter(directives, lines[len(heads) :])
    rows = iterate_even_rows(lines, delimiter, len(heads))
    about = {int(directives[key]) - 1 for key in _ABOUT if directives.get(key, "").isdecimal() and len(directives[key]) < 4}
    is_html = directives.get("html") == "true"
    names = next(csv_rows([directives["columns"]], delimiter)).cells if "columns" in directives else []
    return Table(
        "anki",
        [Row(number, [], "header") for number in range(1, len(heads) + 1)]
        + [_make_note(row, lines[row.line - 1], about, is_html) for row in rows],
        tuple(name for place, name in enumerate(names) if place not in about),
    )


def _find_delimiter(directives: dict[str, str], lines: Sequence[str]) -> str:
    """Returns the separator by its name or sign; by default the first one that the first note contains."""
    name = directives.get("separator", "").casefold()
    if name:
        return _SEPARATORS.get(name, name[0])
    first = next(iter(lines), "")
    return next((separator for separator in _SEPARATORS.values() if separator in first), "\t")


def _make_note(row: Row, line: str, about: set[int], is_html: bool) -> Row:
    """Makes the row of a note. Lines beginning with # are comments; Anki quotes a field that does."""
    if line.startswith("#"):
        return row._replace(cells=[], fault="header")
    cells = [cell for place, cell in enumerate(row.cells) if place not in about]
    return row._replace(cells=list(map(strip_markup, cells)) if is_html and not row.fault else cells)

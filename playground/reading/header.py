"""Header: which row names the columns, if any does."""

from __future__ import annotations

import re
from collections.abc import Sequence

from playground.reading.formats.cells import STOPS, counts, dullness, holds_languages, is_number
from playground.reading.formats.column_names import Meaning, meaning
from playground.reading.formats.column_words import ALSO_WORDS, CERTAIN
from playground.reading.formats.languages import named
from playground.reading.formats.limits import SAMPLE
from playground.reading.formats.table import Row, Table
from playground.reading.text import normalise

_TITLES = 10  # rows with one filled cell that may stand above the names
_MAX_NAME_CHARACTERS = 40
_TEXTS = ("language", "source", "target", "unit", "vague")
_DIGITS = re.compile(r"\d+")
_ENOUGH = 3  # rows of numbers that tell from chance


def find_header(rows: Sequence[Row], table: Table, wanted: bool | None = None) -> Row | None:
    """The row that names the columns: the first with two filled cells, if they look like names, or if it is said to.

    Above it there may be a title. Where the format names the columns itself, only the first lines of two files can be names too.
    """
    first = _first(rows)
    if first is None or wanted is False:
        return None
    if wanted:
        return first
    if first.fault or (table.columns and table.kind != "two_files"):
        return None
    cells = [normalise(cell) for cell in first.cells]
    below = [row.cells for row in rows[: SAMPLE // 10] if row.line > first.line and not row.fault]
    names = _names_files(cells) if table.columns else _names_columns(cells, below)
    return first if names else None


def _first(rows: Sequence[Row]) -> Row | None:
    """The first row with two filled cells, if at most some titles stand above it; else the first that holds anything."""
    titles: list[Row] = []
    for row in rows:
        filled = 0 if row.fault == "header" else sum(map(bool, map(normalise, row.cells)))
        if filled > 1 or row.fault not in ("", "header"):
            return row
        titles += [row] if filled else []
        if len(titles) > _TITLES:
            break
    return titles[0] if titles else None


def _names_files(cells: Sequence[str]) -> bool:
    """Whether the first lines of two files name their sides or languages: "English" and "German", or "text" in both."""
    found = list(map(meaning, cells))
    if len(found) != 2 or any(one is None or one.kind not in _TEXTS or one.kind == "vague" for one in found):
        return False
    return found[0][:2] != found[1][:2] or (cells[0].casefold() == cells[1].casefold() and found[0].kind != "language")


def lacks_first(cells: Sequence[str], below: Sequence[Sequence[str]], fewest: int = 1) -> bool:
    """Whether a header has no name for the first column: R writes none above its running numbers."""
    firsts = [row[0].strip() for row in below if len(row) == len(cells) + 1]
    return len(firsts) >= fewest and 2 * len(firsts) > len(below) and counts(firsts)


def _names_columns(cells: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    filled = [cell for cell in cells if cell]
    if len(filled) < 2 or max(map(len, filled)) > _MAX_NAME_CHARACTERS:
        return False
    others = [row for row in below if list(map(str.strip, row)) != list(cells)]  # a header may come again
    columns = [[row[place].strip() for row in others if len(row) > place and row[place].strip()] for place in range(len(cells))]
    if _are_numbers(cells, columns) or (lacks_first(cells, below, 2) and not any(map(is_number, filled))):
        return True
    said = [meaning(cell) for cell in cells]
    over = [_stands_on_numbers(cell, column) for cell, column in zip(cells, columns, strict=True)]
    stops = [cell.endswith(STOPS) and not one and not number for cell, one, number in zip(cells, said, over, strict=True)]
    short = all(cell.endswith(STOPS) for cell in filled) and any(one is None or one.kind != "language" for one in said)
    if any(stops) or short or _are_cells(cells, said, columns):
        return False
    if len(filled) > 2:
        return _are_names(cells, said, columns) or any(over)
    long = any(number and len(column) > 2 * _ENOUGH for number, column in zip(over, columns, strict=True))
    return _are_two_names(cells, said, columns) or (all(over) and len(cells) == 2) or (long and not any(map(is_number, filled)))


def _are_numbers(cells: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether pandas numbered columns that had no names."""
    under = [column for cell, column in zip(cells, columns, strict=True) if cell]
    numbered = [cell for cell in cells if cell] == list(map(str, range(len(under))))
    return numbered and all(column and not any(map(is_number, column)) for column in under)


def _stands_on_numbers(cell: str, column: Sequence[str]) -> bool:
    """Whether a word stands on a column of numbers."""
    return (any(map(str.isalpha, cell)) or cell in ("#", "№")) and len(column) >= _ENOUGH and all(map(is_number, column))


def _are_cells(cells: Sequence[str], said: Sequence[Meaning | None], columns: Sequence[Sequence[str]]) -> bool:
    """Whether the row is one like those below: a cell comes again and again in its column, or a language stands among languages.

    "question 1" comes again in "question 2"; where nothing stands below, it is a cell rather than a name.
    """
    if len({one.word in CERTAIN[2:] for one in said if one and one.word in CERTAIN and not one.what}) == 2:  # source and target
        return False
    numbered = all(_DIGITS.search(cell) for cell in cells if cell)
    if numbered and not any(columns):
        return True
    wide = sum(map(bool, cells)) > 2
    for cell, one, column in zip(cells, said, columns, strict=True):
        again = list(map(_uncounted, column)).count(_uncounted(cell)) if cell else 0
        if (again > 1 and 5 * again >= len(column)) or ((wide or numbered) and again == len(column) == 1):
            return True
        if one and one.kind == "language" and len(column) > 1 - wide and _are_languages(column):
            return True
    return False


def _uncounted(cell: str) -> str:
    """A cell without its numbers: "Sentence 1" and "Sentence 2" are the same."""
    return _DIGITS.sub("\0", cell)


def _are_languages(column: Sequence[str]) -> bool:
    return holds_languages(column) or 3 * sum(map(bool, map(named, column))) >= 2 * len(column)


def _are_two_names(cells: Sequence[str], said: Sequence[Meaning | None], columns: Sequence[Sequence[str]]) -> bool:
    """Whether two cells name two different things. What may be one in two languages ("word" and "Wort") is a pair in a list of words."""
    low = tuple(cell.casefold() for cell in cells if cell)
    if low == ("q", "a"):
        return True
    (one, _), (two, _) = found = [(one, column) for one, column, cell in zip(said, columns, cells, strict=True) if cell]
    if not one or not two or ALSO_WORDS.issuperset(low) or low[0] == low[1]:
        return False
    same, kinds = one[:2] == two[:2], {one.kind, two.kind}
    if (same and (one.kind == "language" or one.what)) or kinds.isdisjoint(_TEXTS):
        return False
    unsure = same or "vague" in kinds or any(said.kind == "aside" and dullness(column) < 2 for said, column in found)
    return not (unsure and _are_words(columns))


def _are_names(cells: Sequence[str], said: Sequence[Meaning | None], columns: Sequence[Sequence[str]]) -> bool:
    """Whether at least half of more than two cells are names, of two different texts or of one and of what stands beside it."""
    unsure = _are_words(columns)
    known = [(cell.casefold(), one) for cell, one in zip(cells, said, strict=True) if one and (one.kind != "vague" or not unsure)]
    filled = sum(map(bool, cells))
    if 2 * len(known) < filled or (len(known) < filled and not any(columns)) or ALSO_WORDS.issuperset(cell for cell, _ in known):
        return False
    texts = {cell: one[:2] for cell, one in known if one.kind in _TEXTS}
    return len(set(texts.values())) > 1 or (len(texts) == 1 and len(known) > 1)


def _are_words(columns: Sequence[Sequence[str]]) -> bool:
    """Whether most of what stands below are single words, or it is too little to tell."""
    cells = [cell for column in columns for cell in column]
    return len(cells) < 4 or 2 * sum(map(_is_word, cells)) > len(cells)


def _is_word(cell: str) -> bool:
    return len(cell) <= (4 if cell[0] > "\u2e80" else 15) and not any(sign.isspace() or sign.isdigit() for sign in cell)

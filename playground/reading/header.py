"""Header detection: which row names the columns, if any."""

import re
from collections.abc import Sequence

from playground.reading.formats import SAMPLE, Row, Table
from playground.reading.formats.column_names import ALSO_WORDS, CERTAIN, Meaning, find_meaning
from playground.reading.formats.columns import holds_languages, is_number, is_running_number, rank_dullness
from playground.reading.formats.languages import find_language
from playground.reading.formats.records import STOPS
from playground.reading.text import normalise

_TITLES = 10  # maximum of rows with one filled cell above the header
_MAX_NAME_CHARACTERS = 40
_TEXTS = ("language", "source", "target", "unit", "vague")
_DIGITS = re.compile(r"\d+")
_ENOUGH = 3  # rows of numbers that rule out chance


def find_header(rows: Sequence[Row], table: Table, wanted: bool | None = None) -> Row | None:
    """Returns the row that names the columns: the first with two filled cells, if they look like names or the user says so.

    A title may stand above it. Where the format names the columns itself, only the first lines of two files can be names too.
    """
    first = _find_candidate(rows)
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


def _find_candidate(rows: Sequence[Row]) -> Row | None:
    """Returns the first row with two filled cells below at most some titles; else the first non-empty one."""
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
    meanings = list(map(find_meaning, cells))
    if len(meanings) != 2 or any(sense is None or sense.kind not in _TEXTS or sense.kind == "vague" for sense in meanings):
        return False
    return meanings[0][:2] != meanings[1][:2] or (cells[0].casefold() == cells[1].casefold() and meanings[0].kind != "language")


def lacks_first(cells: Sequence[str], below: Sequence[Sequence[str]], fewest: int = 1) -> bool:
    """Whether a header has no name for the first column: R writes none above its row numbers."""
    firsts = [row[0].strip() for row in below if len(row) == len(cells) + 1]
    return len(firsts) >= fewest and 2 * len(firsts) > len(below) and is_running_number(firsts)


def _names_columns(cells: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    filled = [cell for cell in cells if cell]
    if len(filled) < 2 or max(map(len, filled)) > _MAX_NAME_CHARACTERS:
        return False
    rows = [row for row in below if list(map(str.strip, row)) != list(cells)]  # a header may be repeated
    columns = [[row[place].strip() for row in rows if len(row) > place and row[place].strip()] for place in range(len(cells))]
    if _are_numbers(cells, columns) or (lacks_first(cells, below, 2) and not any(map(is_number, filled))):
        return True
    meanings = [find_meaning(cell) for cell in cells]
    over = [  # words that head columns of numbers
        (any(map(str.isalpha, cell)) or cell in ("#", "№")) and len(column) >= _ENOUGH and all(map(is_number, column))
        for cell, column in zip(cells, columns, strict=True)
    ]
    stops = [cell.endswith(STOPS) and not known and not number for cell, known, number in zip(cells, meanings, over, strict=True)]
    short = all(cell.endswith(STOPS) for cell in filled) and any(known is None or known.kind != "language" for known in meanings)
    if any(stops) or short or _are_cells(cells, meanings, columns):
        return False
    if len(filled) > 2:
        return _are_names(cells, meanings, columns) or any(over)
    long = any(number and len(column) > 2 * _ENOUGH for number, column in zip(over, columns, strict=True))
    return _are_two_names(cells, meanings, columns) or (all(over) and len(cells) == 2) or (long and not any(map(is_number, filled)))


def _are_numbers(cells: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether pandas numbered unnamed columns."""
    under = [column for cell, column in zip(cells, columns, strict=True) if cell]
    numbered = [cell for cell in cells if cell] == list(map(str, range(len(under))))
    return numbered and all(column and not any(map(is_number, column)) for column in under)


def _are_cells(cells: Sequence[str], meanings: Sequence[Meaning | None], columns: Sequence[Sequence[str]]) -> bool:
    """Whether the row looks like those below: its cells repeat in their columns, or it holds a language above languages.

    "question 1" counts as repeated in "question 2"; with no rows below it is a cell rather than a name.
    """
    if len({sense.word in CERTAIN[2:] for sense in meanings if sense and sense.word in CERTAIN and not sense.detail}) == 2:  # both sides
        return False
    numbered = all(_DIGITS.search(cell) for cell in cells if cell)
    if numbered and not any(columns):
        return True
    wide = sum(map(bool, cells)) > 2
    for cell, known, column in zip(cells, meanings, columns, strict=True):
        again = list(map(_mask_numbers, column)).count(_mask_numbers(cell)) if cell else 0
        if (again > 1 and 5 * again >= len(column)) or ((wide or numbered) and again == len(column) == 1):
            return True
        if known and known.kind == "language" and len(column) > 1 - wide and _are_languages(column):
            return True
    return False


def _mask_numbers(cell: str) -> str:
    """Returns a cell without its numbers: "Sentence 1" and "Sentence 2" become equal."""
    return _DIGITS.sub("\0", cell)


def _are_languages(column: Sequence[str]) -> bool:
    return holds_languages(column) or 3 * sum(map(bool, map(find_language, column))) >= 2 * len(column)


def _are_two_names(cells: Sequence[str], meanings: Sequence[Meaning | None], columns: Sequence[Sequence[str]]) -> bool:
    """Whether two cells name two different things. One thing in two languages ("word" and "Wort") is a pair of a word list."""
    low = tuple(cell.casefold() for cell in cells if cell)
    if low == ("q", "a"):
        return True
    (first, _), (second, _) = known = [(sense, column) for sense, column, cell in zip(meanings, columns, cells, strict=True) if cell]
    if not first or not second or ALSO_WORDS.issuperset(low) or low[0] == low[1]:
        return False
    same, kinds = first[:2] == second[:2], {first.kind, second.kind}
    if (same and (first.kind == "language" or first.detail)) or kinds.isdisjoint(_TEXTS):
        return False
    unsure = same or "vague" in kinds or any(sense.kind == "aside" and rank_dullness(column) < 2 for sense, column in known)
    return not (unsure and _are_words(columns))


def _are_names(cells: Sequence[str], meanings: Sequence[Meaning | None], columns: Sequence[Sequence[str]]) -> bool:
    """Whether at least half of three or more cells are known names: of two texts, or of one text and a remark column."""
    unsure = _are_words(columns)
    senses = [(cell.casefold(), sense) for cell, sense in zip(cells, meanings, strict=True)]
    known = [(cell, sense) for cell, sense in senses if sense and (sense.kind != "vague" or not unsure)]
    filled = sum(map(bool, cells))
    if 2 * len(known) < filled or (len(known) < filled and not any(columns)) or ALSO_WORDS.issuperset(cell for cell, _ in known):
        return False
    texts = {cell: sense[:2] for cell, sense in known if sense.kind in _TEXTS}
    return len(set(texts.values())) > 1 or (len(texts) == 1 and len(known) > 1)


def _are_words(columns: Sequence[Sequence[str]]) -> bool:
    """Whether most cells below are single words, or too few to tell."""
    cells = [cell for column in columns for cell in column]
    return len(cells) < 4 or 2 * sum(map(_is_word, cells)) > len(cells)


def _is_word(cell: str) -> bool:
    return len(cell) <= (4 if cell[0] > "\u2e80" else 15) and not any(sign.isspace() or sign.isdigit() for sign in cell)

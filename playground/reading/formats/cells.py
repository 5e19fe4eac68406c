"""Cells: recognises columns without sentences: numbers, addresses, licences, language codes, labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from playground.reading.formats.column_words import LABELS
from playground.reading.formats.languages import find_language, fold, is_language
from playground.reading.text import normalise

_NUMBER = re.compile(r"(?=.*\d)[\d.,:/%+\- ]+([eE][-+]?\d+)?")
_MOMENT = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[ T,]+\d{1,2}:\d{2}.{0,25}")  # 2024/01/02 3:04:05 PM GMT+1
_LINKS = ("http://", "https://", "www.")
_GUID = re.compile(r"\S{8,12}")
_COUNTED = re.compile(r"([^\W\d_]{1,12})[ .-]{0,2}\d{1,4}")  # Lesson 1, U2, HSK 3
_TO = re.compile(r"[-_/>→]+")  # en-de, eng_deu, en>de
_SHORT = 25  # maximum characters of a label
_DIGITS = 16  # a row number has fewer
STOPS = (".", "!", "?", "。", "！", "？")


def is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None


def rank_dullness(cells: Sequence[str]) -> int:
    """Ranks a column from 0 (possibly sentences) to 6 (certainly none)."""
    filled = [cell for cell in cells if cell]
    few = len(filled) < 3

    def mostly(test: Callable[[str], object]) -> bool:
        return bool(filled) and 20 * sum(map(bool, map(test, filled))) >= 19 * len(filled)

    if not filled:
        return 6
    if mostly(is_number):
        return 5 if is_running_number(filled) or few else 3
    if mostly(lambda cell: cell.startswith(_LINKS)) or find_licence(cells):
        return 4
    if mostly(_MOMENT.fullmatch) or holds_languages(filled):
        return 3
    if not few and len(set(filled)) == len(filled) and mostly(lambda cell: _GUID.fullmatch(cell) and not cell.isalpha()):
        return 3
    return 2 if _are_labels(filled) else 0


def is_running_number(cells: Sequence[str]) -> bool:
    """Whether the cells are consecutive numbers."""
    first = cells[0] if cells else ""
    return first.isdecimal() and len(first) < _DIGITS and all(cell == str(int(first) + place) for place, cell in enumerate(cells))


def holds_languages(filled: Sequence[str]) -> bool:
    """Whether all cells are languages or pairs of them ("en", "German", "en-de") with few distinct values: "el" and "de" are also words."""
    different = set(filled)
    few = 2 * len(different) <= max(2, len(filled)) or (len(different) < len(filled) and all(map(find_language, different)))
    return few and all(map(_is_language, different))


def _is_language(cell: str) -> bool:
    parts = _TO.split(cell.casefold())
    return is_language(cell) or (cell.isupper() and is_language(cell.casefold())) or (len(parts) == 2 and all(map(is_language, parts)))


def _are_labels(filled: Sequence[str]) -> bool:
    """Whether all of several cells are equal, or of the few kinds that labels are."""
    count, different = len(filled), set(filled)
    if (count > 1 and len(different) == 1) or (count >= 8 and len(different) <= 2):
        return True
    if max(map(len, different)) > _SHORT:
        return False
    if all(fold(cell) in LABELS for cell in different):
        return True
    numbered = list(map(_COUNTED.fullmatch, different))
    if len(different) < count and all(numbered) and len({match[1] for match in numbered}) == 1:
        return True
    return count >= 6 and 3 * len(different) <= count and not any(cell.endswith(STOPS) for cell in different)


def find_licence(cells: Sequence[str]) -> str:
    """Returns the licences in the cells, as ManyThings writes them ("CC-BY 2.0 … #sentence number"); "" for any other cells."""
    counts = Counter(cell.strip().split(" #")[0] for cell in cells)
    common = [normalise(name) for name, count in counts.most_common() if name and count * 100 >= counts.total()]
    return "; ".join(common) if all(name.startswith(("CC-", "CC ", "CC0")) for name in common) else ""

"""Columns by their names and cells: source, target, languages; columns without sentences: numbers, addresses, licences, codes, labels; and
inflectional features.

The same name is a column of sentences in one file and of source addresses in another, so a summary of the cells decides too.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from playground.reading.formats.column_names import CERTAIN, LABELS, LANGUAGE_OF, SIDES, SOURCES, TARGETS, UNITS, find_meaning, plain
from playground.reading.formats.languages import find_language, fold, is_language
from playground.reading.formats.records import STOPS
from playground.reading.text import normalise

_NUMBER = re.compile(r"(?=.*\d)[\d.,:/%+\- ]+([eE][-+]?\d+)?")
_MOMENT = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[ T,]+\d{1,2}:\d{2}.{0,25}")  # 2024/01/02 3:04:05 PM GMT+1
_LINKS = ("http://", "https://", "www.")
_GUID = re.compile(r"\S{8,12}")
_COUNTED = re.compile(r"([^\W\d_]{1,12})[ .-]{0,2}\d{1,4}")  # Lesson 1, U2, HSK 3
_TO = re.compile(r"[-_/>→]+")  # en-de, eng_deu, en>de
_SHORT = 25  # maximum characters of a label
_DIGITS = 16  # a row number has fewer
MIN_FORMS = 8  # rows of an inflection table
_FEATURES = re.compile(r"[A-Z][\w.+/{}=-]*(?:[;|][\w.+/{}=-]+)+|[A-Z][a-zA-Z]*=\S+")  # V;IND;PRS;1;SG; Case=Nom|Number=Sing
_MOSTLY = 0.95
_WEAK = {"label", "x", "y", "in", "out", "to", "from", "correct", "clean", "simplified", "action", "actions"}  # not a side by themselves


class ColumnSummary(NamedTuple):
    """Counts over the cells of a column."""

    rows: int
    filled: int
    texts: int  # of these not numbers
    coded: int  # of these with a digit
    different: int
    long: int  # of the texts longer than a word or a code


def summarise_column(cells: Iterable[str | list[str]]) -> ColumnSummary:
    texts_and_lists = [cell if isinstance(cell, str) else (cell[0] if cell else "") for cell in cells]
    filled = [cell for cell in texts_and_lists if cell]
    texts = [cell for cell in filled if type(cell) is str and not cell.isdigit()]
    numbered = sum(any(character.isdigit() for character in cell[:200]) for cell in texts)
    long = sum(len(cell) > 8 or " " in cell or not cell.isascii() for cell in texts)
    return ColumnSummary(len(texts_and_lists), len(filled), len(texts), numbered, len(set(filled)), long)


def find_pair(names: Sequence[str], summaries: Sequence[ColumnSummary]) -> tuple[int, int] | tuple[()]:
    """Returns the indices of source and target where names tell, else ()."""
    words = list(map(_find_side_word, names, summaries))
    src = _find_first(SOURCES, words, summaries, varied=True)
    tgt = _find_first(TARGETS, words, summaries)
    if src is None or tgt is None:
        return ()
    sure = words[src].startswith(CERTAIN) and words[tgt].startswith(CERTAIN)
    return (src, tgt) if sure or _count_languages(names) < 2 else ()


def find_side(names: Sequence[str], summaries: Sequence[ColumnSummary]) -> tuple[int, str] | None:
    """Returns the only column whose name tells its side, and that side: "source", "target" or "" (it follows from its position); None
    without such a column, or with several, or two languages."""
    words = [word if word not in _WEAK else "" for word in map(_find_side_word, names, summaries)]
    src, tgt = _find_first(SOURCES, words, summaries, varied=True), _find_first(TARGETS, words, summaries)
    place = tgt if src is None else src
    if place is None or (src is not None and tgt is not None) or words.count(words[place]) > 1 or _count_languages(names) > 1:
        return None
    return place, "target" if src is None else "" if words[place] in UNITS else "source"


def _count_languages(names: Sequence[str]) -> int:
    return sum(sense is not None and sense.kind == "language" for sense in map(find_meaning, names))


def _find_side_word(name: str, summary: ColumnSummary) -> str:
    """Returns the listed word that tells the side of a column, or ""."""
    word = plain(name)
    if word in SIDES:
        return word
    if word.endswith(LANGUAGE_OF):  # a language's name, or sentences in it
        return next((sure for sure in CERTAIN if word.startswith(sure) and 2 * summary.long > summary.filled), "")
    sense = find_meaning(name)
    return sense.word if sense and sense.kind in ("source", "target", "unit") else ""


def _find_first(wanted: Sequence[str], words: Sequence[str], summaries: Sequence[ColumnSummary], varied: bool = False) -> int | None:
    """Returns the index of the first listed word, preferring columns that are mostly filled and, if `varied`, have distinct cells."""
    places = [words.index(word) for word in wanted if word in words]
    full = [place for place in places if 2 * summaries[place].filled >= summaries[place].rows]
    if varied:  # an instruction or the name of a collection repeats in every row
        varied_ones = [place for place in full if summaries[place].different > (3 if summaries[place].rows >= 10 else 1)]
        full = varied_ones or full
    return next(iter(full or places), None)


def rank_columns(names: Sequence[str], summaries: Sequence[ColumnSummary]) -> list[int]:
    """Ranks each column: 0 a language, 1 other sentences, 2 numbers, little, or remarks on sentences, 3 no text by its name.

    With fewer than two of rank 0 or 1, rank 2 counts as sentences.
    """
    column_ranks = list(map(_rank_column, names, summaries))
    return column_ranks if sum(place < 2 for place in column_ranks) > 1 else [1 if place < 3 else 3 for place in column_ranks]


def _rank_column(name: str, summary: ColumnSummary) -> int:
    last = name.rpartition(".")[2]
    numbers = 2 * summary.texts < summary.filled
    sense = find_meaning(last) or find_meaning(name)
    kind = sense.kind if sense else ""
    if plain(last) in ("id", "no") or (kind == "language" and plain(last).endswith("_id")):
        return 3 if numbers or 2 * summary.coded >= summary.filled else 0  # record numbers, or Indonesian (Norwegian)
    codes = plain(last).endswith(LANGUAGE_OF) and kind != "language" and 2 * summary.long <= summary.filled
    if last.startswith("__") or kind == "aside" or codes:
        return 3
    if numbers or 2 * summary.filled < summary.rows or kind == "beside":
        return 2
    return 0 if kind == "language" else 1


# --- cells ---


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


def find_features(columns: Sequence[Sequence[str]]) -> int | None:
    """Returns the index of the feature column of an inflection table, as in UniMorph and SIGMORPHON: a lemma, one of its forms, and the
    form's features ("gehen", "ging", "V;IND;PST;1;SG"); None without one.

    Features are part of the source: a bare lemma has many correct targets. Beside sentences such codes are labels.
    """
    places = [place for place, cells in enumerate(columns) if _are_features(cells)] if len(columns) == 3 else []
    if len(places) != 1:
        return None
    long = any(cell.strip().count(" ") > 3 for place, cells in enumerate(columns) if place != places[0] for cell in cells)
    return None if long else places[0]


def _are_features(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    if len(filled) < MIN_FORMS or 3 * len(set(filled)) > 2 * len(filled):
        return False
    return sum(bool(_FEATURES.fullmatch(cell)) for cell in filled) >= _MOSTLY * len(filled)

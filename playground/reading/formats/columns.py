"""Columns by their names: source, target, languages, and columns without sentences.

The same name is a column of sentences in one file and of source addresses in another, so a summary of the cells decides too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from playground.reading.formats.column_names import SIDES, count_certain, count_known, find_meaning, plain
from playground.reading.formats.column_words import CERTAIN, CREDITS, LANGUAGE_OF, SOURCES, TARGETS, UNITS
from playground.reading.formats.languages import is_language

__all__ = [
    "CREDITS", "SOURCES", "TARGETS", "ColumnSummary", "Side", "count_certain", "count_known", "find_meaning", "find_pair", "find_side",
    "is_language", "plain", "rank_columns", "summarise_column",
]  # fmt: skip

_WEAK = {"label", "x", "y", "in", "out", "to", "from", "correct", "clean", "simplified", "action", "actions"}  # not a side by themselves


class ColumnSummary(NamedTuple):
    """Counts over the cells of a column."""

    rows: int
    filled: int
    texts: int  # of these not numbers
    coded: int  # of these with a digit
    different: int
    long: int  # of the texts longer than a word or a code


class Side(NamedTuple):
    """The only column whose name tells its side."""

    place: int
    side: str  # "source", "target" or "": the side follows from its position

    def pair_with(self, other: int) -> tuple[int, int]:
        """Returns the indices of source and target, given the other column."""
        if not self.side:
            return min(self.place, other), max(self.place, other)
        return (self.place, other) if self.side == "source" else (other, self.place)


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


def find_side(names: Sequence[str], summaries: Sequence[ColumnSummary]) -> Side | None:
    """Returns the only column whose name tells its side; None without one, or with several, or two languages."""
    words = [word if word not in _WEAK else "" for word in map(_find_side_word, names, summaries)]
    src, tgt = _find_first(SOURCES, words, summaries, varied=True), _find_first(TARGETS, words, summaries)
    place = tgt if src is None else src
    if place is None or (src is not None and tgt is not None) or words.count(words[place]) > 1 or _count_languages(names) > 1:
        return None
    return Side(place, "target" if src is None else "" if words[place] in UNITS else "source")


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

"""Columns by their names: which are source and target, which are languages, and which hold no sentences at all.

A name is told from its look: the same word is a column of sentences in one file and of sources' addresses in the next, so what is in
the cells has a say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from playground.reading.formats.column_names import SIDES, certain, common, meaning, plain
from playground.reading.formats.column_words import CERTAIN, CREDITS, LANGUAGE_OF, SOURCES, TARGETS, UNITS
from playground.reading.formats.languages import is_language

__all__ = [
    "CREDITS", "SOURCES", "TARGETS", "Look", "Side", "certain", "common", "is_language", "look", "meaning", "pair_of", "plain", "ranks",
    "side_of",
]  # fmt: skip

_WEAK = {"label", "x", "y", "in", "out", "to", "from", "correct", "clean", "simplified", "action", "actions"}  # no side by themselves


class Look(NamedTuple):
    """What is in the cells of a column."""

    rows: int
    filled: int
    texts: int  # of these are no numbers
    coded: int  # of these hold a digit
    different: int
    long: int  # of the texts are more than a word or a code


class Side(NamedTuple):
    """A column that is one of the two."""

    place: int
    side: str  # "source", "target" or "", which is the side on which it stands

    def beside(self, other: int) -> tuple[int, int]:
        """The places of source and target, where `other` is the one that isn't this."""
        if not self.side:
            return min(self.place, other), max(self.place, other)
        return (self.place, other) if self.side == "source" else (other, self.place)


def look(cells: Iterable[str | list[str]]) -> Look:
    said = [cell if isinstance(cell, str) else (cell[0] if cell else "") for cell in cells]
    filled = [cell for cell in said if cell]
    texts = [cell for cell in filled if type(cell) is str and not cell.isdigit()]
    numbered = sum(any(character.isdigit() for character in cell[:200]) for cell in texts)
    long = sum(len(cell) > 8 or " " in cell or not cell.isascii() for cell in texts)
    return Look(len(said), len(filled), len(texts), numbered, len(set(filled)), long)


def pair_of(names: Sequence[str], looks: Sequence[Look]) -> tuple[int, int] | tuple[()]:
    """The places of source and target where names say so, else ()."""
    words = list(map(_side_word, names, looks))
    src = _first(SOURCES, words, looks, varied=True)
    tgt = _first(TARGETS, words, looks)
    if src is None or tgt is None:
        return ()
    sure = words[src].startswith(CERTAIN) and words[tgt].startswith(CERTAIN)
    return (src, tgt) if sure or _languages(names) < 2 else ()


def side_of(names: Sequence[str], looks: Sequence[Look]) -> Side | None:
    """The one column whose name says on which side it is; None if there is none, several, or two languages."""
    words = [word if word not in _WEAK else "" for word in map(_side_word, names, looks)]
    src, tgt = _first(SOURCES, words, looks, varied=True), _first(TARGETS, words, looks)
    place = tgt if src is None else src
    if place is None or (src is not None and tgt is not None) or words.count(words[place]) > 1 or _languages(names) > 1:
        return None
    return Side(place, "target" if src is None else "" if words[place] in UNITS else "source")


def _languages(names: Sequence[str]) -> int:
    return sum(one is not None and one.kind == "language" for one in map(meaning, names))


def _side_word(name: str, seen: Look) -> str:
    """The word of the lists that a column's name says for its side, or ""."""
    word = plain(name)
    if word in SIDES:
        return word
    if word.endswith(LANGUAGE_OF):  # the name of a language, or sentences in it
        return next((sure for sure in CERTAIN if word.startswith(sure) and 2 * seen.long > seen.filled), "")
    found = meaning(name)
    return found.word if found and found.kind in ("source", "target", "unit") else ""


def _first(wanted: Sequence[str], words: Sequence[str], looks: Sequence[Look], varied: bool = False) -> int | None:
    """The place of the first word of the list; of one whose cells are mostly filled, and differ where they should, if there is any."""
    there = [words.index(word) for word in wanted if word in words]
    full = [place for place in there if 2 * looks[place].filled >= looks[place].rows]
    if varied:  # an instruction or the name of a collection is the same in every row
        varied_ones = [place for place in full if looks[place].different > (3 if looks[place].rows >= 10 else 1)]
        full = varied_ones or full
    return next(iter(full or there), None)


def ranks(names: Sequence[str], looks: Sequence[Look]) -> list[int]:
    """For each column 0 if it is a language, 1 if it holds other sentences, 2 if it holds numbers, little, or what is said about sentences,
    3 if its name says no text.

    Numbers and the like count as sentences where there are too few of these.
    """
    found = list(map(_rank, names, looks))
    return found if sum(place < 2 for place in found) > 1 else [1 if place < 3 else 3 for place in found]


def _rank(name: str, seen: Look) -> int:
    last = name.rpartition(".")[2]
    numbers = 2 * seen.texts < seen.filled
    said = meaning(last) or meaning(name)
    kind = said.kind if said else ""
    if plain(last) in ("id", "no") or (kind == "language" and plain(last).endswith("_id")):
        return 3 if numbers or 2 * seen.coded >= seen.filled else 0  # numbers of records, or Indonesian (Norwegian)
    codes = plain(last).endswith(LANGUAGE_OF) and kind != "language" and 2 * seen.long <= seen.filled
    if last.startswith("__") or kind == "aside" or codes:
        return 3
    if numbers or 2 * seen.filled < seen.rows or kind == "beside":
        return 2
    return 0 if kind == "language" else 1

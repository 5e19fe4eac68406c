"""What of a sentence a vocabulary doesn't hold, what it holds instead, and the nearest sentence of which it knows every token."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from playground.config import SPECIAL_TOKENS, UNK
from playground.data.tokenizers import CharacterTokenizer, Tokenizer
from playground.reading.text import normalise

WORD_START = "▁"  # of SentencePiece
ALIKE, SIMILAR = 0.75, 0.5  # difflib's ratio from which another word counts as meant; from which it is worth being offered
MAX_OFFERED = 3  # known words for one that isn't
MAX_COMPARED = 3_000  # words of a vocabulary that one is compared with


@dataclass(frozen=True)
class Unknown:
    """`tokens`: the unknown ones as shown, each once. `runs`: the known characters as (first, last) of unbroken runs; () for words.
    `size`: how many characters or words are known. `readable`: the nearest sentence without unknown tokens, or "". `nearest`: of each
    unknown word the known ones that are spelt most like it, the nearest first; {} for characters."""

    tokens: tuple[str, ...]
    runs: tuple[tuple[str, str], ...]
    size: int
    readable: str
    nearest: dict[str, tuple[str, ...]]


def unknown(tokenizer: Tokenizer, text: str) -> Unknown | None:
    """What this tokenizer can't read of `text`; None when it knows all of it."""
    tokens = unknown_tokens(tokenizer, text)
    if not tokens:
        return None
    known = _known(tokenizer)
    words = tokenizer.kind == "words"
    if not words:
        return Unknown(tokens, _runs(known), len(known), normalise(_spelt(_cut(tokenizer, normalise(text)), known)), {})
    readable = normalise(" ".join(map(_nearest_word(known), normalise(text).split())))
    return Unknown(tokens, (), len(known), readable, {word: _similar(word, known) for word in tokens})


def unknown_tokens(tokenizer: Tokenizer, text: str) -> tuple[str, ...]:
    """The tokens of `text` that are read as <unk>, as shown, each once."""
    strange = (shown.strip(WORD_START) for shown, id in tokenizer.pieces(text) if id == UNK)
    return tuple(dict.fromkeys(filter(None, strange)))


def replaced(text: str, word: str, by: str) -> str:
    """The text with another word wherever this one stands."""
    return " ".join(by if one == word else one for one in normalise(text).split())


@lru_cache(maxsize=64)
def _known(tokenizer: Tokenizer) -> frozenset[str]:
    """The words, or the characters, of which the vocabulary is made."""
    pieces = map(tokenizer.piece, range(len(SPECIAL_TOKENS), tokenizer.size))
    if tokenizer.kind == "words":
        return frozenset(pieces)
    return frozenset(" " if character in ("␣", WORD_START) else character for piece in pieces for character in _cut(tokenizer, piece))


def _cut(tokenizer: Tokenizer, text: str) -> Sequence[str]:
    """The characters of a text as this vocabulary has them."""
    return tokenizer.cut(text) if isinstance(tokenizer, CharacterTokenizer) else text


def _similar(word: str, known: frozenset[str]) -> tuple[str, ...]:
    """The known words that are spelt most like this one; first the same one in other letters."""
    folded = _folded(known)
    return tuple(folded[found] for found in get_close_matches(word.casefold(), sorted(folded)[:MAX_COMPARED], MAX_OFFERED, SIMILAR))


def _folded(known: frozenset[str]) -> dict[str, str]:
    """The known words by what they are in small letters."""
    return {word.casefold(): word for word in sorted(known)}


def _spelt(characters: Iterable[str], known: frozenset[str]) -> str:
    """These characters in small letters where only those are known, without what isn't known either way."""
    return "".join(next((form for form in (character, character.lower()) if form in known), "") for character in characters)


def _nearest_word(known: frozenset[str]):
    """A function from a word to itself, to the same word in other letters, to one that is spelt much like it, or to ""."""
    folded = _folded(known)
    compared = sorted(folded)[:MAX_COMPARED]

    def nearest(word: str) -> str:
        if word in known:
            return word
        close = [word.casefold()] if word.casefold() in folded else get_close_matches(word.casefold(), compared, 1, ALIKE)
        return folded[close[0]] if close else ""

    return nearest


def _runs(characters: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Characters as (first, last) of runs without a gap, in the order of Unicode."""
    runs: list[tuple[str, str]] = []
    for character in sorted(characters):
        if runs and len(character) == len(runs[-1][1]) == 1 and ord(character) == ord(runs[-1][1]) + 1:
            runs[-1] = (runs[-1][0], character)
        else:
            runs.append((character, character))
    return tuple(runs)

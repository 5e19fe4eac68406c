"""Finds tokens of a sentence that a vocabulary lacks, known ones in their place, and the nearest sentence without unknown tokens; and the
spellings of a word in pieces."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from playground.config import SPECIAL_TOKENS, UNK
from playground.data.tokenizers import CharacterTokenizer, SentencePieceTokenizer, Tokenizer
from playground.reading.text import normalise

WHOLE_WORDS = ("words", "wordpiece")  # kinds of tokenizers to which whole words are unknown
WORD_START = "▁"  # SentencePiece's mark
UNSPACED = re.compile("[\u3005-\u30ff\u3400-\u9fff]")  # Chinese and Japanese: words without spaces between them
ALIKE, SIMILAR = 0.75, 0.5  # difflib's ratio from which a word replaces another; from which it is offered
MAX_OFFERED = 3  # known words per unknown one
MAX_SPELLINGS = 1_000  # of one word
MAX_COMPARED = 3_000  # words of a vocabulary that an unknown word is compared with


@dataclass(frozen=True)
class Unknown:
    """`tokens`: the unknown ones as displayed, each once. `runs`: the known characters as (first, last) of unbroken runs; () for words.
    `known`: all known characters or words. `readable`: the nearest sentence without unknown tokens, or "". `nearest`: for each unknown
    word the known ones of the most similar spelling, best first; {} for characters."""

    tokens: tuple[str, ...]
    runs: tuple[tuple[str, str], ...]
    known: frozenset[str]
    readable: str
    nearest: dict[str, tuple[str, ...]]


def find_unknown(tokenizer: Tokenizer, text: str) -> Unknown | None:
    """Returns the unknown tokens of `text` for this tokenizer; None when it knows all."""
    tokens = unknown_tokens(tokenizer, text)
    if not tokens:
        return None
    known = _known(tokenizer)
    if tokenizer.kind in WHOLE_WORDS:
        return _unknown_words(tokens, known, text)
    characters = _cut(tokenizer, normalise(text))  # in lower case where only that is known, without unknown ones
    spelt = (next((form for form in (character, character.lower()) if form in known), "") for character in characters)
    return Unknown(tokens, _runs(known), known, normalise("".join(spelt)), {})


def unknown_tokens(tokenizer: Tokenizer, text: str) -> tuple[str, ...]:
    """Returns the tokens of `text` that are read as <unk>, as displayed, each once."""
    strange = (piece.strip(WORD_START) for piece, id in tokenizer.pieces(text) if id == UNK)
    return tuple(dict.fromkeys(filter(None, strange)))


def replace_word(text: str, word: str, by: str) -> str:
    """Replaces every occurrence of a word in the text."""
    return " ".join(by if other == word else other for other in normalise(text).split())


def spell_word(tokenizer: Tokenizer, word: str) -> list[tuple[int, ...]]:
    """Returns the tokens of a word or several. Pieces can spell it in many ways: the tokenizer's own, then the shortest, in all at most
    MAX_SPELLINGS."""
    own = tuple(tokenizer.encode(word))
    if not isinstance(tokenizer, SentencePieceTokenizer):
        return [own]
    text, pieces = normalise(word).replace(" ", WORD_START), _list_pieces(tokenizer)
    unspaced = UNSPACED.match(text)  # only a sentence begins with a mark
    spellings = [] if unspaced else [own]
    begun = [((), text)] if unspaced else []  # tokens, and the characters that they leave
    begun.append(((), WORD_START + text))
    while begun and len(spellings) < MAX_SPELLINGS:
        longer = [
            ((*ids, pieces[rest[:size]]), rest[size:]) for ids, rest in begun for size in range(1, len(rest) + 1) if rest[:size] in pieces
        ]
        spellings += [ids for ids, rest in longer if not rest]
        begun = [(ids, rest) for ids, rest in longer if rest][:MAX_SPELLINGS]
    return list(dict.fromkeys(spellings))[:MAX_SPELLINGS]


def continuing_tokens(tokenizer: Tokenizer) -> frozenset[int]:
    """Returns the pieces that continue the word before them: those that begin with a letter or digit."""
    pieces = _list_pieces(tokenizer) if isinstance(tokenizer, SentencePieceTokenizer) else {}
    return frozenset(token for piece, token in pieces.items() if piece[0].isalnum() and not UNSPACED.match(piece))


@lru_cache(maxsize=64)
def _list_pieces(tokenizer: Tokenizer) -> dict[str, int]:
    return {tokenizer.piece(token): token for token in range(len(SPECIAL_TOKENS), tokenizer.size)}


@lru_cache(maxsize=64)
def _known(tokenizer: Tokenizer) -> frozenset[str]:
    """Returns the words, or the characters, of the vocabulary."""
    pieces = map(tokenizer.piece, range(len(SPECIAL_TOKENS), tokenizer.size))
    if tokenizer.kind in WHOLE_WORDS:
        return frozenset(pieces)
    return frozenset(" " if character in ("␣", WORD_START) else character for piece in pieces for character in _cut(tokenizer, piece))


def _cut(tokenizer: Tokenizer, text: str) -> Sequence[str]:
    """Splits a text into characters as this vocabulary does."""
    return tokenizer.cut(text) if isinstance(tokenizer, CharacterTokenizer) else text


def _unknown_words(tokens: tuple[str, ...], known: frozenset[str], text: str) -> Unknown:
    """Finds for each unknown word the known ones of the most similar spelling, first a match that differs in case only."""
    folded = {word.casefold(): word for word in sorted(known)}
    compared = sorted(folded)[:MAX_COMPARED]

    def nearest(word: str) -> str:
        """Returns the word itself, its match in other case, the most similar known word, or ""."""
        if word in known:
            return word
        close = [word.casefold()] if word.casefold() in folded else get_close_matches(word.casefold(), compared, 1, ALIKE)
        return folded[close[0]] if close else ""

    similar = {word: get_close_matches(word.casefold(), compared, MAX_OFFERED, SIMILAR) for word in tokens}
    offered = {word: tuple(folded[match] for match in matches) for word, matches in similar.items()}
    words = [nearest(word) for word in normalise(text).split()]
    return Unknown(tokens, (), known, normalise(" ".join(words)) if all(words) else "", offered)  # not what is left of a sentence


def _runs(characters: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Groups characters into (first, last) of runs without a gap, in Unicode order."""
    runs: list[tuple[str, str]] = []
    for character in sorted(characters):
        if runs and len(character) == len(runs[-1][1]) == 1 and ord(character) == ord(runs[-1][1]) + 1:
            runs[-1] = (runs[-1][0], character)
        else:
            runs.append((character, character))
    return tuple(runs)

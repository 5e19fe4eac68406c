"""What a reader gets: pieces, outputs, and everything inside one sentence, as plain values that never change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from playground.config import EOS, SPECIAL_TOKENS, UNK
from playground.data.tokenizers import Tokenizer


@dataclass(frozen=True)
class Piece:
    """One token as shown. `known` is False when the model has never seen it and reads <unk> instead."""

    text: str
    id: int
    known: bool = True


@dataclass(frozen=True)
class Likely:
    """A token the model might have written here, and how likely it was."""

    text: str
    id: int
    probability: float


@dataclass(frozen=True)
class Candidate:
    """One output. `pieces` and `probabilities` per token, EOS included when it came; `right` per token against the nearest reference."""

    text: str
    pieces: tuple[Piece, ...]
    probabilities: tuple[float, ...]
    score: float
    finished: bool
    right: tuple[bool, ...] | None
    correct: bool | None  # the whole of it; None when no reference is known
    copied: tuple[str | None, ...] = ()  # per token, the word of the source that `text` has in its place; empty where none was asked for


@dataclass(frozen=True)
class SentenceTrace:
    """Everything inside one sentence: rows of decoder and cross ask for `asked`, decoder columns are `fed`, cross columns are `source`.

    A weight of 0 may be a small one (pictures of the replay are rounded); what is masked, the model's mask functions tell.
    """

    step: int
    source: tuple[Piece, ...]  # S, EOS last
    fed: tuple[Piece, ...]  # T, BOS first
    asked: tuple[Piece, ...]  # T, EOS last when it came
    encoder: np.ndarray  # (L, H, S, S)
    decoder: np.ndarray  # (L, H, T, T)
    cross: np.ndarray  # (L, H, T, S)
    likely: tuple[tuple[Likely, ...], ...]  # T times the five likeliest tokens
    probabilities: tuple[float, ...]  # T, of the asked tokens
    alignment: tuple[int | None, ...] | None  # per asked token, the source token it must look at
    right: tuple[bool, ...] | None  # per asked token, against the nearest reference
    references: tuple[str, ...] | None
    finished: bool  # the last asked token is EOS


def pieces_of(tokenizer: Tokenizer, text: str, end: bool = False) -> tuple[Piece, ...]:
    """A text as its tokens; the unknown ones keep their own text. With `end`, EOS after them."""
    pieces = tuple(Piece(shown, id, id != UNK) for shown, id in tokenizer.pieces(text))
    return (*pieces, Piece(SPECIAL_TOKENS[EOS], EOS)) if end else pieces


def pieces_from(tokenizer: Tokenizer, ids: tuple[int, ...]) -> tuple[Piece, ...]:
    """Written tokens; special ones by their names."""
    return tuple(Piece(tokenizer.piece(id), id) for id in ids)


def likely_of(tokenizer: Tokenizer, ids: np.ndarray, probabilities: np.ndarray) -> tuple[tuple[Likely, ...], ...]:
    """Both (T, n) -> the n likeliest tokens of each step."""
    rows = zip(ids.tolist(), probabilities.tolist(), strict=True)
    return tuple(tuple(Likely(tokenizer.piece(i), i, p) for i, p in zip(*row, strict=True)) for row in rows)

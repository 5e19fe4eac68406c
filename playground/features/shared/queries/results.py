"""Results of the reader: pieces, outputs, everything inside one sentence; and right answers: references, their alignment, examples."""

from dataclasses import dataclass

import numpy as np

from playground.config import EOS, SPECIAL_TOKENS, UNK
from playground.data.tokenizers import Tokenizer
from playground.runs.corpora import Corpora
from playground.runs.run import Run
from playground.tasks.toy_tasks import TASKS, answers, examples

Alignment = tuple[int | None, ...]


@dataclass(frozen=True)
class Piece:
    """A displayed token. `known` is False when it isn't in the vocabulary and the model reads <unk> instead."""

    text: str
    id: int
    known: bool = True


@dataclass(frozen=True)
class Likely:
    """A candidate token of a decoding step with its probability."""

    text: str
    id: int
    probability: float


@dataclass(frozen=True)
class Candidate:
    """One output. `pieces` and `probabilities` per token, EOS included if written; `right` per token against the nearest reference."""

    text: str
    pieces: tuple[Piece, ...]
    probabilities: tuple[float, ...]
    score: float
    finished: bool
    right: tuple[bool, ...] | None
    correct: bool | None  # the whole of it; None when no reference is known
    copied: tuple[str | None, ...] = ()  # per token, the source word that replaces it in `text`; empty without copying


@dataclass(frozen=True)
class SentenceTrace:
    """Everything inside one sentence: rows of decoder and cross predict `targets`, decoder columns are `fed`, cross columns are `source`.

    A weight of 0 may be a small one (frames of the replay are rounded); masked cells are those of the model's mask functions.
    """

    step: int
    source: tuple[Piece, ...]  # S, EOS last
    fed: tuple[Piece, ...]  # T, BOS first
    targets: tuple[Piece, ...]  # T, EOS last if it was written
    encoder: np.ndarray  # (L, H, S, S)
    decoder: np.ndarray  # (L, H, T, T)
    cross: np.ndarray  # (L, H, T, S)
    likely: tuple[tuple[Likely, ...], ...]  # T times the five likeliest tokens
    probabilities: tuple[float, ...]  # T, of the targets
    alignment: tuple[int | None, ...] | None  # per target, the aligned source token
    right: tuple[bool, ...] | None  # per target, against the nearest reference
    references: tuple[str, ...] | None
    finished: bool  # the last target is EOS

    @property
    def joined(self) -> np.ndarray:
        """The whole matrices of a decoder-only model, (L, H, S + T, S + T)."""
        hidden = np.zeros((*self.encoder.shape[:3], self.decoder.shape[3]), self.encoder.dtype)
        return np.block([[self.encoder, hidden], [self.cross, self.decoder]])


def pieces_of(tokenizer: Tokenizer, text: str, end: bool = False) -> tuple[Piece, ...]:
    """Tokenizes a text; unknown tokens keep their own text. With `end`, EOS follows."""
    pieces = tuple(Piece(token, id, id != UNK) for token, id in tokenizer.pieces(text))
    return (*pieces, Piece(SPECIAL_TOKENS[EOS], EOS)) if end else pieces


def pieces_from(tokenizer: Tokenizer, ids: tuple[int, ...]) -> tuple[Piece, ...]:
    """Converts ids to pieces; special tokens by their names."""
    return tuple(Piece(tokenizer.piece(id), id) for id in ids)


def likely_of(tokenizer: Tokenizer, ids: np.ndarray, probabilities: np.ndarray) -> tuple[tuple[Likely, ...], ...]:
    """Pairs ids and probabilities, both (T, n): the n likeliest tokens of each step."""
    rows = zip(ids.tolist(), probabilities.tolist(), strict=True)
    return tuple(tuple(Likely(tokenizer.piece(i), i, p) for i, p in zip(*row, strict=True)) for row in rows)


def references(run: Run, text: str) -> tuple[str, ...] | None:
    """Returns every right answer to `text`; None for a text that is no sentence of the task, or not in the run's upload."""
    if run.experiment.data.task != "own":
        return tuple(example.tgt for example in answers(run.experiment.data.task, text)) or None
    return run.pairs.references.get(text) if run.pairs else None


def alignment(run: Run, text: str, target: str, tokens: int) -> Alignment | None:
    """Returns for each of `tokens` target tokens (EOS last) the aligned source token, when `target` is a right answer to `text`.

    None where the task defines no alignment, or its units are not the tokenizers' tokens.
    """
    task = TASKS.get(run.experiment.data.task)
    if task is None or tuple(tokenizer.kind for tokenizer in run.tokenizers) != (task.src_unit, task.tgt_unit):
        return None
    places = next((example.alignment for example in answers(task.name, text) if example.tgt == target), None)
    return (*places, *[None] * (tokens - len(places))) if places and len(places) <= tokens else None


def split(run: Run, name: str, count: int, corpora: Corpora) -> list[tuple[str, str]]:
    """Returns the first (source, target) sentences of a split of the corpus."""
    data = run.experiment.data
    if data.task != "own":
        return [(example.src, example.tgt) for example in examples(data.task, name, count, data.data_seed)]
    return [(item.src, item.tgt) for item in getattr(corpora.get(run.experiment, run.pairs), name)[:count]]

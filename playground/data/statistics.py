"""Statistics of a corpus: what a person wants to know of sentences before a model trains on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from playground.config import UNK
from playground.data.corpus import SAMPLE, SPLITS, Corpus, Item
from playground.data.lazy_sequence import LazySequence
from playground.data.tokenizers import Tokenizer

FREQUENT = 12  # tokens that are named


@dataclass(frozen=True)
class SideStatistics:
    """The sources of a corpus, or its targets."""

    lengths: np.ndarray  # (pairs,) tokens of each training sentence, without EOS
    vocabulary: int  # entries, the special ones counted
    counts: np.ndarray  # (different tokens,) how often each stands in the training sentences, the most frequent first
    frequent: tuple[tuple[str, int], ...]  # the first FREQUENT of them, as they are shown
    known: float  # share of the tokens of sentences not trained on that the vocabulary has; NaN when there are none


@dataclass(frozen=True)
class Statistics:
    """Of the training sentences (a sample of them where they are drawn from a task without end), and what else a corpus has."""

    sizes: dict[str, int]  # pairs of each split
    sources: int  # different ones in training
    several: int  # of these: with more than one right answer
    most_answers: int
    repeated: int  # pairs that stand there once more
    same: int  # pairs with a target equal to its source
    src: SideStatistics
    tgt: SideStatistics


def statistics(corpus: Corpus) -> Statistics:
    """Counts everything once; the time grows with the number of sentences."""
    train = corpus.train[:SAMPLE] if isinstance(corpus.train, LazySequence) else corpus.train
    new = [*corpus.heldout, *corpus.test]
    pairs = Counter((item.src, item.tgt) for item in train)
    answers = Counter(src for src, _ in pairs)
    return Statistics(
        sizes={name: len(getattr(corpus, name)) for name in SPLITS},
        sources=len(answers),
        several=sum(count > 1 for count in answers.values()),
        most_answers=max(answers.values()),
        repeated=len(train) - len(pairs),
        same=sum(item.src == item.tgt for item in train),
        src=_side(corpus.src_tokenizer, _ids(train, 0), _ids(new, 0)),
        tgt=_side(corpus.tgt_tokenizer, _ids(train, 1), _ids(new, 1)),
    )


def _ids(items: Iterable[Item], side: int) -> list[tuple[int, ...]]:
    return [(item.src_ids, item.tgt_ids)[side] for item in items]


def _side(tokenizer: Tokenizer, train: Sequence[tuple[int, ...]], new: Sequence[tuple[int, ...]]) -> SideStatistics:
    counts = Counter(chain.from_iterable(train)).most_common()
    unseen = list(chain.from_iterable(new))
    return SideStatistics(
        lengths=np.array([len(ids) for ids in train]),
        vocabulary=tokenizer.size,
        counts=np.array([count for _, count in counts]),
        frequent=tuple((tokenizer.piece(token), count) for token, count in counts[:FREQUENT]),
        known=1 - unseen.count(UNK) / len(unseen) if unseen else float("nan"),
    )

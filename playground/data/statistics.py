"""Statistics of a corpus, shown before a model trains on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from playground.config import UNK
from playground.data.corpus import SAMPLE, SPLITS, Corpus, Item, LazySequence
from playground.data.tokenizers import Tokenizer

FREQUENT = 12  # tokens that are listed


@dataclass(frozen=True)
class SideStatistics:
    """Statistics of the sources of a corpus, or of its targets."""

    lengths: np.ndarray  # (pairs,) tokens of each training sentence, without EOS
    vocabulary: int  # entries, the special ones counted
    counts: np.ndarray  # (distinct tokens,) their frequencies in the training sentences, in descending order
    frequent: tuple[tuple[str, int], ...]  # the FREQUENT most frequent, as displayed
    known: float  # fraction of the tokens of held-out and test sentences in the vocabulary; NaN when there are none


@dataclass(frozen=True)
class Statistics:
    """Statistics of the training sentences (a sample of them if generated endlessly), and the sizes of all splits."""

    sizes: dict[str, int]  # pairs of each split
    sources: int  # distinct ones in training
    several: int  # sources with more than one right answer
    most_answers: int
    repeated: int  # duplicate pairs
    same: int  # pairs with a target equal to its source
    src: SideStatistics
    tgt: SideStatistics


def statistics(corpus: Corpus) -> Statistics:
    """Counts everything in one pass, in time linear in the number of sentences."""
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

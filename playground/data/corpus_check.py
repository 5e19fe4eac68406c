"""Statistics of a corpus, and warnings about own sentences: likely problems, each with remedies, before a model trains on them."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from playground.config import SLACK, UNK, Experiment, limits
from playground.data.corpus import SAMPLE, SPLITS, Corpus, Item, LazySequence
from playground.data.suggestion import Suggestion
from playground.data.tokenizers import Tokenizer
from playground.reading.formats.languages import detect_language
from playground.reading.pairs import Pairs
from playground.words import percentage, short

FREQUENT = 12  # tokens that are listed
SPOILT = 0.05  # fraction of the evaluated targets with a token outside the vocabulary
AMBIGUOUS = 0.5  # fraction of the sources with several targets, from which a column seems to be missing
PASSES = 2  # epochs below which the settings train too little
MAX_COLUMNS = 4  # that are offered
PARTS, PART = 10, 20  # parts whose language is identified, and pairs that each must have


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


class Mend(NamedTuple):
    """A remedy: a sentence of features/data/*.json ("mend_…") and values for its `slots`; values of knobs, or the columns to join as
    the source (`columns`: source, target, and those joined to the source)."""

    name: str
    slots: Mapping[str, Any] = {}
    knobs: Mapping[str, Any] = {}
    columns: tuple[int, int, tuple[int, ...]] | None = None


class Spoiler(NamedTuple):
    """A problem: a sentence of features/data/*.json ("warn_…"), values for its `slots`, and remedies."""

    name: str
    slots: Mapping[str, Any]
    mends: tuple[Mend, ...] = ()


def find_spoilers(
    experiment: Experiment, pairs: Pairs, corpus: Corpus, statistics: Statistics, suggest: Callable[[Mapping[str, Any]], Suggestion]
) -> Iterator[Spoiler]:
    """Yields problems of these settings for these pairs, whose `corpus` has `statistics`; `suggest` completes settings for the pairs."""
    yield from _unwritable(experiment, corpus, suggest)
    yield from _left_out(experiment, corpus)
    yield from _ambiguous(pairs, statistics)
    yield from _few_passes(experiment, statistics, suggest)
    if line := find_seam(pairs):
        yield Spoiler("glued", {"line": f"{line:,}"})


def find_epochs(experiment: Experiment, statistics: Statistics) -> float:
    """Returns the number of epochs of the training."""
    config, of_a_pair = experiment.training, statistics.src.lengths.mean() + statistics.tgt.lengths.mean()
    each = statistics.sizes["train"] * (of_a_pair if config.batch_unit == "tokens" else 1) / config.batch_size
    return float(config.steps / each)


def _unwritable(experiment: Experiment, corpus: Corpus, suggest: Callable[[Mapping[str, Any]], Suggestion]) -> Iterator[Spoiler]:
    judged = [item for split in (corpus.heldout, corpus.test) for item in split]
    share = sum(UNK in item.tgt_ids for item in judged) / len(judged)
    if share < SPOILT:
        return
    wanted, now = suggest({}).knobs, experiment.flat()
    cut = {name: wanted[name] for name in ("tokenizer", "vocab_size", "share_embeddings")}
    mends = (Mend("unwritable", knobs=cut),) if any(now[name] != value for name, value in cut.items()) else ()
    yield Spoiler("unwritable", {"percent": percentage(share, None)}, mends)


def _left_out(experiment: Experiment, corpus: Corpus) -> Iterator[Spoiler]:
    if not corpus.left_out:
        return
    most = int(limits("max_tokens").high)
    enough = min(corpus.longest_left_out, most)
    mend = Mend("left_out", {"most": enough}, {"max_tokens": enough})
    mends = (mend,) if enough > experiment.data.max_tokens else ()
    name = "left_out" if corpus.longest_left_out <= most else "left_out_still"
    yield Spoiler(name, {"count": f"{len(corpus.left_out):,}", "most": enough}, mends)


def _ambiguous(pairs: Pairs, statistics: Statistics) -> Iterator[Spoiler]:
    if statistics.several < AMBIGUOUS * statistics.sources or statistics.sources < 2:
        return
    columns = [place for place in range(len(pairs.columns)) if place not in (*pairs.chosen, *pairs.joined)][:MAX_COLUMNS]
    mends = tuple(Mend("ambiguous", columns=(*pairs.chosen, (*pairs.joined, place))) for place in columns)
    slots = {"count": f"{statistics.several:,}", "of": f"{statistics.sources:,}", "most": statistics.most_answers}
    yield Spoiler("ambiguous" if mends else "ambiguous_alone", slots, mends)


def _few_passes(experiment: Experiment, statistics: Statistics, suggest: Callable[[Mapping[str, Any]], Suggestion]) -> Iterator[Spoiler]:
    often = find_epochs(experiment, statistics)
    if often >= PASSES:
        return
    chosen = {name: value for name, value in experiment.difference().items() if name not in ("steps", "own", "task")}
    steps, now = suggest(chosen).knobs["steps"], experiment.training.steps
    if steps <= now:
        return
    slots, knobs = {"steps": f"{now:,}", "passes": short(often)}, {"steps": steps}
    if minutes := experiment.training.minutes:  # a time limit for `now` steps: more steps need more minutes
        knobs["minutes"] = min(math.ceil(SLACK * minutes * steps / now), limits("minutes").high)
    yield Spoiler("few_passes", slots, (Mend("few_passes", {"steps": f"{steps:,}"}, knobs),))


def find_seam(pairs: Pairs) -> int | None:
    """Returns the approximate line where the languages change or swap sides, as in concatenated corpora. None if all parts are alike, or
    too short to identify."""
    size = len(pairs.pairs) // PARTS
    if size < PART:
        return None
    starts = range(0, size * PARTS, size)
    before: list[str] = ["", ""]
    for start in starts:
        part = pairs.pairs[start : start + size][:: max(1, size // PART)]
        languages = [detect_language([pair[side] for pair in part]) for side in (0, 1)]
        if any(old and new and old != new for old, new in zip(before, languages, strict=True)):
            return pairs.pairs[start].line
        before = [new or old for old, new in zip(before, languages, strict=True)]
    return None

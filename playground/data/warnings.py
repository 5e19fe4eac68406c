"""Warnings: what is likely to spoil a training on own sentences, each with what would mend it, before anything is trained."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from playground.config import SLACK, UNK, Experiment, limits
from playground.data.corpus import Corpus
from playground.data.facts import seam
from playground.data.statistics import Statistics
from playground.data.suggestion import Suggestion
from playground.reading.uploads import Pairs
from playground.words.amounts import percentage, short

SPOILT = 0.05  # of the targets that are judged by so large a share may hold a token that can't be written
AMBIGUOUS = 0.5  # of the sources so large a share may have several targets, before a column seems to be missing
PASSES = 2  # epochs below which the settings train too little
MAX_COLUMNS = 4  # that are offered


class Mend(NamedTuple):
    """What helps: a sentence of words/*/sentences.json ("mend_…") and what is put into it; values of knobs, or the columns that the
    source is made of (`columns`: source, target, and those joined to the source)."""

    name: str
    said: Mapping[str, Any] = {}
    knobs: Mapping[str, Any] = {}
    columns: tuple[int, int, tuple[int, ...]] | None = None


class Spoiler(NamedTuple):
    """What is wrong: a sentence of words/*/sentences.json ("warn_…"), what is put into it, and what helps."""

    name: str
    said: Mapping[str, Any]
    mends: tuple[Mend, ...] = ()


def spoilers(
    experiment: Experiment, pairs: Pairs, corpus: Corpus, found: Statistics, suggested: Callable[[Mapping[str, Any]], Suggestion]
) -> Iterator[Spoiler]:
    """Of these settings for these pairs, whose `corpus` has been counted; `suggested` says what suits the pairs beside what is given."""
    yield from _unwritable(experiment, corpus, suggested)
    yield from _left_out(experiment, corpus)
    yield from _ambiguous(pairs, found)
    yield from _few_passes(experiment, found, suggested)
    if line := seam(pairs):
        yield Spoiler("glued", {"line": f"{line:,}"})


def passes(experiment: Experiment, found: Statistics) -> float:
    """How often the training goes through the data."""
    config, of_a_pair = experiment.training, found.src.lengths.mean() + found.tgt.lengths.mean()
    each = found.sizes["train"] * (of_a_pair if config.batch_unit == "tokens" else 1) / config.batch_size
    return float(config.steps / each)


def _unwritable(experiment: Experiment, corpus: Corpus, suggested: Callable[[Mapping[str, Any]], Suggestion]) -> Iterator[Spoiler]:
    judged = [item for split in (corpus.heldout, corpus.test) for item in split]
    share = sum(UNK in item.tgt_ids for item in judged) / len(judged)
    if share < SPOILT:
        return
    wanted, now = suggested({}).knobs, experiment.flat()
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


def _ambiguous(pairs: Pairs, found: Statistics) -> Iterator[Spoiler]:
    if found.several < AMBIGUOUS * found.sources or found.sources < 2:
        return
    (source, target), taken = pairs.chosen or (0, 1), (*pairs.chosen, *pairs.joined)
    others = [place for place in range(len(pairs.columns)) if place not in taken][:MAX_COLUMNS]
    mends = tuple(Mend("ambiguous", columns=(source, target, (*pairs.joined, place))) for place in others)
    said = {"count": f"{found.several:,}", "of": f"{found.sources:,}", "most": found.most_answers}
    yield Spoiler("ambiguous" if mends else "ambiguous_alone", said, mends)


def _few_passes(experiment: Experiment, found: Statistics, suggested: Callable[[Mapping[str, Any]], Suggestion]) -> Iterator[Spoiler]:
    often = passes(experiment, found)
    if often >= PASSES:
        return
    chosen = {name: value for name, value in experiment.difference().items() if name not in ("steps", "own", "task")}
    steps, now = suggested(chosen).knobs["steps"], experiment.training.steps
    if steps <= now:
        return
    said, knobs = {"steps": f"{now:,}", "passes": short(often)}, {"steps": steps}
    if minutes := experiment.training.minutes:  # which allow for `now` steps: more steps take more of them
        knobs["minutes"] = min(math.ceil(SLACK * minutes * steps / now), limits("minutes").high)
    yield Spoiler("few_passes", said, (Mend("few_passes", {"steps": f"{steps:,}"}, knobs),))

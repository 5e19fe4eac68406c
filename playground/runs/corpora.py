"""Corpora, and models of saved parameters, built once and shared: they are immutable, and several runs and readers use the same one."""

import itertools
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import torch

from playground.config import SPECIAL_TOKENS, DataConfig, Experiment, ModelConfig, Refusal
from playground.data.corpus import Corpus, build_corpus, load_given
from playground.data.corpus_check import Statistics, statistics
from playground.data.tokenizers import LARGEST
from playground.model.copies import filled_copy
from playground.model.transformer import Transformer
from playground.reading.pairs import Pairs
from playground.runs.memory import LRU, size_of
from playground.runs.replay import Parameters
from playground.runs.run import Run
from playground.variants import build

MAX_CORPORA, MAX_BYTES = 8, 200_000_000  # corpora, and as many statistics
MAX_MODEL_BYTES = 96_000_000  # rebuilding a model takes a few milliseconds
MAX_STRUCTURES = 16  # models without their numbers
SAMPLED = 50  # sentences sampled to estimate a corpus's size
MAX_PREVIEWS, TIMEOUT_S = 2, 20.0  # corpora built at once for previews, and seconds that another preview waits


class Corpora:
    """An LRU cache of corpora and their statistics. Concurrent requests for the same one build it once."""

    def __init__(self, most_bytes: int = MAX_BYTES) -> None:
        """Holds at most `most_bytes`, or the newest corpus alone."""
        self._caches = {
            "corpus": LRU(MAX_CORPORA, most_bytes, lambda corpus: min(_estimate_size(corpus), most_bytes)),
            "statistics": LRU(MAX_CORPORA, most_bytes),
        }
        self._preview_slots = threading.BoundedSemaphore(MAX_PREVIEWS)

    def get(self, experiment: Experiment, pairs: Pairs | None = None) -> Corpus:
        """Returns an experiment's corpus; `pairs` for uploaded data. Raises Refusal (as build_corpus does); failures are not cached."""
        joint = experiment.model.share_embeddings == "all"
        return self._caches["corpus"].get_or_make(_cache_key(experiment, pairs), lambda: build_corpus(experiment.data, pairs, joint))

    def get_for_preview(self, experiment: Experiment, pairs: Pairs) -> tuple[Corpus, Statistics]:
        """Returns corpus and statistics for a preview, which may be discarded: limits how many are built at once. Raises Refusal."""
        if not self._preview_slots.acquire(timeout=TIMEOUT_S):
            raise Refusal("data.reading_busy")
        try:
            return self.get(experiment, pairs), self.statistics(experiment, pairs)
        finally:
            self._preview_slots.release()

    def statistics(self, experiment: Experiment, pairs: Pairs | None = None) -> Statistics:
        """Returns the statistics of the corpus from `get`."""
        return self._caches["statistics"].get_or_make(_cache_key(experiment, pairs), lambda: statistics(self.get(experiment, pairs)))

    @property
    def caches(self) -> tuple[LRU, ...]:
        """Shares of the memory budget, see memory.py."""
        return tuple(self._caches.values())


def _estimate_size(corpus: Corpus) -> int:
    """Estimates a corpus's bytes with all sentences built, by extrapolating from a sample."""
    some = corpus.heldout[:SAMPLED]
    return size_of(some) * (len(corpus.train) + len(corpus.heldout) + len(corpus.test)) // len(some)


def _cache_key(experiment: Experiment, pairs: Pairs | None) -> tuple:
    """Returns the cache key: equal keys mean equal sentences and tokenizers."""
    own = pairs and (pairs.pairs, pairs.given, pairs.tokenizers)
    return replace(experiment.data, own=""), experiment.model.share_embeddings == "all", own


def sizes(experiment: Experiment, pairs: Pairs | None = None) -> tuple[int, int, int]:
    """Estimates (source vocabulary, target vocabulary, longest sentence in tokens) without building the whole corpus, for admission."""
    data, joint = experiment.data, experiment.model.share_embeddings == "all"
    if data.task != "own" or pairs is None:
        return _sizes_of_sample(replace(data, train_size=200, validation_size=20), joint)
    if loaded := load_given(pairs, joint):
        return loaded[0].size, loaded[1].size, data.max_tokens + 1
    most = [max(counts) for counts in zip(*pairs.units.values(), strict=True)]
    return *vocabularies(data, most, joint), data.max_tokens + 1


@lru_cache(maxsize=256)
def _sizes_of_sample(data: DataConfig, joint: bool) -> tuple[int, int, int]:
    """As `sizes`, cached: a class that trains the same task shares the result."""
    corpus = build_corpus(data, None, joint)
    return corpus.src_tokenizer.size, corpus.tgt_tokenizer.size, corpus.longest


def vocabularies(data: DataConfig, units: Sequence[int], joint: bool) -> tuple[int, int]:
    """Estimates the vocabulary sizes of uploaded sentences from the distinct units on each side."""
    if data.tokenizer in ("bpe", "unigram"):
        return data.vocab_size, data.vocab_size
    src, tgt = (min(LARGEST, len(SPECIAL_TOKENS) + count) for count in units)
    return (src + tgt, src + tgt) if joint else (src, tgt)


class Built(NamedTuple):
    """A model at `step`, with a process-wide unique number."""

    model: Transformer
    step: int
    number: int
    parameters: Parameters  # source of the model

    @property
    def nbytes(self) -> int:
        return 2 * sum(parameter.nbytes for parameter in self.model.parameters())


class ModelCache:
    """A bounded cache of models. They are immutable once built, so any thread may use them."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._built = LRU(most_bytes=MAX_MODEL_BYTES, size=lambda built: min(built.nbytes, MAX_MODEL_BYTES))  # the newest is always cached

    @property
    def caches(self) -> tuple[LRU]:
        """Shares of the memory budget, see memory.py."""
        return (self._built,)

    def get(self, run: Run, step: int | None) -> Built:
        """Returns the model of the newest parameters when `step` is None, otherwise of the saved ones nearest to it. Raises Refusal."""
        actual, parameters = run.parameters_at(step)
        return self._built.get_or_make(
            (run.id, actual, id(parameters)), lambda: Built(build_model(run, actual, parameters), actual, next(self._numbers), parameters)
        )

    def get_cached(self, run: Run, step: int | None) -> Built | None:
        """Returns the cached model as `get` would, without building it. Raises Refusal."""
        return self._built.get(self.locate(run, step))

    def locate(self, run: Run, step: int | None) -> tuple[str, int, int]:
        """Returns the key of the model that `get` returns. Raises Refusal."""
        actual, parameters = run.parameters_at(step)
        return run.id, actual, id(parameters)  # a resumed run may reach the same step with other parameters


def build_model(run: Run, step: int, parameters: Parameters) -> Transformer:
    """Builds the run's model at `step` with numbers of its own. Raises Refusal for a run that isn't prepared yet."""
    tokenizers = run.tokenizers
    if tokenizers is None:
        raise Refusal("runs.nothing_yet")
    config = replace(run.experiment.model, memory_mode=run.memory_mode_at(step))
    return filled_copy(_build_modules(config, *(tokenizer.size for tokenizer in tokenizers)), parameters)


@lru_cache(MAX_STRUCTURES)
def _build_modules(config: ModelConfig, src_vocab: int, tgt_vocab: int) -> Transformer:
    """Builds a model's modules, in eval mode, without numbers: building draws random ones, which costs more than a look at a sentence."""
    model = build(config, src_vocab, tgt_vocab).eval()
    return filled_copy(model, {name: torch.empty(0) for name, _ in model.named_parameters()})

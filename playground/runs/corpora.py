"""Corpora, each built once and shared: they never change, and several runs and readers use the same one."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import replace

from playground.config import Experiment
from playground.data.corpus import Corpus, build_corpus
from playground.data.tokenizers import LARGEST
from playground.data.uploads import Pairs

KEPT = 8


class Corpora:
    """The most recently used corpora. Two who ask for the same one at the same time build it once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._built: OrderedDict[tuple, Future[Corpus]] = OrderedDict()

    def get(self, experiment: Experiment, pairs: Pairs | None = None) -> Corpus:
        """The corpus of an experiment; `pairs` for own data. Raises Refusal (as build_corpus does), every time it is asked again."""
        joint = experiment.model.share_embeddings == "all"
        key = (replace(experiment.data, own=""), joint, pairs.pairs if pairs else None)
        with self._lock:
            future, mine = self._built.get(key), key not in self._built
            if mine:
                future = self._built[key] = Future()
            self._built.move_to_end(key)
            while len(self._built) > KEPT:
                self._built.popitem(last=False)
        if mine:
            try:
                future.set_result(build_corpus(experiment.data, pairs, joint))
            except BaseException as error:
                with self._lock:
                    self._built.pop(key, None)
                future.set_exception(error)
        return future.result()


def sizes(experiment: Experiment, pairs: Pairs | None = None) -> tuple[int, int, int]:
    """About (source vocabulary, target vocabulary, longest sentence in tokens), without building the whole corpus: for admission."""
    data = experiment.data
    if data.task != "own" or pairs is None:
        corpus = build_corpus(replace(data, pairs=200, heldout=20), None, experiment.model.share_embeddings == "all")
        return corpus.src_tokenizer.size, corpus.tgt_tokenizer.size, corpus.longest
    if data.tokenizer in ("bpe", "unigram"):
        return data.vocabulary, data.vocabulary, data.max_tokens + 1
    sides = ([pair[0] for pair in pairs.pairs], [pair[1] for pair in pairs.pairs])
    src, tgt = (min(LARGEST, 4 + max(len(set(" ".join(side).split())), len(set().union(*side)))) for side in sides)
    return (src + tgt, src + tgt, data.max_tokens + 1) if experiment.model.share_embeddings == "all" else (src, tgt, data.max_tokens + 1)

"""The same pairs, examination and clock for every peer; and one training of one peer in a process of its own.

As a program it reads what to do as JSON on stdin: {"peer", "knobs" of the data, "setting", "seed", "target", "limit", "warm"}. It prints
one JSON line, what the watch counted and "parameters". The process is warm before its clock starts: `warm` seconds of training of another
model come first.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from playground.config import PAD, Experiment
from playground.data.batches import Batch, collate
from playground.data.corpus import Item, build_corpus

EVERY = 0.5  # seconds of training between two examinations, at least
SHARE = 0.05  # of a run's time that examinations may take
EXAM_ROWS = 100  # pairs in one forward pass of an examination


@dataclass(frozen=True)
class Setting:
    """How large a peer is, its dropout, and how many pairs an update learns from. Learning rate and schedule are always its own."""

    d_model: int
    n_heads: int
    layers: int  # of the encoder, and as many of the decoder
    d_ff: int
    dropout: float
    pairs: int


@dataclass(frozen=True)
class Task:
    """The pairs as token ids (with the project's PAD, BOS, EOS), the number of different ids on a side, and the setting."""

    train: tuple[Item, ...]
    heldout: tuple[Item, ...]
    vocabulary: int
    longest: int  # the longest row a batch can have
    setting: Setting
    seed: int


class Watch:
    """Counts steps and tokens, examines now and then, and says when to stop: the target is reached or the time is up.

    An examination comes after `EVERY` seconds of training, and late enough after the last one to take no more than `SHARE` of the time.
    """

    def __init__(self, target: float, limit: float) -> None:
        self._target, self._limit = target, limit
        self._started, self._cpu = time.perf_counter(), time.process_time()
        self._last, self._pause = self._started, EVERY
        self.counts = {"seconds": 0.0, "cpu_seconds": 0.0, "validating": 0.0, "preparing": 0.0, "step": 0, "tokens": 0, "cells": 0}
        self.counts |= {"exact_match": 0.0, "reached": False}

    def prepared(self) -> None:
        """The model is built and the first step comes next."""
        self._last = time.perf_counter()
        self.counts["preparing"] = self._last - self._started

    def step(self, tokens: int, cells: int, examine: Callable[[], float], is_last: bool = False) -> bool:
        """After every update: `tokens` of its `cells` were no padding; `examine` gives the exact match. True when it is time to stop."""
        counts, now = self.counts, time.perf_counter()
        counts["step"] += 1
        counts["tokens"] += tokens
        counts["cells"] += cells
        over = is_last or now - self._started >= self._limit
        if now - self._last < self._pause and not over:
            return False
        counts["exact_match"] = examine()
        self._last = time.perf_counter()
        took = self._last - now
        self._pause = max(EVERY, took * (1 / SHARE - 1))
        counts["validating"] += took
        counts["seconds"], counts["cpu_seconds"] = self._last - self._started, time.process_time() - self._cpu
        counts["reached"] = counts["exact_match"] >= self._target
        return counts["reached"] or over


def batches(task: Task) -> Iterator[Batch]:
    """Endless batches of as many pairs as the setting says: pass after pass over all pairs, each in an order of its own."""
    generator = torch.Generator().manual_seed(task.seed)
    while True:
        for group in torch.randperm(len(task.train), generator=generator).split(task.setting.pairs):
            yield collate([task.train[index] for index in group.tolist()])


def exam(heldout: tuple[Item, ...]) -> list[Batch]:
    """The held-out pairs, sorted by length so that little is padding, in batches of `EXAM_ROWS`."""
    rows = sorted(heldout, key=lambda item: len(item.src_ids))
    return [collate(rows[start : start + EXAM_ROWS]) for start in range(0, len(rows), EXAM_ROWS)]


def rows_right(logits: Tensor, wanted: Tensor) -> int:
    """How many rows greedy decoding would get wholly right: those whose every likeliest token is the right one, given the right ones
    before it. logits (B, T, V), wanted (B, T)."""
    return int(((logits.argmax(dim=-1) == wanted) | (wanted == PAD)).all(dim=1).sum())


@torch.inference_mode()
def exact_match(model: nn.Module, logits: Callable[[Batch], Tensor], batches: list[Batch]) -> float:
    """The share of pairs that greedy decoding gets wholly right."""
    model.eval()
    right = sum(rows_right(logits(batch), batch.tgt_out) for batch in batches)
    model.train()
    return right / sum(len(batch.src) for batch in batches)


def train(learner: Any, task: Task, watch: Watch) -> None:
    """Trains a peer until the watch says stop. Its `update` says how many cells, padding and all, it computed."""
    questions = exam(task.heldout)
    learner.model.train()
    for batch in batches(task):
        cells = learner.update(batch)
        tokens = int((batch.src != PAD).sum() + (batch.tgt_out != PAD).sum())
        if watch.step(tokens, cells, lambda: exact_match(learner.model, learner.logits, questions)):
            return


def task_of(job: dict) -> Task:
    """The task in what stdin says."""
    corpus = build_corpus(Experiment().with_(**job["knobs"]).data)
    vocabulary = max(corpus.src_tokenizer.size, corpus.tgt_tokenizer.size)
    longest = 1 + max(len(ids) for item in (*corpus.train, *corpus.heldout) for ids in (item.src_ids, item.tgt_ids))
    return Task(corpus.train, corpus.heldout, vocabulary, longest, Setting(**job["setting"]), job["seed"])


def learn(job: dict) -> dict:
    """Trains the peer's `Learner(task)` to the target or the limit. Returns what the watch counted, and the number of parameters."""
    module, task = import_module(f"benchmarks.peers.{job['peer']}"), task_of(job)
    torch.set_num_threads(1)
    for target, limit in ((2.0, job["warm"]), (job["target"], job["limit"])):
        watch = Watch(target, limit)
        learner = module.Learner(task)
        watch.prepared()
        train(learner, task, watch)
    return watch.counts | {"parameters": sum(parameter.numel() for parameter in learner.model.parameters())}


if __name__ == "__main__":
    warnings.filterwarnings("ignore")  # of libraries older than this torch
    print(json.dumps(learn(json.load(sys.stdin))))

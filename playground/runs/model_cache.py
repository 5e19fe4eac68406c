"""Models built from kept parameters, in eval mode on the CPU, the most recently used ones at hand."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import NamedTuple

import torch

from playground.config import Refusal
from playground.model.transformer import Transformer
from playground.runs.lru import LRU
from playground.runs.replay import Parameters
from playground.runs.run import Run
from playground.variants import build

MAX_BYTES = 96_000_000  # a model is built again in a few milliseconds


class Built(NamedTuple):
    """A model of `step`, and a number that no other model of this process has."""

    model: Transformer
    step: int
    number: int
    parameters: Parameters  # what it was built from

    @property
    def nbytes(self) -> int:
        return 2 * sum(parameter.nbytes for parameter in self.model.parameters())


class ModelCache:
    """A bounded cache. A model is never written to once it is built, so any number of threads may use it."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._built = LRU(most_bytes=MAX_BYTES, size=lambda built: min(built.nbytes, MAX_BYTES))  # the newest is always kept

    @property
    def caches(self) -> tuple[LRU]:
        """Shares of the memory, see memory.py."""
        return (self._built,)

    def get(self, run: Run, step: int | None) -> Built:
        """From the newest parameters when `step` is None, else from the kept ones nearest to it. Raises Refusal."""
        key, actual, parameters = self._place(run, step)
        return self._built.get_or_make(
            key, lambda: Built(self._build(run, actual, parameters), actual, next(self._numbers), parameters)
        )

    def known(self, run: Run, step: int | None) -> Built | None:
        """What `get` returns where it is at hand: nothing is built. Raises Refusal."""
        return self._built.get(self._place(run, step)[0])

    def _place(self, run: Run, step: int | None) -> tuple[tuple[str, int, int], int, Parameters]:
        actual, parameters = run.parameters_at(step)
        return (run.id, actual, id(parameters)), actual, parameters  # a run that went on otherwise reaches a step with others

    def _build(self, run: Run, step: int, parameters: Parameters) -> Transformer:
        tokenizers = run.tokenizers
        if tokenizers is None:
            raise Refusal("runs.nothing_yet")
        config = replace(run.experiment.model, memory_mode=run.memory_at(step))
        model = build(config, *(tokenizer.size for tokenizer in tokenizers)).eval()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(parameters[name]).requires_grad_(False)
        return model

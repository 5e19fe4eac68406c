"""An LRU cache of models built from saved parameters, in eval mode on the CPU."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import NamedTuple

import torch

from playground.config import Refusal
from playground.model.transformer import Transformer
from playground.runs.cache import LRU
from playground.runs.replay import Parameters
from playground.runs.run import Run
from playground.variants import build

MAX_BYTES = 96_000_000  # rebuilding a model takes a few milliseconds


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
        self._built = LRU(most_bytes=MAX_BYTES, size=lambda built: min(built.nbytes, MAX_BYTES))  # the newest is always cached

    @property
    def caches(self) -> tuple[LRU]:
        """Shares of the memory budget, see cache.py."""
        return (self._built,)

    def get(self, run: Run, step: int | None) -> Built:
        """Returns the model of the newest parameters when `step` is None, otherwise of the saved ones nearest to it. Raises Refusal."""
        key, actual, parameters = self._locate(run, step)
        return self._built.get_or_make(
            key, lambda: Built(self._build(run, actual, parameters), actual, next(self._numbers), parameters)
        )

    def get_cached(self, run: Run, step: int | None) -> Built | None:
        """Returns the cached model as `get` would, without building it. Raises Refusal."""
        return self._built.get(self._locate(run, step)[0])

    def _locate(self, run: Run, step: int | None) -> tuple[tuple[str, int, int], int, Parameters]:
        actual, parameters = run.parameters_at(step)
        return (run.id, actual, id(parameters)), actual, parameters  # a resumed run may reach the same step with other parameters

    def _build(self, run: Run, step: int, parameters: Parameters) -> Transformer:
        tokenizers = run.tokenizers
        if tokenizers is None:
            raise Refusal("runs.nothing_yet")
        config = replace(run.experiment.model, memory_mode=run.memory_mode_at(step))
        model = build(config, *(tokenizer.size for tokenizer in tokenizers)).eval()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(parameters[name]).requires_grad_(False)
        return model

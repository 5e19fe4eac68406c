"""Models built from kept parameters, in eval mode on the CPU, the most recently used ones at hand."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from dataclasses import replace
from typing import NamedTuple

import torch

from playground.config import Refusal
from playground.model.transformer import Transformer
from playground.runs.replay import Parameters
from playground.runs.run import Run
from playground.variants import build

MAX_BYTES = 400_000_000


class Built(NamedTuple):
    """A model of `step`, and a number that no other model of this process has."""

    model: Transformer
    step: int
    number: int
    parameters: Parameters  # what it was built from

    @property
    def nbytes(self) -> int:
        return 2 * sum(tensor.nbytes for tensor in self.parameters.values())


class ModelCache:
    """A bounded cache. A model is never written to once it is built, so any number of threads may use it."""

    def __init__(self) -> None:
        self._lock, self._numbers = threading.Lock(), itertools.count()
        self._built: OrderedDict[tuple[str, int], Built] = OrderedDict()

    def get(self, run: Run, step: int | None) -> Built:
        """From the newest parameters when `step` is None, else from the kept ones nearest to it. Raises Refusal."""
        actual, parameters = run.parameters_at(step)
        key = (run.id, actual)
        with self._lock:
            found = self._built.get(key)
            if found and found.parameters is parameters:  # a run that went on otherwise reaches a step with others
                self._built.move_to_end(key)
                return found
        built = Built(self._build(run, actual, parameters), actual, next(self._numbers), parameters)
        with self._lock:
            self._built.pop(key, None)
            self._built[key] = built
            while sum(other.nbytes for other in self._built.values()) > MAX_BYTES and len(self._built) > 1:
                self._built.popitem(last=False)
        return built

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

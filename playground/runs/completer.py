"""Completes a run's probe sentences: with its present model, or with the parameters of a captured step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import torch

from playground.config import ModelConfig
from playground.data.corpus import Item
from playground.model.transformer import Transformer
from playground.runs.capture import complete
from playground.runs.replay import Completion, Parameters

EXTRA_TOKENS = 4  # a probe's output may exceed its reference by this many


class Completer:
    """`longest` is the corpus's longest sentence in tokens. `make` builds a model whose parameters may be replaced; it is called on first
    use of `at`."""

    def __init__(self, probes: Sequence[Item], longest: int, make: Callable[[], Transformer]) -> None:
        self.probes, self._make = probes, make
        self.limits = [min(len(item.tgt_ids) + 1 + EXTRA_TOKENS, longest) for item in probes]
        self._newest: tuple[Completion, ...] = ()  # the last result of `at`

    @cached_property
    def _model(self) -> Transformer:
        return self._make()

    def complete(self, model: Transformer, newest: tuple[Completion, ...], step: int, attention: Sequence[bool]) -> tuple[Completion, ...]:
        """Decodes the probes with `model`, starting from the previous completions `newest` (() when unknown), with attention where
        requested."""
        model.generator.manual_seed(step)  # for a model that samples even in eval mode
        guesses = [c.ids for c in newest] if newest else [item.tgt_ids for item in self.probes]
        return complete(model, [item.src_ids for item in self.probes], guesses, self.limits, attention)

    def at(self, step: int, parameters: Parameters, config: ModelConfig, attention: Sequence[bool]) -> tuple[Completion, ...]:
        """Decodes the probes with the parameters of a step."""
        torch.set_num_threads(1)  # for the calling thread: the same bits as in a frame that is materialised at once
        self._model.config = config
        for name, parameter in self._model.named_parameters():
            parameter.data = parameters[name].to(parameter.device)
        self._newest = self.complete(self._model, self._newest, step, attention)
        return self._newest

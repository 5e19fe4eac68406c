"""The probe sentences of a run, completed: by its model as it is, or by the parameters of a step that wait in its replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import torch

from playground.config import ModelConfig
from playground.data.corpus import Item
from playground.model.transformer import Transformer
from playground.runs.capture import complete
from playground.runs.replay import Completion, Parameters

EXTRA_TOKENS = 4  # tokens a probe's output may be longer than its reference


class Completer:
    """`longest` is the most tokens that any sentence has. `make` gives a model whose parameters may be replaced: it is made when the first
    parameters are asked for."""

    def __init__(self, probes: Sequence[Item], longest: int, make: Callable[[], Transformer]) -> None:
        self.probes, self._make = probes, make
        self.limits = [min(len(item.tgt_ids) + 1 + EXTRA_TOKENS, longest) for item in probes]
        self._newest: tuple[Completion, ...] = ()  # that `at` made

    @cached_property
    def _model(self) -> Transformer:
        return self._make()

    def complete(self, model: Transformer, newest: tuple[Completion, ...], step: int, attention: Sequence[bool]) -> tuple[Completion, ...]:
        """What the model writes after so many steps, guessed from what it wrote before (`newest`; () when that is not known), with its
        attention where that is wanted."""
        model.generator.manual_seed(step)  # for a model that throws dice even when it is asked
        guesses = [c.ids for c in newest] if newest else [item.tgt_ids for item in self.probes]
        return complete(model, [item.src_ids for item in self.probes], guesses, self.limits, attention)

    def at(self, step: int, parameters: Parameters, config: ModelConfig, attention: Sequence[bool]) -> tuple[Completion, ...]:
        """What a model with these parameters of a step writes."""
        torch.set_num_threads(1)  # for this thread, whoever's it is: the same numbers as in a picture that is taken at once
        self._model.config = config
        for name, parameter in self._model.named_parameters():
            parameter.data = parameters[name].to(parameter.device)
        self._newest = self.complete(self._model, self._newest, step, attention)
        return self._newest

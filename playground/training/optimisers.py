"""The optimiser: turns gradients into an update (section 5.3 has Adam)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import torch
from torch import Tensor

from playground.config import TrainingConfig
from playground.knobs import declared
from playground.model.transformer import Transformer
from playground.training.adam import Adam, ParameterGroups
from playground.training.muon import Muon


def _adam(decoupled: bool, groups: list[dict], config: TrainingConfig, device: torch.device) -> Adam:
    capturable = device.type == "cuda"  # so that a step can be recorded
    return Adam(groups, config.beta1, config.beta2, 1e-9, config.weight_decay, decoupled, capturable)


def _muon(groups: list[dict], config: TrainingConfig, device: torch.device) -> Muon:
    """Returns a Muon whose momentum is beta1."""
    return Muon(groups, config.learning_rate, momentum=config.beta1, weight_decay=config.weight_decay)


# Factories by the names of OPTIMISERS in playground/choices.py: (groups of parameters, config, device) -> optimiser.
MAKERS: dict[str, Callable[[list[dict], TrainingConfig, torch.device], ParameterGroups]] = {
    "adam": partial(_adam, False),
    "adamw": partial(_adam, True),
    "muon": _muon,
}


class Optimiser:
    """One update rule for all parameters; or one for the hidden matrices, and another for the rest: embeddings, projection, positions,
    norms and biases. State is read and written by parameter name. Raises Refusal for an optimiser that has no factory."""

    def __init__(self, config: TrainingConfig, model: Transformer, precision: str = "float32") -> None:
        self.names = {parameter: name for name, parameter in model.named_parameters()}
        (own, rule), *rest = config.update_rules.items()
        statistics = [p for p, name in self.names.items() if name.endswith((".mean", ".variance"))]  # of a batch norm: nothing to decay
        learnt = [p for p in self.names if not any(p is other for other in statistics)]
        takes = [(own, learnt, statistics, 1.0)]
        if rest:
            hidden = [p for p in learnt if p.ndim == 2 and self.names[p].startswith(("encoder.", "decoder."))]
            remaining = [p for p in learnt if not any(p is other for other in hidden)]
            takes = [(own, hidden, [], 1.0), (rest[0][0], remaining, statistics, rule.rest_rate)]
        device = model.generator.device
        self.parts = [  # each with its factor of the learning rate
            (declared("optimiser", MAKERS, name)(_groups(moved, still), config, device), share) for name, moved, still, share in takes
        ]
        for muon in (part for part, _ in self.parts if isinstance(part, Muon)):
            muon.dtype = getattr(torch, precision)

    def step(self, learning_rate: float | Tensor, parallel_map: Callable[[Callable, Iterable], Iterable] = map) -> None:
        """Applies one update and clears the gradients. `parallel_map` works on independent parts of it, like `map`."""
        for optimiser, share in self.parts:
            for group in optimiser.param_groups:
                group["lr"] = learning_rate * share
        kinds = [optimiser for optimiser, _ in self.parts]
        moves = [move for kind in kinds for move in (kind.moves() if isinstance(kind, Muon) else [kind.step])]
        for _ in parallel_map(lambda move: move(), moves):
            pass
        for parameter in self.names:
            parameter.grad = None

    def state(self) -> dict[str, Tensor]:
        """Returns copies of all moments, as {"parameter/moment": tensor}."""
        return {
            f"{self.names[parameter]}/{moment}": tensor.detach().clone()
            for optimiser, _ in self.parts
            for parameter, moments in optimiser.state.items()
            for moment, tensor in moments.items()
        }

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Loads moments that `state` returned."""
        by_parameter: dict[str, dict[str, Tensor]] = {}
        for key, tensor in state.items():
            name, moment = key.split("/")
            by_parameter.setdefault(name, {})[moment] = tensor
        for optimiser, _ in self.parts:
            for parameter in (p for group in optimiser.param_groups for p in group["params"]):
                moments = by_parameter.get(self.names[parameter], {})
                optimiser.state[parameter] = {moment: tensor.to(parameter.device).clone() for moment, tensor in moments.items()}


def _groups(parameters: list[Tensor], statistics: list[Tensor]) -> list[dict]:
    """Returns the parameter groups; `statistics` get no weight decay."""
    return [{"params": parameters}, *([{"params": statistics, "weight_decay": 0.0}] if statistics else [])]

"""The optimiser: what turns gradients into a step (section 5.3 has Adam)."""

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
    """Its momentum is beta1."""
    return Muon(groups, config.learning_rate, momentum=config.beta1, weight_decay=config.weight_decay)


# By the names of OPTIMISERS in playground/choices.py: what makes an optimiser of (groups of parameters, config, device).
MAKERS: dict[str, Callable[[list[dict], TrainingConfig, torch.device], ParameterGroups]] = {
    "adam": partial(_adam, False),
    "adamw": partial(_adam, True),
    "muon": _muon,
}


class Optimiser:
    """One update rule for all parameters; or one for the hidden matrices, and another for the rest: embeddings, projection, positions,
    norms and biases. State, by parameter name, can be taken out and put back. Raises Refusal for an optimiser that nobody has made."""

    def __init__(self, config: TrainingConfig, model: Transformer, precision: str = "float32") -> None:
        self.names = {parameter: name for name, parameter in model.named_parameters()}
        (own, rule), *rest = config.update_rules.items()
        seen = [p for p, name in self.names.items() if name.endswith((".mean", ".variance"))]  # what a batch norm saw: nothing to decay
        learnt = [p for p in self.names if not any(p is other for other in seen)]
        takes = [(own, learnt, seen, 1.0)]
        if rest:
            hidden = [p for p in learnt if p.ndim == 2 and self.names[p].startswith(("encoder.", "decoder."))]
            others = [p for p in learnt if not any(p is other for other in hidden)]
            takes = [(own, hidden, [], 1.0), (rest[0][0], others, seen, rule.rest_rate)]
        device = model.generator.device
        self.parts = [  # each with its share of the learning rate
            (declared("optimiser", MAKERS, name)(_groups(moved, still), config, device), share) for name, moved, still, share in takes
        ]
        for muon in (part for part, _ in self.parts if isinstance(part, Muon)):
            muon.dtype = getattr(torch, precision)

    def step(self, learning_rate: float | Tensor, parallel_map: Callable[[Callable, Iterable], Iterable] = map) -> None:
        """One update from the gradients, which are then gone. `parallel_map` works on independent parts of it, like `map`."""
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
        """Copies of all moments, as {"parameter/moment": tensor}."""
        return {
            f"{self.names[parameter]}/{moment}": tensor.detach().clone()
            for optimiser, _ in self.parts
            for parameter, moments in optimiser.state.items()
            for moment, tensor in moments.items()
        }

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Puts back what `state` gave."""
        found: dict[str, dict[str, Tensor]] = {}
        for key, tensor in state.items():
            name, moment = key.split("/")
            found.setdefault(name, {})[moment] = tensor
        for optimiser, _ in self.parts:
            for parameter in (p for group in optimiser.param_groups for p in group["params"]):
                moments = found.get(self.names[parameter], {})
                optimiser.state[parameter] = {moment: tensor.to(parameter.device).clone() for moment, tensor in moments.items()}


def _groups(parameters: list[Tensor], seen: list[Tensor]) -> list[dict]:
    """All of them, without weight decay for what was only `seen`."""
    return [{"params": parameters}, *([{"params": seen, "weight_decay": 0.0}] if seen else [])]

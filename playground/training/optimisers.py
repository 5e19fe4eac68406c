"""The optimiser: what turns gradients into a step (section 5.3 has Adam)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from playground.config import TrainingConfig
from playground.model.transformer import Transformer
from playground.training.muon import Muon

ADAM_SHARE = 0.13  # beside Muon, AdamW moves everything that is no hidden matrix, at this fraction of Muon's learning rate


class Optimiser:
    """Adam, AdamW, or Muon on the hidden matrices with AdamW on the rest (embeddings, projection, positions, norms, biases).

    Muon's momentum is beta1. State, by parameter name, can be taken out and put back.
    """

    def __init__(self, config: TrainingConfig, model: Transformer) -> None:
        self.names = {parameter: name for name, parameter in model.named_parameters()}
        adam = {"betas": (config.beta1, config.beta2), "eps": 1e-9, "weight_decay": config.weight_decay, "fused": True}
        adam["capturable"] = model.generator.device.type == "cuda"  # so that a step can be recorded
        seen = [p for p, name in self.names.items() if name.endswith((".mean", ".variance"))]  # what a batch norm saw: nothing to decay
        if config.optimiser == "muon":
            hidden = [p for p, name in self.names.items() if p.ndim == 2 and name.startswith(("encoder.", "decoder."))]
            rest = [p for p in self.names if not any(p is other for other in (*hidden, *seen))]
            muon = Muon(hidden, config.learning_rate, momentum=config.beta1, weight_decay=config.weight_decay)
            self.parts = [(muon, 1.0), (torch.optim.AdamW(_groups(rest, seen), **adam), ADAM_SHARE)]
        else:
            kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[config.optimiser]
            rest = [p for p in self.names if not any(p is other for other in seen)]
            self.parts = [(kind(_groups(rest, seen), **adam), 1.0)]

    def step(self, learning_rate: float | Tensor, parallel_map: Callable[[Callable, Iterable], Iterable] = map) -> None:
        """One update from the gradients, which are then gone. `parallel_map` works on independent parts of it, like `map`."""
        for optimiser, share in self.parts:
            for group in optimiser.param_groups:
                group["lr"] = learning_rate * share
        kinds = [optimiser for optimiser, _ in self.parts]
        moves = [move for kind in kinds for move in (kind.moves() if isinstance(kind, Muon) else [kind.step])]
        for _ in parallel_map(lambda move: move(), moves):
            pass
        for optimiser, _ in self.parts:
            optimiser.zero_grad()

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

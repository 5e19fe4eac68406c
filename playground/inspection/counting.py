"""Measured costs: a model's actual parameters, and torch's actual FLOPs in one forward pass, by route (model/costs.py)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from playground.model.copies import shadow_copy
from playground.model.costs import sublayer_of, sublayers
from playground.model.transformer import Transformer


class _Counter(TorchDispatchMode):
    """A FLOP counter for the current thread only; torch.utils.flop_counter also hooks the modules of all other threads."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.flops, self.route = dict.fromkeys(names, 0), names[0]

    def enter(self, route: str) -> None:
        self.route = route

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        count = flop_registry.get(operation._overloadpacket)
        if count:
            self.flops[self.route] += count(*args, **(kwargs or {}), out_val=result)
        return result


def counted_flops(model: Transformer, src: Tensor, tgt_in: Tensor) -> dict[str, int]:
    """Counts the floating-point operations of each route while the model reads src (B, S) and tgt_in (B, T)."""
    copy, counter = shadow_copy(model), _Counter(sublayers(model.config))
    for route in counter.flops:
        if not route.endswith("_norm"):
            copy.get_submodule(route).register_forward_pre_hook(lambda module, inputs, route=route: counter.enter(route))
    with torch.no_grad(), counter:
        copy(src, tgt_in)
    return counter.flops


def counted_parameters(model: Transformer) -> dict[str, int]:
    """Counts the numbers in the tensors of each route."""
    counts = dict.fromkeys(sublayers(model.config), 0)
    for name, parameter in model.named_parameters():
        counts[sublayer_of(name)] += parameter.numel()
    return counts

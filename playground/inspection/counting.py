"""Counting: what a model really holds, and what torch really computes in one forward pass, route by route (model/sublayers.py)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from playground.inspection.copies import shadow_copy
from playground.model.sublayers import sublayer_of, sublayers
from playground.model.transformer import Transformer


class _Counter(TorchDispatchMode):
    """Sees every operation of its own thread, as torch.utils.flop_counter does; that one also hooks the modules of all other threads."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.found, self.route = dict.fromkeys(names, 0), names[0]

    def enter(self, route: str) -> None:
        self.route = route

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        count = flop_registry.get(operation._overloadpacket)
        if count:
            self.found[self.route] += count(*args, **(kwargs or {}), out_val=result)
        return result


def counted_flops(model: Transformer, src: Tensor, tgt_in: Tensor) -> dict[str, int]:
    """What torch counts while the model reads src (B, S) and tgt_in (B, T): floating-point operations of each route."""
    mine, counter = shadow_copy(model), _Counter(sublayers(model.config))
    for route in counter.found:
        if not route.endswith("_norm"):
            mine.get_submodule(route).register_forward_pre_hook(lambda module, inputs, route=route: counter.enter(route))
    with torch.no_grad(), counter:
        mine(src, tgt_in)
    return counter.found


def counted_parameters(model: Transformer) -> dict[str, int]:
    """How many numbers the tensors of each route hold."""
    found = dict.fromkeys(sublayers(model.config), 0)
    for name, parameter in model.named_parameters():
        found[sublayer_of(name)] += parameter.numel()
    return found

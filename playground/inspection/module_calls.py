"""What every module of a model took and gave during one forward pass."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from playground.inspection.copies import shadow_copy
from playground.model.transformer import Output, Transformer


class Call(NamedTuple):
    """One time a module ran: its arguments, and what it returned."""

    inputs: tuple
    output: Tensor | tuple


@torch.inference_mode()
def module_calls(model: Transformer, src: Tensor, tgt_in: Tensor) -> tuple[dict[str, list[Call]], Output]:
    """src (B, S), tgt_in (B, T) -> each module's calls in order, by its name in the model ("encoder.0.norm_1"), and the model's output.

    The hooks sit on a copy over the same tensors, so nothing is left on the model and nobody else is disturbed.
    """
    found: dict[str, list[Call]] = {}

    def listen(name: str):
        return lambda module, inputs, output: found.setdefault(name, []).append(Call(inputs, output))

    mine = shadow_copy(model)
    for name, module in mine.named_modules():
        module.register_forward_hook(listen(name))
    return found, mine(src, tgt_in)

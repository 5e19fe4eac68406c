"""Inputs and outputs of every module of a model during one forward pass."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from playground.inspection.copies import shadow_copy
from playground.model.transformer import Output, Transformer


class Call(NamedTuple):
    """One call of a module: its arguments and its output."""

    inputs: tuple
    output: Tensor | tuple


@torch.inference_mode()
def module_calls(model: Transformer, src: Tensor, tgt_in: Tensor) -> tuple[dict[str, list[Call]], Output]:
    """src (B, S), tgt_in (B, T) -> each module's calls in order, by its name in the model ("encoder.0.norm_1"), and the model's output.

    The hooks are on a copy over the same tensors, so the shared model isn't touched.
    """
    calls: dict[str, list[Call]] = {}

    def listen(name: str):
        return lambda module, inputs, output: calls.setdefault(name, []).append(Call(inputs, output))

    copy = shadow_copy(model)
    for name, module in copy.named_modules():
        module.register_forward_hook(listen(name))
    return calls, copy(src, tgt_in)

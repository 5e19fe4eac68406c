"""Learners: the model once for each part of a batch, so that parts can be computed side by side.

They have modules, dropout masks and hooks of their own, and share one set of parameters: whoever asks the model itself in between finds
it learning, and never in the middle of it.
"""

from __future__ import annotations

import copy

import torch

from playground.model.attention import MultiHeadAttention, fused_attention
from playground.model.transformer import Transformer


def learner(model: Transformer) -> Transformer:
    """The same model, with the same parameters, but attention that returns no weights and a generator of its own for dropout."""
    device = model.generator.device
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    twin = copy.deepcopy(model, shared | {id(model.generator): torch.Generator(device)})
    for module in twin.modules():
        if isinstance(module, MultiHeadAttention):
            module.attend = fused_attention
    return twin

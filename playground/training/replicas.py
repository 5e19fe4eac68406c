"""Replicas: the model once for each part of a batch, so that parts can be computed side by side.

They have modules, dropout masks and hooks of their own, and share one set of parameters: whoever asks the model itself in between finds
it learning, and never in the middle of it.
"""

from __future__ import annotations

import torch

from playground.model.attention import MultiHeadAttention, fused_attention, scaled_dot_product_attention
from playground.model.shared_copy import shared_copy
from playground.model.transformer import Transformer


def replica(model: Transformer) -> Transformer:
    """The same model, with the same parameters, but attention that returns no weights and a generator of its own for dropout."""
    mine = shared_copy(model, torch.Generator(model.generator.device))
    for module in mine.modules():
        if isinstance(module, MultiHeadAttention) and module.attend is scaled_dot_product_attention:
            module.attend = fused_attention
    return mine

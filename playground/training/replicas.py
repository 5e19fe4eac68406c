"""Replicas: one copy of the model for each part of a batch, so that parts can be computed in parallel.

They have their own modules, dropout masks and hooks, and share one set of parameters: reading the model between steps sees the latest
parameters, never a half-applied update.
"""

from __future__ import annotations

import torch

from playground.model.attention import MultiHeadAttention, fused_attention, scaled_dot_product_attention
from playground.model.parts import Dropout, Linear
from playground.model.shared_copy import shared_copy
from playground.model.transformer import Transformer
from playground.training.attention import training_attention
from playground.training.dropout import fast_multipliers
from playground.training.products import fast_linear, has_onednn


def replica(model: Transformer) -> Transformer:
    """Returns a copy that shares the model's parameters, with attention that returns no weights and its own generator for dropout."""
    copy = shared_copy(model, torch.Generator(model.generator.device))
    on_cpu = model.generator.device.type == "cpu"
    if not on_cpu:  # cuDNN's backward pass of a fully masked row returns NaN, seen with bfloat16 and 64 tokens
        torch.backends.cuda.enable_cudnn_sdp(False)
    for module in copy.modules():
        if isinstance(module, MultiHeadAttention) and module.attend is scaled_dot_product_attention:
            module.attend = training_attention if on_cpu else fused_attention
        if isinstance(module, Linear) and module is not copy.projection and on_cpu and has_onednn():  # the projection would copy its logits
            module.product = fast_linear
        if isinstance(module, Dropout) and on_cpu:
            module.draw = fast_multipliers
    return copy

"""Replicas: the model once for each part of a batch, so that parts can be computed side by side.

They have modules, dropout masks and hooks of their own, and share one set of parameters: whoever asks the model itself in between finds
it learning, and never in the middle of it.
"""

from __future__ import annotations

import torch

from playground.model.attention import MultiHeadAttention, fused_attention, scaled_dot_product_attention
from playground.model.parts import Dropout, Linear
from playground.model.shared_copy import shared_copy
from playground.model.transformer import Transformer
from playground.training.attention import training_attention
from playground.training.dropout import fast_multipliers
from playground.training.products import available, fast_linear


def replica(model: Transformer) -> Transformer:
    """The same model, with the same parameters, but attention that returns no weights and a generator of its own for dropout."""
    mine = shared_copy(model, torch.Generator(model.generator.device))
    on_cpu = model.generator.device.type == "cpu"
    if not on_cpu:  # cuDNN's backward pass of a row in which all is masked is no number, seen with bfloat16 and 64 tokens
        torch.backends.cuda.enable_cudnn_sdp(False)
    for module in mine.modules():
        if isinstance(module, MultiHeadAttention) and module.attend is scaled_dot_product_attention:
            module.attend = training_attention if on_cpu else fused_attention
        if isinstance(module, Linear) and module is not mine.projection and on_cpu and available():  # that one's logits would be copied
            module.product = fast_linear
        if isinstance(module, Dropout) and on_cpu:
            module.draw = fast_multipliers
    return mine

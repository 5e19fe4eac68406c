"""The fast encoder: memory as the model's own code computes it, in fewer calls of torch, and without the weights of its attention."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from playground.config import ModelConfig
from playground.decoding.fast_parts import Map, angles, feed_forward, joined, linear, norm, product, scale, split, turn_, unseen, wrap
from playground.model.attention import MultiHeadAttention
from playground.model.positions import NoPositions, position_ids
from playground.model.transformer import Transformer


def encode(model: Transformer, src: Tensor, seen: Tensor | None) -> Tensor:
    """src (B, S), and which of its tokens are no padding (B, S), None where all are -> memory (B, S, D). Raises Refusal when a source is
    too long. The model is a stock one in eval mode."""
    config, positions = model.config, position_ids(src.shape[1], src.device)
    x = F.embedding(src, model.src_embedding.weight)
    if config.embedding_scale:
        x = x.mul_(math.sqrt(config.d_model))
    if not isinstance(model.src_positions, NoPositions):
        x = x.add_(model.src_positions.table[: src.shape[1]])
    hidden = None if seen is None else unseen(seen)
    x = x.flatten(0, 1)  # (B S, D): norms and products don't ask whose token it is
    connect = wrap(config)
    for layer in model.encoder:
        x = connect(x, _attention(layer.self_attention, config, src.shape, hidden), norm(layer.norm_1))
        x = connect(x, feed_forward(layer.feed_forward), norm(layer.norm_2))
    memory = model.encoder_norm(x).view(*src.shape, -1)
    return model.apply_memory_mode(memory, (positions >= 0 if seen is None else seen)[:, None, None])


def _attention(attention: MultiHeadAttention, config: ModelConfig, shape: torch.Size, hidden: Tensor | None) -> Map:
    """Self-attention of all tokens (B S, D) -> (B S, D)."""
    project, out, by = product(*joined(attention.W_q, attention.W_k, attention.W_v)), linear(attention.W_o), scale(attention)

    def attend(x: Tensor) -> Tensor:
        compared, v = split(project(x).view(*shape, -1), config)
        if attention.rotary is not None:
            turn_(compared, angles(attention.rotary)[: shape[1]])
        q, k = compared.unbind()
        return out(F.scaled_dot_product_attention(q, k, v, hidden, scale=by).transpose(1, 2).reshape(x.shape))

    return attend

"""The fast encoder: the model's memory in fewer torch calls, without attention weights."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from playground.config import MAX_POSITIONS, PAD, ModelConfig, Refusal
from playground.decoding.fast_parts import Map, angles, feed_forward, linear, norm, position_table, rotate_, scale, score_mask, wrap
from playground.model.attention import MultiHeadAttention
from playground.model.transformer import Transformer


def encode(model: Transformer, src: Tensor, real: Tensor | None) -> Tensor:
    """Encodes src (B, S), with `real` (B, S) True where a token is no padding, None if all are -> memory (B, S, D). Raises Refusal when a
    source is too long. Requires a stock model in eval mode."""
    config = model.config
    if src.shape[1] > MAX_POSITIONS:
        raise Refusal("model.too_long", tokens=src.shape[1], most=MAX_POSITIONS)
    x = F.embedding(src, model.src_embedding.weight)
    if config.embedding_scale:
        x = x.mul_(math.sqrt(config.d_model))
    table = position_table(model.src_positions)
    if table is not None:
        x = x.add_(table[: src.shape[1]])
    mask = None if real is None else score_mask(real)
    x = x.flatten(0, 1)  # (B S, D): norms and products are per token
    connect = wrap(config)
    for layer in model.encoder:
        x = connect(x, _attention(layer.self_attention, config, src.shape, mask), norm(layer.norm_1))
        x = connect(x, feed_forward(layer.feed_forward), norm(layer.norm_2))
    memory = model.encoder_norm(x).view(*src.shape, -1)
    return memory if config.memory_mode == "whole" else model.apply_memory_mode(memory, (src != PAD)[:, None, None])


def _attention(attention: MultiHeadAttention, config: ModelConfig, shape: torch.Size, mask: Tensor | None) -> Map:
    """Returns the self-attention of all tokens, (B S, D) -> (B S, D)."""
    maps, out, by = [linear(W) for W in (attention.W_q, attention.W_k, attention.W_v)], linear(attention.W_o), scale(attention)
    rotations = None if attention.rotary is None else angles(attention.rotary)[: shape[1]]

    def attend(x: Tensor) -> Tensor:
        q, k, v = (project(x).view(*shape, config.n_heads, -1).transpose(1, 2) for project in maps)  # (B, H, S, K or U)
        if rotations is not None:
            rotate_(q, rotations)
            rotate_(k, rotations)
        return out(F.scaled_dot_product_attention(q, k, v, mask, scale=by).transpose(1, 2).reshape(x.shape))

    return attend

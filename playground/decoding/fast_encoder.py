"""The fast encoder: memory as the model's own code computes it, in fewer calls of torch, and without the weights of its attention."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from playground.config import MAX_POSITIONS, PAD, ModelConfig, Refusal
from playground.decoding.fast_parts import Map, angles, feed_forward, linear, norm, position_table, scale, turn_, unseen, wrap
from playground.model.attention import MultiHeadAttention
from playground.model.transformer import Transformer


def encode(model: Transformer, src: Tensor, seen: Tensor | None) -> Tensor:
    """src (B, S), and which of its tokens are no padding (B, S), None where all are -> memory (B, S, D). Raises Refusal when a source is
    too long. The model is a stock one in eval mode."""
    config = model.config
    if src.shape[1] > MAX_POSITIONS:
        raise Refusal("model.too_long", tokens=src.shape[1], most=MAX_POSITIONS)
    x = F.embedding(src, model.src_embedding.weight)
    if config.embedding_scale:
        x = x.mul_(math.sqrt(config.d_model))
    table = position_table(model.src_positions)
    if table is not None:
        x = x.add_(table[: src.shape[1]])
    hidden = None if seen is None else unseen(seen)
    x = x.flatten(0, 1)  # (B S, D): norms and products don't ask whose token it is
    connect = wrap(config)
    for layer in model.encoder:
        x = connect(x, _attention(layer.self_attention, config, src.shape, hidden), norm(layer.norm_1))
        x = connect(x, feed_forward(layer.feed_forward), norm(layer.norm_2))
    memory = model.encoder_norm(x).view(*src.shape, -1)
    return memory if config.memory_mode == "whole" else model.apply_memory_mode(memory, (src != PAD)[:, None, None])


def _attention(attention: MultiHeadAttention, config: ModelConfig, shape: torch.Size, hidden: Tensor | None) -> Map:
    """Self-attention of all tokens (B S, D) -> (B S, D)."""
    maps, out, by = [linear(W) for W in (attention.W_q, attention.W_k, attention.W_v)], linear(attention.W_o), scale(attention)
    turned = None if attention.rotary is None else angles(attention.rotary)[: shape[1]]

    def attend(x: Tensor) -> Tensor:
        q, k, v = (project(x).view(*shape, config.n_heads, -1).transpose(1, 2) for project in maps)  # (B, H, S, K or U)
        if turned is not None:
            turn_(q, turned)
            turn_(k, turned)
        return out(F.scaled_dot_product_attention(q, k, v, hidden, scale=by).transpose(1, 2).reshape(x.shape))

    return attend

"""The fast decoder: the model's sums in as few torch calls as possible, for when only the tokens are wanted.

The model's own code is written to be read, and returns all attention weights. With one token at a time most of its time goes into calls,
not into arithmetic: here W_q, W_k and W_v are one product, written directly into the key-value cache, and no weights are returned. The
parameters are read anew for every text, so they are never stale.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import MAX_POSITIONS, PAD, ModelConfig, Refusal
from playground.decoding.fast_encoder import encode
from playground.decoding.fast_parts import (
    INITIAL_TOKENS,
    angles,
    feed_forward,
    join_weights,
    linear,
    norm,
    position_table,
    rotate_,
    scale,
    score_mask,
    split,
    wrap,
)  # fmt: skip
from playground.model.attention import MultiHeadAttention, head_widths
from playground.model.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from playground.model.parts import Dropout, Embedding, Linear
from playground.model.positions import LearnedPositions, NoPositions, RotaryPositions, SinusoidalPositions
from playground.model.transformer import Transformer

PARTS = {
    Transformer, nn.ModuleList, EncoderLayer, DecoderLayer, MultiHeadAttention, FeedForward, Residual, Linear, Embedding, Dropout,
    nn.LayerNorm, nn.Identity, SinusoidalPositions, LearnedPositions, NoPositions, RotaryPositions,
}  # fmt: skip
METHODS = {name for part in PARTS for name in vars(part) if not name.startswith("_")}


def is_stock_model(model: Transformer) -> bool:
    """Returns whether a model computes what its configuration says: no hook, no replaced module or method."""
    parts: list[nn.Module] = [model]
    for part in parts:  # the list grows meanwhile; torch's own walk takes three times as long
        fields = vars(part)
        parts += filter(None, fields["_modules"].values())
        if type(part) not in PARTS or fields["_forward_hooks"] or fields["_forward_pre_hooks"] or not METHODS.isdisjoint(fields):
            return False
    return True


class FastDecoder:
    """Sources (B, S), encoded once, and for each a target that grows by one token at a time. Requires a stock model in eval mode."""

    def __init__(self, model: Transformer, src: Tensor) -> None:
        config, real = model.config, src != PAD
        real = None if bool(real.all()) else real
        self.length, self.real = 0, None  # real: (B, MAX_POSITIONS), once a sentence holds PAD
        self.memory_mask = None if real is None else score_mask(real)
        self.embedding, self.table = model.tgt_embedding.weight, position_table(model.tgt_positions)
        self.scale = math.sqrt(config.d_model) if config.embedding_scale else 1.0
        memory = encode(model, src, real)
        self.layers = [Layer(layer, config, memory) for layer in model.decoder]
        self.norm, self.project = norm(model.decoder_norm), linear(model.projection)

    def logits(self, tgt_in: Tensor, last: int = 1) -> tuple[Tensor, int]:
        """Returns the logits after the last token of tgt_in (B, T), whose earlier tokens were fed before: (B, 1, V), and 1, the number of
        tokens computed. Raises Refusal when a sentence is too long."""
        place = self.length
        if place == MAX_POSITIONS:
            raise Refusal("model.too_long", tokens=place + 1, most=MAX_POSITIONS)
        tokens = tgt_in.select(1, -1)
        x = F.embedding(tokens, self.embedding)
        x = x.mul_(self.scale) if self.table is None else torch.add(self.table[place], x, alpha=self.scale)
        mask, memory_mask = self._mask(tokens), self.memory_mask
        for layer in self.layers:
            x = layer.step(x, place, mask, memory_mask)
        self.length += 1
        return self.project(self.norm(x)).unsqueeze(1), 1

    def select_rows(self, rows: Tensor) -> None:
        """Selects and reorders batch rows (N,); a row may repeat."""
        for layer in self.layers:
            layer.select_rows(rows)
        self.real = None if self.real is None else self.real[rows]
        self.memory_mask = None if self.memory_mask is None else self.memory_mask[rows]

    def _mask(self, tokens: Tensor) -> Tensor | None:
        """Masks every PAD, even one that a sentence has written. The newest tokens (B,) -> (B, 1, 1, L); None while there is no PAD."""
        if self.real is None and PAD in tokens.tolist():
            self.real = torch.ones(len(tokens), MAX_POSITIONS, dtype=torch.bool, device=tokens.device)
        if self.real is None:
            return None
        self.real[:, self.length] = tokens != PAD
        return score_mask(self.real[:, : self.length + 1])


class Layer:
    """A decoder layer with its caches: keys and values of memory for cross-attention, and the queries, keys and values of the written
    tokens in one tensor (B, L, 2 H K + D), so that the product of a new token is computed in place. `heads` is the shape of one token's
    queries, (B, H, 1, K)."""

    def __init__(self, layer: DecoderLayer, config: ModelConfig, memory: Tensor) -> None:
        own, cross = layer.self_attention, layer.cross_attention
        self.weight, self.bias = join_weights(own.W_q, own.W_k, own.W_v)
        self.weight = self.weight.t()
        self.angles = None if own.rotary is None else angles(own.rotary)
        self.own_out, self.query, self.cross_out = linear(own.W_o), linear(cross.W_q), linear(cross.W_o)
        self.heads, self.scale, self.config = (len(memory), config.n_heads, 1, head_widths(config)[0]), scale(own), config
        flat = memory.flatten(0, 1)
        projections = (linear(W)(flat).view(*memory.shape[:2], config.n_heads, -1) for W in (cross.W_k, cross.W_v))  # (B, S, H, K or U)
        self.memory_k, self.memory_v = (projection.transpose(1, 2) for projection in projections)
        self.set_cache(memory.new_empty(len(memory), INITIAL_TOKENS, self.weight.shape[1]))
        self.feed_forward = feed_forward(layer.feed_forward)
        self.wrap, self.norms = wrap(config), tuple(map(norm, (layer.norm_1, layer.norm_2, layer.norm_3)))

    def set_cache(self, written: Tensor) -> None:
        """Creates the views of the cache once, not for every token."""
        self.written = written
        self.queries_keys, self.v = split(written, self.config)
        self.q, self.k = self.queries_keys.unbind()

    def step(self, x: Tensor, place: int, mask: Tensor | None, memory_mask: Tensor | None) -> Tensor:
        """Computes the newest token's states (B, D) -> (B, D)."""
        wrap, (norm_1, norm_2, norm_3) = self.wrap, self.norms
        x = wrap(x, lambda x: self.own_attention(x, place, mask), norm_1)
        x = wrap(x, lambda x: self.cross_attention(x, memory_mask), norm_2)
        return wrap(x, self.feed_forward, norm_3)

    def own_attention(self, x: Tensor, place: int, mask: Tensor | None) -> Tensor:
        if place == self.written.shape[1]:
            self.set_cache(F.pad(self.written, (0, 0, 0, place)))
        newest = self.written.select(1, place)
        if self.bias is None:
            torch.mm(x, self.weight, out=newest)
        else:
            torch.addmm(self.bias, x, self.weight, out=newest)
        if self.angles is not None:
            rotate_(self.queries_keys[:, :, :, place], self.angles[place])
        q, k, v = self.q.narrow(2, place, 1), self.k.narrow(2, 0, place + 1), self.v.narrow(2, 0, place + 1)
        return self.own_out(F.scaled_dot_product_attention(q, k, v, mask, scale=self.scale).reshape(x.shape))

    def cross_attention(self, x: Tensor, mask: Tensor | None) -> Tensor:
        q = self.query(x).view(self.heads)
        attended = F.scaled_dot_product_attention(q, self.memory_k, self.memory_v, mask, scale=self.scale)
        return self.cross_out(attended.reshape(x.shape))

    def select_rows(self, rows: Tensor) -> None:
        self.heads = (len(rows), *self.heads[1:])
        self.set_cache(self.written.index_select(0, rows))
        self.memory_k, self.memory_v = self.memory_k.index_select(0, rows), self.memory_v.index_select(0, rows)

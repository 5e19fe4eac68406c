"""The fast decoder: the model's sums in as few calls of torch as they take, for when nothing but the tokens is wanted.

The model's own code is written to be read, and returns every weight of attention. With one token at a time most of its time goes into
calls, not into numbers: here W_q, W_k and W_v are one product, which goes where keys and values are kept, and nothing is returned to be
looked at. The parameters are read anew for every text, so that nobody is ever answered by old ones.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import MAX_POSITIONS, PAD, ModelConfig, Refusal
from playground.decoding.fast_encoder import encode
from playground.decoding.fast_parts import (
    INITIAL_TOKENS, angles, feed_forward, joined, linear, norm, position_table, scale, split, turn_, unseen, wrap,
)  # fmt: skip
from playground.model.attention import MultiHeadAttention, head_widths, scaled_dot_product_attention
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
    """Whether a model computes what its configuration says, and nobody listens: no hook, no part and no method of its own."""
    parts: list[nn.Module] = [model]
    for part in parts:  # it grows; torch's own walk takes three times as long
        held = vars(part)
        parts += filter(None, held["_modules"].values())
        if type(part) not in PARTS or held["_forward_hooks"] or held["_forward_pre_hooks"] or not METHODS.isdisjoint(held):
            return False
        if held.get("attend", scaled_dot_product_attention) is not scaled_dot_product_attention:
            return False
    return True


class FastDecoder:
    """Sources (B, S), read once, and for each a target that grows by one token at a time. The model is a stock one in eval mode."""

    def __init__(self, model: Transformer, src: Tensor) -> None:
        config, seen = model.config, src != PAD
        seen = None if bool(seen.all()) else seen
        self.length, self.seen = 0, None  # seen: (B, MAX_POSITIONS), once a sentence holds PAD
        self.memory_unseen = None if seen is None else unseen(seen)
        self.embedding, self.table = model.tgt_embedding.weight, position_table(model.tgt_positions)
        self.scale = math.sqrt(config.d_model) if config.embedding_scale else 1.0
        memory = encode(model, src, seen)
        self.layers = [Layer(layer, config, memory) for layer in model.decoder]
        self.norm, self.project = norm(model.decoder_norm), linear(model.projection)

    def logits(self, tgt_in: Tensor, last: int = 1) -> tuple[Tensor, int]:
        """What comes after the last token of tgt_in (B, T), of which the others came before: (B, 1, V), and 1 for the one token that was
        computed. Raises Refusal when a sentence is too long."""
        place = self.length
        if place == MAX_POSITIONS:
            raise Refusal("model.too_long", tokens=place + 1, most=MAX_POSITIONS)
        tokens = tgt_in.select(1, -1)
        x = F.embedding(tokens, self.embedding)
        x = x.mul_(self.scale) if self.table is None else torch.add(self.table[place], x, alpha=self.scale)
        unseen, memory_unseen = self._unseen(tokens), self.memory_unseen
        for layer in self.layers:
            x = layer.step(x, place, unseen, memory_unseen)
        self.length += 1
        return self.project(self.norm(x)).unsqueeze(1), 1

    def select_rows(self, rows: Tensor) -> None:
        """Goes on with these sentences (N,) of the batch, in this order; one may be taken twice."""
        for layer in self.layers:
            layer.select_rows(rows)
        self.seen = None if self.seen is None else self.seen[rows]
        self.memory_unseen = None if self.memory_unseen is None else self.memory_unseen[rows]

    def _unseen(self, tokens: Tensor) -> Tensor | None:
        """Nobody looks at a PAD, even if a sentence has written one. The newest tokens (B,) -> (B, 1, 1, L); None while there is no PAD."""
        if self.seen is None and PAD in tokens.tolist():
            self.seen = torch.ones(len(tokens), MAX_POSITIONS, dtype=torch.bool, device=tokens.device)
        if self.seen is None:
            return None
        self.seen[:, self.length] = tokens != PAD
        return unseen(self.seen[:, : self.length + 1])


class Layer:
    """A decoder layer, the memory as its cross-attention sees it, and the queries, keys and values of what has been written,
    (B, L, 2 H K + D), so that the product of a new token is computed in its place. `heads` is the shape of one token's queries,
    (B, H, 1, K)."""

    def __init__(self, layer: DecoderLayer, config: ModelConfig, memory: Tensor) -> None:
        own, cross = layer.self_attention, layer.cross_attention
        self.weight, self.bias = joined(own.W_q, own.W_k, own.W_v)
        self.weight = self.weight.t()
        self.angles = None if own.rotary is None else angles(own.rotary)
        self.own_out, self.ask, self.cross_out = linear(own.W_o), linear(cross.W_q), linear(cross.W_o)
        self.heads, self.scale, self.config = (len(memory), config.n_heads, 1, head_widths(config)[0]), scale(own), config
        flat = memory.flatten(0, 1)
        kept = (linear(W)(flat).view(*memory.shape[:2], config.n_heads, -1) for W in (cross.W_k, cross.W_v))  # (B, S, H, K or U)
        self.memory_k, self.memory_v = (one.transpose(1, 2) for one in kept)
        self.hold(memory.new_empty(len(memory), INITIAL_TOKENS, self.weight.shape[1]))
        self.feed_forward = feed_forward(layer.feed_forward)
        self.wrap, self.norms = wrap(config), tuple(map(norm, (layer.norm_1, layer.norm_2, layer.norm_3)))

    def hold(self, written: Tensor) -> None:
        """Makes the views of all that is written once, not for every token."""
        self.written = written
        self.compared, self.v = split(written, self.config)
        self.q, self.k = self.compared.unbind()

    def step(self, x: Tensor, place: int, unseen: Tensor | None, memory_unseen: Tensor | None) -> Tensor:
        """The newest token's states (B, D) -> (B, D)."""
        wrap, (norm_1, norm_2, norm_3) = self.wrap, self.norms
        x = wrap(x, lambda x: self.own_attention(x, place, unseen), norm_1)
        x = wrap(x, lambda x: self.cross_attention(x, memory_unseen), norm_2)
        return wrap(x, self.feed_forward, norm_3)

    def own_attention(self, x: Tensor, place: int, unseen: Tensor | None) -> Tensor:
        if place == self.written.shape[1]:
            self.hold(F.pad(self.written, (0, 0, 0, place)))
        here = self.written.select(1, place)
        if self.bias is None:
            torch.mm(x, self.weight, out=here)
        else:
            torch.addmm(self.bias, x, self.weight, out=here)
        if self.angles is not None:
            turn_(self.compared[:, :, :, place], self.angles[place])
        q, k, v = self.q.narrow(2, place, 1), self.k.narrow(2, 0, place + 1), self.v.narrow(2, 0, place + 1)
        return self.own_out(F.scaled_dot_product_attention(q, k, v, unseen, scale=self.scale).reshape(x.shape))

    def cross_attention(self, x: Tensor, unseen: Tensor | None) -> Tensor:
        q = self.ask(x).view(self.heads)
        attended = F.scaled_dot_product_attention(q, self.memory_k, self.memory_v, unseen, scale=self.scale)
        return self.cross_out(attended.reshape(x.shape))

    def select_rows(self, rows: Tensor) -> None:
        self.heads = (len(rows), *self.heads[1:])
        self.hold(self.written.index_select(0, rows))
        self.memory_k, self.memory_v = self.memory_k.index_select(0, rows), self.memory_v.index_select(0, rows)

"""The fast decoder: the model's sums in as few calls of torch as they take, for when nothing but the tokens is wanted.

The model's own code is written to be read, and returns every weight of attention. With one token at a time most of its time goes into
calls, not into numbers: here W_q, W_k and W_v are one product, keys and values have their places beforehand, and nothing is returned to
be looked at. The parameters are read anew for every text, so that nobody is ever answered by old ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import MAX_POSITIONS, PAD, ModelConfig, Refusal
from playground.model.attention import MASKED, MultiHeadAttention, scaled_dot_product_attention
from playground.model.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from playground.model.masks import padding_mask
from playground.model.parts import Dropout, Embedding, Linear
from playground.model.positions import LearnedPositions, NoPositions, RotaryPositions, SinusoidalPositions
from playground.model.transformer import Transformer

PARTS = {
    Transformer, nn.ModuleList, EncoderLayer, DecoderLayer, MultiHeadAttention, FeedForward, Residual, Linear, Embedding, Dropout,
    nn.LayerNorm, nn.Identity, SinusoidalPositions, LearnedPositions, NoPositions, RotaryPositions,
}  # fmt: skip
METHODS = {name for part in PARTS for name in vars(part) if not name.startswith("_")}
INITIAL_TOKENS = 16  # tokens there is room for at first; doubled when it is full
Map = Callable[[Tensor], Tensor]


def is_stock_model(model: Transformer) -> bool:
    """Whether a model computes what its configuration says, and nobody listens: no hook, no part and no method of its own."""
    for part in model.modules():
        held = vars(part)
        if type(part) not in PARTS or held["_forward_hooks"] or held["_forward_pre_hooks"] or not METHODS.isdisjoint(held):
            return False
        if held.get("attend", scaled_dot_product_attention) is not scaled_dot_product_attention:
            return False
    return True


class FastDecoder:
    """Sources (B, S), read once by the model's own code, and for each a target that grows by one token at a time. The model is `unchanged`
    and in eval mode."""

    def __init__(self, model: Transformer, src: Tensor) -> None:
        config, seen = model.config, padding_mask(src)
        self.length, self.seen = 0, None  # seen: (B, MAX_POSITIONS), once a sentence holds PAD
        self.memory_unseen = None if bool(seen.all()) else unseen(seen[:, 0, 0])
        self.embed = _embedding(model.tgt_embedding, model.tgt_positions, config)
        memory, _ = model.encode(src)
        self.layers = [Layer(layer, config, memory) for layer in model.decoder]
        self.norm, self.project = _norm(model.decoder_norm), _linear(model.projection)

    def logits(self, tgt_in: Tensor, last: int = 1) -> tuple[Tensor, int]:
        """What comes after the last token of tgt_in (B, T), of which the others came before: (B, 1, V), and 1 for the one token that was
        computed. Raises Refusal when a sentence is too long."""
        if self.length == MAX_POSITIONS:
            raise Refusal("model.too_long", tokens=self.length + 1, most=MAX_POSITIONS)
        tokens = tgt_in.select(1, -1)
        x = self.embed(tokens, self.length)
        unseen = self._unseen(tokens)
        for layer in self.layers:
            x = layer.step(x, self.length, unseen, self.memory_unseen)
        self.length += 1
        return self.project(self.norm(x)).unsqueeze(1), 1

    def select_rows(self, rows: Tensor) -> None:
        """Goes on with these sentences (N,) of the batch, in this order; one may be taken twice."""
        for layer in self.layers:
            layer.own.select_rows(rows)
            layer.memory.select_rows(rows)
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


class KVBuffer:
    """Keys and values of one attention side by side, (2, B, H, L, K): one copy for a new token, one selection of rows."""

    def __init__(self, both: Tensor) -> None:
        self.hold(both)

    def hold(self, both: Tensor) -> None:
        self.both, (self.k, self.v) = both, both.unbind()

    def add(self, place: int, both: Tensor) -> tuple[Tensor, Tensor]:
        """One token's (2, B, H, K) -> keys and values of all tokens so far, (B, H, L, K) each."""
        if place == self.k.shape[2]:
            self.hold(F.pad(self.both, (0, 0, 0, place)))
        self.both.select(3, place).copy_(both)
        return self.k.narrow(2, 0, place + 1), self.v.narrow(2, 0, place + 1)

    def select_rows(self, rows: Tensor) -> None:
        self.hold(self.both.index_select(1, rows))


class Layer:
    """A decoder layer, the memory as its cross-attention sees it, and the keys and values of what has been written."""

    def __init__(self, layer: DecoderLayer, config: ModelConfig, memory: Tensor) -> None:
        own, cross = layer.self_attention, layer.cross_attention
        sentences, heads, width = memory.shape[0], config.n_heads, config.d_model // config.n_heads
        self.split, self.own_out = _joined(own), _linear(own.W_o)
        self.ask, self.cross_out = _linear(cross.W_q), _linear(cross.W_o)
        self.feed_forward = _feed_forward(layer.feed_forward, config)
        self.wrap = _wrap(config)
        self.norms = tuple(map(_norm, (layer.norm_1, layer.norm_2, layer.norm_3)))
        kept = [F.linear(memory, W.weight, W.bias).view(sentences, -1, heads, width) for W in (cross.W_k, cross.W_v)]  # (B, S, H, K)
        self.memory = KVBuffer(torch.stack(kept).transpose(2, 3).contiguous())
        self.own = KVBuffer(memory.new_empty(2, sentences, heads, INITIAL_TOKENS, width))
        self.heads, self.scale = (heads, 1, width), None if own.scale else 1.0

    def step(self, x: Tensor, place: int, unseen: Tensor | None, memory_unseen: Tensor | None) -> Tensor:
        """The newest token's states (B, D) -> (B, D)."""

        def own_attention(x: Tensor) -> Tensor:
            q, both = self.split(x, place)
            return self.own_out(self.attend(q, *self.own.add(place, both), unseen).reshape(x.shape))

        def cross_attention(x: Tensor) -> Tensor:
            q = self.ask(x).view(len(x), *self.heads)
            return self.cross_out(self.attend(q, self.memory.k, self.memory.v, memory_unseen).reshape(x.shape))

        for sublayer, norm in zip((own_attention, cross_attention, self.feed_forward), self.norms, strict=True):
            x = self.wrap(x, sublayer, norm)
        return x

    def attend(self, q: Tensor, k: Tensor, v: Tensor, unseen: Tensor | None) -> Tensor:
        """softmax(Q K^T) V: q (B, H, 1, K), k and v (B, H, L, K) -> (B, H, 1, K)."""
        return F.scaled_dot_product_attention(q, k, v, unseen, scale=self.scale)


def unseen(seen: Tensor) -> Tensor:
    """What is added to scores: tokens that may be seen (B, L) -> (B, 1, 1, L)."""
    return torch.where(seen, 0.0, MASKED)[:, None, None]


def _wrap(config: ModelConfig) -> Callable[[Tensor, Map, Map], Tensor]:
    """A sublayer with its norm, before or after, and its residual connection."""
    connected, after = config.residual, config.norm == "post"

    def wrap(x: Tensor, sublayer: Map, norm: Map) -> Tensor:
        y = sublayer(x if after else norm(x))
        if connected:
            y.add_(x)
        return norm(y) if after else y

    return wrap


def _embedding(embedding: nn.Embedding, positions: nn.Module, config: ModelConfig) -> Callable[[Tensor, int], Tensor]:
    """Tokens (B,) and their place -> (B, D)."""
    weight, scale = embedding.weight, math.sqrt(config.d_model) if config.embedding_scale else 1.0
    table = None if isinstance(positions, NoPositions) else positions.table

    def embed(tokens: Tensor, place: int) -> Tensor:
        x = F.embedding(tokens, weight)
        return x * scale if table is None else torch.add(table[place], x, alpha=scale)

    return embed


def _joined(attention: MultiHeadAttention) -> Callable[[Tensor, int], tuple[Tensor, Tensor]]:
    """The query, and key and value of one token in all heads, with one product: x (B, D), its place -> (B, H, 1, K), (2, B, H, K)."""
    parts, heads = (attention.W_q, attention.W_k, attention.W_v), attention.n_heads
    angles = None if attention.rotary is None else _angles(attention.rotary)
    weight = torch.cat([part.weight for part in parts])
    project = _product(weight, None if parts[0].bias is None else torch.cat([part.bias for part in parts]))

    def split(x: Tensor, place: int) -> tuple[Tensor, Tensor]:
        joined = project(x).view(len(x), 3, heads, -1)
        if angles is not None:
            joined = torch.cat((_turned(joined[:, :2], angles[place]), joined[:, 2:]), dim=1)
        joined = joined.transpose(0, 1)
        return joined[0].unsqueeze(2), joined[1:]

    return split


def _angles(rotary: RotaryPositions) -> Tensor:
    """By how much each pair of dimensions is turned at each position, as complex numbers of length 1: (MAX_POSITIONS, K // 2)."""
    return torch.complex(rotary.cos, rotary.sin)


def _turned(x: Tensor, angles: Tensor) -> Tensor:
    """Rotary positions as the product of complex numbers that they are: x (..., K), angles (..., K // 2)."""
    pairs = x[..., : 2 * angles.shape[-1]].reshape(*x.shape[:-1], -1, 2).contiguous()
    turned = torch.view_as_real(torch.view_as_complex(pairs) * angles).flatten(-2)
    return turned if turned.shape == x.shape else torch.cat((turned, x[..., turned.shape[-1] :]), dim=-1)


def _feed_forward(module: FeedForward, config: ModelConfig) -> Map:
    W_1, W_2, activation = _linear(module.W_1), _linear(module.W_2), {"relu": torch.relu_, "gelu": F.gelu}[config.activation]
    return lambda x: W_2(activation(W_1(x)))


def _linear(module: nn.Linear) -> Map:
    """Of states (B, D)."""
    return _product(module.weight, module.bias)


def _product(weight: Tensor, bias: Tensor | None) -> Map:
    """x W^T + b. `F.linear` makes the same product, a quarter slower where there is only one row."""
    turned = weight.t()
    return (lambda x: torch.mm(x, turned)) if bias is None else (lambda x: torch.addmm(bias, x, turned))


def _norm(module: nn.Module) -> Map:
    if isinstance(module, nn.Identity):
        return module
    shape, weight, bias, eps = module.normalized_shape, module.weight, module.bias, module.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, eps)

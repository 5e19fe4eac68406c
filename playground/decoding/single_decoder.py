"""The fast decoder of one sentence: the same sums once more, in numpy.

The state of one token is a vector, and its products with matrices are so small that most of torch's time would go into being called;
numpy is called for a third of it. The arrays are the model's own parameters, looked at where they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import iadd

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import MAX_POSITIONS, PAD, ModelConfig, Refusal
from playground.decoding.fast_encoder import encode
from playground.decoding.fast_parts import INITIAL_TOKENS, angles, position_table, scale, weight_and_bias, wrap
from playground.model.attention import MASKED, head_widths
from playground.model.layers import DecoderLayer, FeedForward
from playground.model.transformer import Transformer

Map = Callable[[np.ndarray], np.ndarray]


def suits(model: Transformer) -> bool:
    """Whether numpy can read the parameters of a model where they are."""
    weight = model.projection.weight
    return weight.device.type == "cpu" and weight.dtype == torch.float32


class SingleDecoder:
    """A source (1, S), read once, and a target that grows by one token at a time. The model is a stock one in eval mode that `suits`."""

    def __init__(self, model: Transformer, src: Tensor) -> None:
        config, seen = model.config, src != PAD
        seen = None if bool(seen.all()) else seen
        self.hidden, self.memory_hidden = None, None if seen is None else np.where(seen[0].numpy(), 0, np.float32(MASKED))
        self.length, self.embedding, table = 0, array(model.tgt_embedding.weight), position_table(model.tgt_positions)
        self.table = None if table is None else array(table)
        self.scale = math.sqrt(config.d_model) if config.embedding_scale else 1.0
        memory = array(encode(model, src, seen)[0])
        self.layers = [SingleLayer(layer, config, memory) for layer in model.decoder]
        self.norm, self.project = norm(model.decoder_norm), linear(model.projection)

    def logits(self, tgt_in: Tensor, last: int = 1) -> tuple[Tensor, int]:
        """What comes after the last token of tgt_in (1, T), of which the others came before: (1, 1, V), and 1 for the one token that was
        computed. Raises Refusal when a sentence is too long."""
        return torch.from_numpy(self.after(tgt_in.select(1, -1).item())).view(1, 1, -1), 1

    def after(self, token: int) -> np.ndarray:
        """What comes after one more token: logits (V,). Raises Refusal when a sentence is too long."""
        place = self.length
        if place == MAX_POSITIONS:
            raise Refusal("model.too_long", tokens=place + 1, most=MAX_POSITIONS)
        x = self.embedding[token] * self.scale
        if self.table is not None:
            x += self.table[place]
        hidden = self._hidden(token)
        for layer in self.layers:
            x = layer.step(x, place, hidden, self.memory_hidden)
        self.length += 1
        return self.project(self.norm(x))

    def select_rows(self, rows: Tensor) -> None:
        """Goes on with this sentence, or with none."""

    def _hidden(self, token: int) -> np.ndarray | None:
        """Nobody looks at a PAD, even if the sentence has written one: what is added to scores (L,); None while there is no PAD."""
        if self.hidden is None and token == PAD:
            self.hidden = np.zeros(MAX_POSITIONS, np.float32)
        if self.hidden is None:
            return None
        self.hidden[self.length] = MASKED if token == PAD else 0
        return self.hidden[: self.length + 1]


class SingleLayer:
    """A decoder layer, the memory (S, D) as its cross-attention sees it, and the keys and values of what has been written: (H, L, K), with
    the scale of the scores in them, and (H, L, U + 1), with a one after each value."""

    def __init__(self, layer: DecoderLayer, config: ModelConfig, memory: np.ndarray) -> None:
        own, cross = layer.self_attention, layer.cross_attention
        self.W_q, self.W_k, self.W_v, self.W_o = map(linear, (own.W_q, own.W_k, own.W_v, own.W_o))
        self.ask, self.cross_out = linear(cross.W_q), linear(cross.W_o)
        self.n_heads, self.scale, self.angles = config.n_heads, scale(own), None if own.rotary is None else angles(own.rotary).numpy()
        d_k, d_v = head_widths(config)
        self.k, self.v = (np.ones((config.n_heads, INITIAL_TOKENS, width), np.float32) for width in (d_k, d_v + 1))
        k, v = (linear(W)(memory).reshape(len(memory), config.n_heads, -1) for W in (cross.W_k, cross.W_v))
        self.memory_k, self.memory_v = k.transpose(1, 0, 2), np.ones((config.n_heads, len(memory), d_v + 1), np.float32)
        self.memory_k *= scale(cross)
        self.memory_v[:, :, :-1] = v.transpose(1, 0, 2)
        self.feed_forward, self.wrap = feed_forward(layer.feed_forward), wrap(config)
        self.norms = tuple(map(norm, (layer.norm_1, layer.norm_2, layer.norm_3)))

    def step(self, x: np.ndarray, place: int, hidden: np.ndarray | None, memory_hidden: np.ndarray | None) -> np.ndarray:
        """The newest token's state (D,) -> (D,)."""
        wrap, (norm_1, norm_2, norm_3) = self.wrap, self.norms
        x = wrap(x, lambda x: self.own_attention(x, place, hidden), norm_1)
        x = wrap(x, lambda x: self.cross_attention(x, memory_hidden), norm_2)
        return wrap(x, self.feed_forward, norm_3)

    def own_attention(self, x: np.ndarray, place: int, hidden: np.ndarray | None) -> np.ndarray:
        if place == self.k.shape[1]:
            self.k, self.v = (np.concatenate((kept, np.ones_like(kept)), axis=1) for kept in (self.k, self.v))
        shape = self.n_heads, -1
        q, k, v = self.W_q(x).reshape(shape), self.W_k(x).reshape(shape), self.W_v(x).reshape(shape)
        if self.angles is not None:
            turn_(q, self.angles[place])
            turn_(k, self.angles[place])
        np.multiply(k, self.scale, out=self.k[:, place])
        self.v[:, place, :-1] = v
        return self.W_o(attend(q, self.k[:, : place + 1], self.v[:, : place + 1], hidden))

    def cross_attention(self, x: np.ndarray, hidden: np.ndarray | None) -> np.ndarray:
        q = self.ask(x).reshape(self.n_heads, -1)
        return self.cross_out(attend(q, self.memory_k, self.memory_v, hidden))


def attend(q: np.ndarray, k: np.ndarray, v: np.ndarray, hidden: np.ndarray | None) -> np.ndarray:
    """What one query of each head gets: q (H, K), scaled k (H, L, K), v and ones (H, L, U + 1), `hidden` (L,) added to scores -> (H U,)."""
    weights = np.matvec(k, q)  # (H, L)
    if hidden is not None:
        weights += hidden
    weights -= np.maximum.reduce(weights, axis=1, keepdims=True)
    np.exp(weights, out=weights)
    mixed = np.vecmat(weights, v)  # the ones become the sum of the weights, by which the mixed values are divided, not each weight
    return (mixed[:, :-1] / mixed[:, -1:]).ravel()


def array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().numpy()


def linear(module: nn.Linear) -> Map:
    """x W^T + b, of one state (D,) or of many (N, D)."""
    weight, bias = weight_and_bias(module)
    turned = array(weight).T
    if bias is None:
        return lambda x: x.dot(turned)
    bias = array(bias)
    return lambda x: iadd(x.dot(turned), bias)


def norm(module: nn.Module) -> Map:
    """Of one state (D,)."""
    if isinstance(module, nn.Identity):
        return module
    (width,), eps, (weight, bias) = module.normalized_shape, module.eps, weight_and_bias(module)
    gain, shift, mean = array(weight), 0 if bias is None else array(bias), np.full(width, 1 / width, np.float32)

    def normed(x: np.ndarray) -> np.ndarray:
        x = x - x.dot(mean)
        x *= 1 / math.sqrt(x.dot(x) / width + eps)
        x *= gain
        x += shift
        return x

    return normed


def feed_forward(module: FeedForward) -> Map:
    W_1, W_2 = linear(module.W_1), linear(module.W_2)
    if module.activation is F.relu:
        return lambda x: W_2(np.maximum(W_1(x), 0))
    return lambda x: W_2(module.activation(torch.from_numpy(W_1(x))).numpy())


def turn_(x: np.ndarray, angles: np.ndarray) -> None:
    """Rotary positions in place: x (H, K), angles (K // 2)."""
    pairs = x[:, : 2 * len(angles)]
    pairs[:] = (np.ascontiguousarray(pairs).view(np.complex64) * angles).view(np.float32)

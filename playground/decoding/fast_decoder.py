"""The fast decoder: the model's sums in as few torch calls as possible, for when only the tokens are wanted.

The model's own code is written to be read, and returns all attention weights. With one token at a time most of its time goes into calls,
not into arithmetic: here W_q, W_k and W_v are one product, written directly into the key-value cache, and no weights are returned. The
parameters are read anew for every text, so they are never stale.
"""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import MAX_POSITIONS, PAD, ModelConfig, Refusal
from playground.decoding.single_decoder import INITIAL_TOKENS, wrap
from playground.model.attention import MASKED, MultiHeadAttention, head_widths
from playground.model.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from playground.model.parts import Dropout, Embedding, Linear
from playground.model.positions import LearnedPositions, NoPositions, RotaryPositions, SinusoidalPositions
from playground.model.transformer import Transformer

Map = Callable[[Tensor], Tensor]
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


def is_readable(model: Transformer) -> bool:
    """Returns whether numpy can read a model's parameters without a copy."""
    weight = model.projection.weight
    return weight.device.type == "cpu" and weight.dtype == torch.float32


def name_arrays(model: Transformer) -> dict[str, np.ndarray]:
    """Names views of a readable model's parameters and tables, a shared one by each of its names."""
    arrays: dict[str, np.ndarray] = {}
    modules: list[tuple[str, nn.Module]] = [("", model)]
    for prefix, module in modules:  # the list grows meanwhile
        fields = vars(module)
        for tensors in (fields["_parameters"], fields["_buffers"]):
            arrays |= {prefix + name: tensor.detach().numpy() for name, tensor in tensors.items() if tensor is not None}
        modules += [(f"{prefix}{name}.", part) for name, part in fields["_modules"].items() if part is not None]
    return arrays


class FastDecoder:
    """Sources (B, S), encoded once, and for each one or several targets that grow by one token at a time. Requires a stock model in eval
    mode."""

    def __init__(self, model: Transformer, src: Tensor) -> None:
        config, real = model.config, src != PAD
        real = None if bool(real.all()) else real
        self.length, self.width, self.slots, self.real = 0, 1, None, None  # real: (B, MAX_POSITIONS), once a sentence holds PAD
        self.memory_mask, self.sources = None if real is None else score_mask(real), torch.arange(len(src), device=src.device)
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
        mask, cross = self._mask(tokens), (self.memory_mask, self.width, self.slots)
        for layer in self.layers:
            x = layer.step(x, place, mask, cross)
        self.length += 1
        return self.project(self.norm(x)).unsqueeze(1), 1

    def select_rows(self, rows: Tensor) -> None:
        """Selects and reorders targets (N,); one may repeat, and those of one source stay together. Memory has one row for each source: its
        targets are the queries of one attention, `width` at the most, side by side in the `slots` of a rectangle when some have fewer."""
        sources, self.width, self.slots = None, len(rows), None
        if len(self.sources) > 1:
            sources, self.sources, counts = self.sources[rows].unique_consecutive(return_inverse=True, return_counts=True)
            self.width = int(counts.max())
            if len(rows) < len(counts) * self.width:
                empty = self.width - counts
                self.slots = torch.arange(len(rows), device=rows.device) + empty.cumsum(0).sub_(empty)[self.sources]
        for layer in self.layers:
            layer.select_rows(rows, self.length, sources)
        self.real = None if self.real is None else self.real[rows]
        if sources is not None and self.memory_mask is not None:
            self.memory_mask = self.memory_mask[sources]

    def _mask(self, tokens: Tensor) -> Tensor | None:
        """Masks every PAD, even one that a sentence has written. The newest tokens (B,) -> (B, 1, 1, L); None while there is no PAD."""
        if self.real is None and PAD in tokens.tolist():
            self.real = torch.ones(len(tokens), MAX_POSITIONS, dtype=torch.bool, device=tokens.device)
        if self.real is None:
            return None
        self.real[:, self.length] = tokens != PAD
        return score_mask(self.real[:, : self.length + 1])


class Layer:
    """A decoder layer with its caches: keys and values of memory for cross-attention, and queries, keys and values of the written tokens of
    all R targets in one tensor (L, R, 2 H K + D), so that the product of a new token is computed in place."""

    def __init__(self, layer: DecoderLayer, config: ModelConfig, memory: Tensor) -> None:
        own, cross = layer.self_attention, layer.cross_attention
        joined = own.W_q, own.W_k, own.W_v  # one product instead of three
        self.weight = torch.cat([part.weight for part in joined]).t()
        self.bias = None if own.W_q.bias is None else torch.cat([part.bias for part in joined])
        self.angles = None if own.rotary is None else angles(own.rotary)
        self.own_out, self.query, self.cross_out = linear(own.W_o), linear(cross.W_q), linear(cross.W_o)
        self.heads, self.scale, self.config = (config.n_heads, head_widths(config)[0]), scale(own), config
        flat = memory.flatten(0, 1)
        projections = (linear(W)(flat).view(*memory.shape[:2], config.n_heads, -1) for W in (cross.W_k, cross.W_v))  # (B, S, H, K or U)
        self.memory_k, self.memory_v = (projection.transpose(1, 2) for projection in projections)
        self.set_cache(memory.new_empty(INITIAL_TOKENS, len(memory), self.weight.shape[1]))
        self.wrap, self.feed_forward = wrap(config), feed_forward(layer.feed_forward)
        self.norms = tuple(map(norm, (layer.norm_1, layer.norm_2, layer.norm_3)))

    def set_cache(self, written: Tensor) -> None:
        """Creates the views of the cache once, not for every token."""
        self.written = written
        self.queries_keys, self.v = split(written, self.config)
        self.q, self.k = self.queries_keys.unbind()

    def step(self, x: Tensor, place: int, mask: Tensor | None, cross: tuple) -> Tensor:
        """Computes the newest token's states (B, D) -> (B, D)."""
        wrap, (norm_1, norm_2, norm_3) = self.wrap, self.norms
        x = wrap(x, lambda x: self.own_attention(x, place, mask), norm_1)
        x = wrap(x, lambda x: self.cross_attention(x, *cross), norm_2)
        return wrap(x, self.feed_forward, norm_3)

    def own_attention(self, x: Tensor, place: int, mask: Tensor | None) -> Tensor:
        if place == len(self.written):
            self.set_cache(F.pad(self.written, (0, 0, 0, 0, 0, place)))
        newest = self.written[place]
        if self.bias is None:
            torch.mm(x, self.weight, out=newest)
        else:
            torch.addmm(self.bias, x, self.weight, out=newest)
        if self.angles is not None:
            rotate_(self.queries_keys[:, :, :, place], self.angles[place])
        q, k, v = self.q.narrow(2, place, 1), self.k.narrow(2, 0, place + 1), self.v.narrow(2, 0, place + 1)
        return self.own_out(F.scaled_dot_product_attention(q, k, v, mask, scale=self.scale).reshape(x.shape))

    def cross_attention(self, x: Tensor, mask: Tensor | None, width: int, slots: Tensor | None) -> Tensor:
        q = self.query(x)
        if slots is not None:
            q = q.new_zeros(len(self.memory_k) * width, q.shape[1]).index_copy_(0, slots, q)
        q = q.view(-1, width, *self.heads).transpose(1, 2)  # (B, H, width, K)
        attended = F.scaled_dot_product_attention(q, self.memory_k, self.memory_v, mask, scale=self.scale).transpose(1, 2)
        attended = attended.reshape(-1, x.shape[1])
        return self.cross_out(attended if slots is None else attended.index_select(0, slots))

    def select_rows(self, rows: Tensor, length: int, sources: Tensor | None) -> None:
        if sources is not None and len(sources) < len(self.memory_k):
            self.memory_k, self.memory_v = self.memory_k.index_select(0, sources), self.memory_v.index_select(0, sources)
        written = self.written.new_empty(len(self.written), len(rows), self.written.shape[2])
        torch.index_select(self.written[:length], 1, rows, out=written[:length])
        self.set_cache(written)


# --- the encoder ---


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
        x = connect(x, _encoder_attention(layer.self_attention, config, src.shape, mask), norm(layer.norm_1))
        x = connect(x, feed_forward(layer.feed_forward), norm(layer.norm_2))
    memory = model.encoder_norm(x).view(*src.shape, -1)
    return memory if config.memory_mode == "whole" else model.apply_memory_mode(memory, (src != PAD)[:, None, None])


def _encoder_attention(attention: MultiHeadAttention, config: ModelConfig, shape: torch.Size, mask: Tensor | None) -> Map:
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


# --- products, norms and sublayers as plain functions of a model's parameters, on flat states (N, D) ---


def weight_and_bias(module: nn.Module) -> tuple[Tensor, Tensor | None]:
    """Returns module.weight and module.bias, four times as fast as attribute access; one sentence needs a hundred of them."""
    parameters = vars(module)["_parameters"]
    return parameters["weight"], parameters["bias"]


def linear(module: nn.Linear) -> Map:
    """Returns x -> x W^T + b. `F.linear` is a quarter slower with only one row."""
    weight, bias = weight_and_bias(module)
    transposed = weight.t()
    return (lambda x: torch.mm(x, transposed)) if bias is None else (lambda x: torch.addmm(bias, x, transposed))


def norm(module: nn.Module) -> Map:
    if isinstance(module, nn.Identity):
        return module
    shape, eps, (weight, bias) = module.normalized_shape, module.eps, weight_and_bias(module)
    return lambda x: torch.layer_norm(x, shape, weight, bias, eps)


def feed_forward(module: FeedForward) -> Map:
    W_1, W_2 = linear(module.W_1), linear(module.W_2)
    activation = torch.relu_ if module.activation is F.relu else module.activation  # in place where torch can
    return lambda x: W_2(activation(W_1(x)))


def score_mask(real: Tensor) -> Tensor:
    """Returns the mask that is added to scores: real tokens (B, L) -> (B, 1, 1, L)."""
    return torch.where(real, 0.0, MASKED)[:, None, None]


def scale(attention: MultiHeadAttention) -> float:
    """Returns the factor of the scores: in the paper 1 / sqrt(K)."""
    return (attention.W_q.out_features // attention.n_heads) ** -attention.power


def split(joint: Tensor, config: ModelConfig) -> tuple[Tensor, Tensor]:
    """Splits the product of joined W_q, W_k, W_v into views: (L, B, 2 H K + D) -> queries and keys (2, B, H, L, K), values (B, H, L, U)."""
    heads, (d_k, d_v) = config.n_heads, head_widths(config)
    queries_keys, values = joint[..., : 2 * heads * d_k], joint[..., 2 * heads * d_k :]
    return queries_keys.unflatten(-1, (2, heads, d_k)).permute(2, 1, 3, 0, 4), values.unflatten(-1, (heads, d_v)).permute(1, 2, 0, 3)


def position_table(positions: nn.Module) -> Tensor | None:
    """Returns the table that is added to embeddings (MAX_POSITIONS, D), or None."""
    return None if isinstance(positions, NoPositions) else positions.table


def angles(rotary: RotaryPositions) -> Tensor:
    """Returns the rotation of each pair of dimensions at each position as complex numbers of length 1: (MAX_POSITIONS, K // 2)."""
    return torch.complex(rotary.cos, rotary.sin)


def rotate_(x: Tensor, angles: Tensor) -> None:
    """Applies rotary positions in place, as a product of complex numbers: x (..., K), angles (..., K // 2)."""
    pairs = x[..., : 2 * angles.shape[-1]]
    rotated = torch.view_as_complex(pairs.unflatten(-1, (-1, 2)).contiguous()) * angles
    pairs.copy_(torch.view_as_real(rotated).flatten(-2))

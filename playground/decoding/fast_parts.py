"""Parts of the fast path: products, norms and sublayers as plain functions of a model's parameters, for states (N, D) without sentences."""

from __future__ import annotations

from collections.abc import Callable
from operator import iadd

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import ModelConfig
from playground.model.attention import MASKED, MultiHeadAttention, head_widths
from playground.model.layers import FeedForward
from playground.model.positions import NoPositions, RotaryPositions

INITIAL_TOKENS = 16  # tokens there is room for at first; doubled when it is full
Map = Callable[[Tensor], Tensor]


def product(weight: Tensor, bias: Tensor | None) -> Map:
    """x W^T + b. `F.linear` makes the same product, a quarter slower where there is only one row."""
    turned = weight.t()
    return (lambda x: torch.mm(x, turned)) if bias is None else (lambda x: torch.addmm(bias, x, turned))


def weight_and_bias(module: nn.Module) -> tuple[Tensor, Tensor | None]:
    """As module.weight and module.bias say, but that is four times as slow, and for one sentence there are a hundred of them."""
    held = vars(module)["_parameters"]
    return held["weight"], held["bias"]


def linear(module: nn.Linear) -> Map:
    return product(*weight_and_bias(module))


def joined(*parts: nn.Linear) -> tuple[Tensor, Tensor | None]:
    """The matrices of several maps one below the other, for one product instead of many, and their biases."""
    bias = None if parts[0].bias is None else torch.cat([part.bias for part in parts])
    return torch.cat([part.weight for part in parts]), bias


def norm(module: nn.Module) -> Map:
    if isinstance(module, nn.Identity):
        return module
    shape, eps, (weight, bias) = module.normalized_shape, module.eps, weight_and_bias(module)
    return lambda x: torch.layer_norm(x, shape, weight, bias, eps)


def feed_forward(module: FeedForward) -> Map:
    W_1, W_2 = linear(module.W_1), linear(module.W_2)
    activation = torch.relu_ if module.activation is F.relu else module.activation  # in place where torch can
    return lambda x: W_2(activation(W_1(x)))


def wrap(config: ModelConfig) -> Callable:
    """What a sublayer is to x with its norm, before or after, and its residual connection: of (x, sublayer, norm), be x torch's or
    numpy's."""
    if config.residual and config.norm == "post":
        return lambda x, sublayer, norm: norm(iadd(sublayer(x), x))
    if config.residual:
        return lambda x, sublayer, norm: iadd(sublayer(norm(x)), x)
    if config.norm == "post":
        return lambda x, sublayer, norm: norm(sublayer(x))
    return lambda x, sublayer, norm: sublayer(norm(x))


def unseen(seen: Tensor) -> Tensor:
    """What is added to scores: tokens that may be seen (B, L) -> (B, 1, 1, L)."""
    return torch.where(seen, 0.0, MASKED)[:, None, None]


def scale(attention: MultiHeadAttention) -> float:
    """What scores are multiplied by: in the paper 1 / sqrt(K)."""
    return (attention.W_q.out_features // attention.n_heads) ** -attention.power


def split(joint: Tensor, config: ModelConfig) -> tuple[Tensor, Tensor]:
    """Views of the joint product of W_q, W_k and W_v: (B, L, 2 H K + D) -> queries and keys (2, B, H, L, K), values (B, H, L, U)."""
    heads, (d_k, d_v) = config.n_heads, head_widths(config)
    compared, values = joint[..., : 2 * heads * d_k], joint[..., 2 * heads * d_k :]
    return compared.unflatten(-1, (2, heads, d_k)).permute(2, 0, 3, 1, 4), values.unflatten(-1, (heads, d_v)).transpose(1, 2)


def position_table(positions: nn.Module) -> Tensor | None:
    """What is added to embeddings (MAX_POSITIONS, D), None where nothing is."""
    return None if isinstance(positions, NoPositions) else positions.table


def angles(rotary: RotaryPositions) -> Tensor:
    """By how much each pair of dimensions is turned at each position, as complex numbers of length 1: (MAX_POSITIONS, K // 2)."""
    return torch.complex(rotary.cos, rotary.sin)


def turn_(x: Tensor, angles: Tensor) -> None:
    """Rotary positions as the product of complex numbers that they are, in place: x (..., K), angles (..., K // 2)."""
    pairs = x[..., : 2 * angles.shape[-1]]
    turned = torch.view_as_complex(pairs.unflatten(-1, (-1, 2)).contiguous()) * angles
    pairs.copy_(torch.view_as_real(turned).flatten(-2))

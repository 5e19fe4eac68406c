"""Parts of the fast path: products, norms and sublayers as plain functions of a model's parameters, on flat states (N, D)."""

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

INITIAL_TOKENS = 16  # initial capacity of the cache in tokens; doubled when full
Map = Callable[[Tensor], Tensor]


def product(weight: Tensor, bias: Tensor | None) -> Map:
    """Returns x -> x W^T + b. `F.linear` is a quarter slower with only one row."""
    transposed = weight.t()
    return (lambda x: torch.mm(x, transposed)) if bias is None else (lambda x: torch.addmm(bias, x, transposed))


def weight_and_bias(module: nn.Module) -> tuple[Tensor, Tensor | None]:
    """Returns module.weight and module.bias, four times as fast as attribute access; one sentence needs a hundred of them."""
    parameters = vars(module)["_parameters"]
    return parameters["weight"], parameters["bias"]


def linear(module: nn.Linear) -> Map:
    return product(*weight_and_bias(module))


def join_weights(*parts: nn.Linear) -> tuple[Tensor, Tensor | None]:
    """Concatenates the matrices and biases of several linear maps, for one product instead of many."""
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
    """Returns f(x, sublayer, norm), a sublayer with pre- or post-norm and residual connection, for torch or numpy arrays."""
    if config.residual and config.norm == "post":
        return lambda x, sublayer, norm: norm(iadd(sublayer(x), x))
    if config.residual:
        return lambda x, sublayer, norm: iadd(sublayer(norm(x)), x)
    if config.norm == "post":
        return lambda x, sublayer, norm: norm(sublayer(x))
    return lambda x, sublayer, norm: sublayer(norm(x))


def score_mask(real: Tensor) -> Tensor:
    """Returns the mask that is added to scores: real tokens (B, L) -> (B, 1, 1, L)."""
    return torch.where(real, 0.0, MASKED)[:, None, None]


def scale(attention: MultiHeadAttention) -> float:
    """Returns the factor of the scores: in the paper 1 / sqrt(K)."""
    return (attention.W_q.out_features // attention.n_heads) ** -attention.power


def split(joint: Tensor, config: ModelConfig) -> tuple[Tensor, Tensor]:
    """Splits the product of joined W_q, W_k, W_v into views: (B, L, 2 H K + D) -> queries and keys (2, B, H, L, K), values (B, H, L, U)."""
    heads, (d_k, d_v) = config.n_heads, head_widths(config)
    queries_keys, values = joint[..., : 2 * heads * d_k], joint[..., 2 * heads * d_k :]
    return queries_keys.unflatten(-1, (2, heads, d_k)).permute(2, 0, 3, 1, 4), values.unflatten(-1, (heads, d_v)).transpose(1, 2)


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

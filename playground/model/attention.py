"""Attention: every query is compared with all keys, and their values are mixed accordingly (section 3.2)."""

import torch
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.model.kv_cache import KVCache
from playground.model.parts import Dropout, Linear
from playground.model.positions import RotaryPositions

MASKED = -1e30  # added to a masked score: its exp is exactly 0, and a fully masked row isn't NaN as with -inf


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, power: float = 0.5, dropout: Dropout | None = None
) -> tuple[Tensor, Tensor]:
    """Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V, equation 1.

    q (..., Q, K), k (..., L, K), v (..., L, U), mask broadcast to (..., Q, L), True where a query may attend. Returns the output of each
    query (..., Q, U) and its weights (..., Q, L) before dropout: rows sum to 1, masked cells are exactly 0. The output of a fully masked
    row is 0.
    """
    scores = q @ k.transpose(-2, -1)
    scores = scores / q.shape[-1] ** power  # the paper's power is 0.5: the square root of d_k
    if mask is not None:
        scores = scores + torch.where(mask, 0.0, MASKED)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask  # only matters in a fully masked row
    return (dropout(weights) if dropout else weights) @ v, weights


def head_widths(config: ModelConfig) -> tuple[int, int]:
    """Returns (d_k, d_v): the widths of a query and a key of one head, and of a value. In the paper both are d_model / h (section 3.2.2),
    except in row B of its table 3, where d_k is smaller."""
    d_v = config.d_model // config.n_heads
    return config.d_k or d_v, d_v


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W_O, with head_i = Attention(Q W_Qi, K W_Ki, V W_Vi) (section 3.2.2).

    W_q, W_k and W_v hold the matrices of all heads side by side: K = d_k columns for each in W_q and W_k, U = d_v = D / H in W_v.
    """

    def __init__(self, config: ModelConfig, dropout: Dropout, rotary: bool = False) -> None:
        super().__init__()
        d_model, bias = config.d_model, config.bias
        self.n_heads, self.power = config.n_heads, config.attention_scale
        d_k, d_v = head_widths(config)
        self.W_q = Linear(d_model, self.n_heads * d_k, bias=bias)
        self.W_k = Linear(d_model, self.n_heads * d_k, bias=bias)
        self.W_v = Linear(d_model, self.n_heads * d_v, bias=bias)
        self.W_o = Linear(self.n_heads * d_v, d_model, bias=bias)
        self.rotary = RotaryPositions(d_k) if rotary else None
        self.dropout = dropout

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, position_ids: Tensor | None = None,
        kv_cache: KVCache | None = None,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """query (B, Q, D), key and value (B, L, D), mask broadcast to (B, H, Q, L) -> out (B, Q, D), weights (B, H, Q, L).

        `position_ids` (B, Q) or (1, Q) are the positions of query and key, for rotary encoding. With a `kv_cache`, query, key and value are
        those of the new tokens only, and L counts the tokens before them as well.
        """
        q = self.split(self.W_q(query))
        if self.rotary:
            q = self.rotary(q, position_ids)
        k, v = kv_cache.update(self.keys_values, key, value, position_ids) if kv_cache else self.keys_values(key, value, position_ids)
        heads, weights = self.attend_heads(q, k, v, mask)
        return self.W_o(self.concat(heads)), weights

    def keys_values(self, key: Tensor, value: Tensor, position_ids: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """key and value (B, L, D), position_ids (B, L) or (1, L) -> (B, H, L, K), (B, H, L, U)."""
        k, v = self.split(self.W_k(key)), self.split(self.W_v(value))
        return self.rotary(k, position_ids) if self.rotary else k, v

    def attend_heads(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """q (B, H, Q, K), k (B, H, L, K), v (B, H, L, U) -> heads (B, H, Q, U), weights (B, H, Q, L)."""
        return scaled_dot_product_attention(q, k, v, mask, self.power, self.dropout)

    def split(self, x: Tensor) -> Tensor:
        """(B, L, H K) -> (B, H, L, K), or with U for K."""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def concat(self, heads: Tensor) -> Tensor:
        """(B, H, L, U) -> (B, L, D)."""
        return heads.transpose(1, 2).flatten(-2)

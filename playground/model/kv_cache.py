"""Cache: what the decoder need not compute again while it writes one token after the other.

A token never sees what comes after it, so its keys and values stay as they are while the sentence grows; those of the memory never change.
"""

from __future__ import annotations

import torch
from torch import Tensor


class KVCache:
    """The keys and values that one attention has computed so far, (B, H, L, K) and (B, H, L, U). `grows`: there may be more to come."""

    def __init__(self, grows: bool) -> None:
        self.grows, self.k, self.v = grows, None, None

    @property
    def length(self) -> int:
        return 0 if self.k is None else self.k.shape[2]

    @property
    def complete(self) -> bool:
        return self.k is not None and not self.grows

    def add(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of N new tokens (B, H, N, K) -> of all tokens (B, H, L, K)."""
        if self.k is None:
            self.k, self.v = k.contiguous(), v.contiguous()  # as products of matrices want them: copied once, not for every new token
        else:
            self.k, self.v = torch.cat((self.k, k), dim=2), torch.cat((self.v, v), dim=2)
        return self.k, self.v


class DecoderCache:
    """For each layer of a decoder, the keys and values of its self-attention and of its cross-attention. Begins empty."""

    def __init__(self, layers: int) -> None:
        self.layers = [(KVCache(grows=True), KVCache(grows=False)) for _ in range(layers)]

    @property
    def length(self) -> int:
        """How many tokens of the target it holds."""
        return self.layers[0][0].length

    def select_rows(self, rows: Tensor) -> None:
        """Goes on with these sentences (N,) of the batch, in this order; one may be taken twice."""
        for kept in (attention for layer in self.layers for attention in layer if attention.k is not None):
            kept.k, kept.v = kept.k[rows], kept.v[rows]

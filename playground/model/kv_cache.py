"""KV cache: keys and values that the decoder reuses while it writes one token after the other.

A token never attends to later ones, so its keys and values stay the same while the sentence grows; those of the memory never change.
"""

from __future__ import annotations

import torch
from torch import Tensor


class KVCache:
    """The keys and values of one attention so far, (B, H, L, K) and (B, H, L, U). `grows`: new tokens are added at each step."""

    def __init__(self, grows: bool) -> None:
        self.grows, self.k, self.v = grows, None, None

    @property
    def length(self) -> int:
        return 0 if self.k is None else self.k.shape[2]

    @property
    def complete(self) -> bool:
        return self.k is not None and not self.grows

    def add(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Appends keys and values of N new tokens (B, H, N, K) -> those of all tokens (B, H, L, K)."""
        if self.k is None:
            self.k, self.v = k.contiguous(), v.contiguous()  # the layout of matrix products: copied once, not for every new token
        else:
            self.k, self.v = torch.cat((self.k, k), dim=2), torch.cat((self.v, v), dim=2)
        return self.k, self.v


class DecoderCache:
    """The keys and values of self-attention and cross-attention in each layer of a decoder. Starts empty."""

    def __init__(self, layers: int) -> None:
        self.layers = [(KVCache(grows=True), KVCache(grows=False)) for _ in range(layers)]

    @property
    def length(self) -> int:
        """Returns the number of cached target tokens."""
        return self.layers[0][0].length

    def select_rows(self, rows: Tensor) -> None:
        """Selects and reorders batch rows (N,); a row may repeat."""
        for cache in (attention for layer in self.layers for attention in layer if attention.k is not None):
            cache.k, cache.v = cache.k[rows], cache.v[rows]

"""KV cache: keys and values that the decoder reuses while it writes one token after the other.

A token never attends to later ones, so its keys and values stay the same while the sentence grows; those of the memory never change.
"""

from collections.abc import Callable

import torch
from torch import Tensor


class KVCache:
    """The keys and values of one attention so far, (B, H, L, K) and (B, H, L, U). `grows`: new tokens are added at each step."""

    def __init__(self, grows: bool) -> None:
        self.grows, self.k, self.v = grows, None, None

    @property
    def length(self) -> int:
        return 0 if self.k is None else self.k.shape[2]

    def update(self, keys_values: Callable[..., tuple[Tensor, Tensor]], *inputs: Tensor | None) -> tuple[Tensor, Tensor]:
        """Adds those that an attention's `keys_values` computes of the inputs of N new tokens, unless all are here -> those of all
        tokens, (B, H, L, K) and (B, H, L, U)."""
        if self.k is None:
            k, v = keys_values(*inputs)
            self.k, self.v = k.contiguous(), v.contiguous()  # the layout of matrix products: copied once, not for every new token
        elif self.grows:
            k, v = keys_values(*inputs)
            self.k, self.v = torch.cat((self.k, k), dim=2), torch.cat((self.v, v), dim=2)
        return self.k, self.v


NO_CACHE = (None, None)  # of the two attentions of a decoder layer


class DecoderCache:
    """The keys and values of self-attention and cross-attention in each layer of a decoder. Starts empty."""

    def __init__(self, layers: int) -> None:
        self.layers = [(KVCache(grows=True), KVCache(grows=False)) for _ in range(layers)]

    @property
    def length(self) -> int:
        """Returns the number of cached target tokens."""
        return self.layers[0][0].length

    def newest(self, tgt_in: Tensor, mask: Tensor, positions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Leaves out the cached tokens: tgt_in (B, T), mask (B, 1, T, T), positions (B or 1, T) -> those of the N new ones, of the mask
        their rows."""
        return tgt_in[:, self.length :], mask[:, :, self.length :], positions[:, self.length :]

    def select_rows(self, rows: Tensor) -> None:
        """Selects and reorders batch rows (N,); a row may repeat."""
        for cache in (attention for layer in self.layers for attention in layer if attention.k is not None):
            cache.k, cache.v = cache.k[rows], cache.v[rows]

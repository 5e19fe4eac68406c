"""Masks: which keys a query may attend to (sections 3.1 and 3.2.3).

A mask is True where a query may attend. Rows are queries, columns are keys: mask[..., q, k] is True if query q may attend to key k.
Dimensions of 1 are broadcast over all sentences or all heads.
"""

from __future__ import annotations

import torch
from torch import Tensor

from playground.config import PAD


def padding_mask(tokens: Tensor) -> Tensor:
    """Hides padding from every query. tokens (B, L) -> (B, 1, 1, L)."""
    return (tokens != PAD)[:, None, None, :]


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """Lets position q attend to itself and to earlier positions, never to later ones. -> (1, 1, T, T)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


def target_mask(tgt_in: Tensor) -> Tensor:
    """Combines padding and causal mask for the decoder's self-attention. tgt_in (B, T) -> (B, 1, T, T)."""
    return padding_mask(tgt_in) & causal_mask(tgt_in.shape[1], tgt_in.device)

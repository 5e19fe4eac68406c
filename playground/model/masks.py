"""Masks: which keys a query may attend to (sections 3.1 and 3.2.3).

A mask is True where a query may attend. Rows are queries, columns are keys: mask[..., q, k] says whether query q may attend to key k.
Dimensions of 1 stand for all sentences or all heads and are broadcast.
"""

from __future__ import annotations

import torch
from torch import Tensor

from playground.config import PAD


def padding_mask(tokens: Tensor) -> Tensor:
    """Nothing attends to padding. tokens (B, L) -> (B, 1, 1, L)."""
    return (tokens != PAD)[:, None, None, :]


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """Position q attends to itself and to what came before, never to the future. -> (1, 1, T, T)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


def target_mask(tgt_in: Tensor) -> Tensor:
    """What the decoder may see of its own sentence: the past, without padding. tgt_in (B, T) -> (B, 1, T, T)."""
    return padding_mask(tgt_in) & causal_mask(tgt_in.shape[1], tgt_in.device)


def segment_mask(query_ids: Tensor, key_ids: Tensor) -> Tensor:
    """Where several pairs share a row, a token attends to its own pair only. Segment ids (B, Q), (B, L) -> (B, 1, Q, L)."""
    return (query_ids[:, :, None] == key_ids[:, None, :])[:, None]

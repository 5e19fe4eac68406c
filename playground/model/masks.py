"""Masks: which keys a query may attend to (sections 3.1 and 3.2.3).

A mask is True where a query may attend. Rows are queries, columns are keys: mask[..., q, k] is True if query q may attend to key k.
Dimensions of 1 are broadcast over all sentences or all heads.

Sentences of unequal length share a rectangle by padding. Several pairs may share a row, which saves padding: they stay apart by their
masks, and each counts its own positions.
"""

from array import array
from collections.abc import Sequence
from typing import NamedTuple

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


# ---- padding and packing ----

def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of unequal length -> (B, longest), filled up with PAD. Raises ValueError without rows."""
    longest = max(map(len, rows))
    cells = array("q", [token for row in rows for token in (*row, *[PAD] * (longest - len(row)))])  # five times as fast as torch.tensor
    return torch.frombuffer(cells, dtype=torch.long).view(len(rows), longest)


class Layout(NamedTuple):
    """One side of a batch: the mask of its self-attention (B, 1, L or 1, L), and the positions of its tokens (B or 1, L)."""

    mask: Tensor
    positions: Tensor


class Packing(NamedTuple):
    """The layout of the source and of the target, and the mask of cross-attention (B, 1, T, S)."""

    src: Layout
    tgt: Layout
    memory_mask: Tensor


def pack_pairs(tgt_in: Tensor, src_segment_ids: Tensor, tgt_segment_ids: Tensor) -> Packing:
    """tgt_in (B, T), and for each token the number of its pair in the row: (B, S) and (B, T)."""
    src_mask, tgt_mask = segment_mask(src_segment_ids, src_segment_ids), segment_mask(tgt_segment_ids, tgt_segment_ids)
    return Packing(
        Layout(src_mask, packed_position_ids(src_segment_ids)),
        Layout(target_mask(tgt_in) & tgt_mask, packed_position_ids(tgt_segment_ids)),
        segment_mask(tgt_segment_ids, src_segment_ids),
    )


def segment_mask(query_ids: Tensor, key_ids: Tensor) -> Tensor:
    """Lets tokens attend to their own pair only. Segment ids (B, Q), (B, L) -> (B, 1, Q, L)."""
    return (query_ids[:, :, None] == key_ids[:, None, :])[:, None]


def packed_position_ids(segment_ids: Tensor) -> Tensor:
    """Returns the position of each token in its own sentence, from 0. Segment ids (B, L) -> (B, L)."""
    columns = torch.arange(segment_ids.shape[1], device=segment_ids.device)
    begins = segment_ids.diff(dim=1, prepend=segment_ids[:, :1]) != 0
    return columns - (columns * begins).cummax(dim=1).values

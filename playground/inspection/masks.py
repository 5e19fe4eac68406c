"""The masks of a small batch, made by the model's own functions."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from playground.config import PAD
from playground.model.masks import causal_mask, padded, padding_mask, segment_mask, target_mask
from playground.variants.decoder_only import join_masks


def batch(src: Sequence[Sequence[int]], tgt_in: Sequence[Sequence[int]]) -> dict[str, np.ndarray]:
    """Builds every mask of B sentences of ids, padded here to a rectangle as in training; True where a query can attend.

    "padding" and "memory" (B, 1, S): the source, for the encoder and for cross-attention; "causal" (B, T, T), "target_padding" (B, 1, T),
    and both combined in "target" (B, T, T). Raises ValueError unless both sides have the same number of sentences, at least one.
    """
    if not src or len(src) != len(tgt_in):
        raise ValueError(f"{len(src)} sources and {len(tgt_in)} targets")
    source, target = padded(src), padded(tgt_in)
    padding, target_padding = padding_mask(source), padding_mask(target)
    causal = causal_mask(target.shape[1]).expand(len(target), -1, -1, -1)
    masks = {"padding": padding, "memory": padding, "causal": causal, "target_padding": target_padding, "target": target_mask(target)}
    return {name: mask[:, 0].numpy() for name, mask in masks.items()}  # (B, 1, ·, ·) -> (B, ·, ·): the same for all heads


def join_pair(src: Sequence[int], tgt_in: Sequence[int], is_causal: bool) -> np.ndarray:
    """Builds the mask of a decoder-only model for one sentence of S ids and its target of T, (S + T, S + T); True where a query can
    attend."""
    return join_masks(torch.tensor([list(src)]), torch.tensor([list(tgt_in)]), is_causal)[0, 0].numpy()


class Mask(NamedTuple):
    """A mask (Q, K), True where a query can attend, and the masks it combines, by the names of their labels."""

    allowed: np.ndarray
    causes: dict[str, np.ndarray]


def packed(src: Sequence[int], tgt_in: Sequence[int], src_segment_ids: Sequence[int], tgt_segment_ids: Sequence[int]) -> dict[str, Mask]:
    """Builds the three masks of a row packed with several pairs, as `Transformer.encode` and `decode` do: "encoder" (S, S), "decoder"
    (T, T) and "cross" (T, S). Padding is segment 0."""
    source, target, src_ids, tgt_ids = (torch.tensor([list(ids)]) for ids in (src, tgt_in, src_segment_ids, tgt_segment_ids))
    own = {"encoder": segment_mask(src_ids, src_ids), "decoder": segment_mask(tgt_ids, tgt_ids), "cross": segment_mask(tgt_ids, src_ids)}
    segment = {name: mask[0, 0].numpy() for name, mask in own.items()}
    real = (source != PAD)[0].numpy()
    causes = {name: {"padding": segment[name] | real, "segment": segment[name] | ~real} for name in ("encoder", "cross")}
    length = len(tgt_in)
    causes["decoder"] = {
        "padding": np.broadcast_to(padding_mask(target)[0, 0].numpy(), (length, length)),
        "segment": segment["decoder"],
        "future": causal_mask(length)[0, 0].numpy(),
    }
    whole = segment | {"decoder": (target_mask(target) & own["decoder"])[0, 0].numpy()}
    return {name: Mask(whole[name], causes[name]) for name in segment}

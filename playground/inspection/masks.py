"""The masks of a small batch, made by the model's own functions, and what they hide, in numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playground.inspection.fact import Fact, percent
from playground.model.masks import causal_mask, padding_mask, target_mask
from playground.model.padding import padded


def batch(src: Sequence[Sequence[int]], tgt_in: Sequence[Sequence[int]]) -> dict[str, np.ndarray]:
    """Every mask of B sentences given as ids, padded here to a rectangle as in training; True where a query may look.

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


def facts(mask: np.ndarray, rows: int | None = None) -> Fact:
    """How many cells of a mask (True may look) are hidden: {hidden} of {cells}, {percent}. A mask of one row holds for `rows` queries."""
    allowed = np.asarray(mask, dtype=bool)
    allowed = allowed.reshape(-1, allowed.shape[-1])
    if rows is not None:
        allowed = np.broadcast_to(allowed, (rows, allowed.shape[1]))
    hidden = int((~allowed).sum())
    if not hidden:
        return Fact("figures.mask_open", {"cells": allowed.size})
    return Fact("figures.mask_hides", {"hidden": hidden, "cells": allowed.size, "percent": percent(hidden / allowed.size)})

"""Dropout for training steps: masks as in model/parts.py, but drawn as 16-bit integers instead of floats.

Four at a time are drawn as one 64-bit integer, in a third of the time of as many floats.
"""

from __future__ import annotations

import torch
from torch import Tensor

LEVELS = 2**16  # possible draws; a fraction p of them, rounded, means dropped


def fast_multipliers(like: Tensor, p: float, generator: torch.Generator) -> Tensor:
    """Returns 0 for dropped elements, 1 / (fraction not dropped) for the rest. Any shape -> the same shape and dtype."""
    lowest = round(p * LEVELS)
    fours = torch.empty(-(-like.numel() // 4), dtype=torch.int64, device=like.device).random_(-(2**63), None, generator=generator)
    passed = fours.view(torch.int16)[: like.numel()].view(like.shape) >= lowest - LEVELS // 2
    return passed.to(like.dtype).div_(1 - lowest / LEVELS)

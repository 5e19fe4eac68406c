"""Dropout of a training step: masks as model/parts.py draws them, from integers of 16 bits instead of fractions.

They are drawn by fours, as the parts of one long integer, in a third of the time that as many fractions take.
"""

from __future__ import annotations

import torch
from torch import Tensor

LEVELS = 2**16  # numbers that may be drawn, of which a share p, rounded, is too low


def fast_multipliers(like: Tensor, p: float, generator: torch.Generator) -> Tensor:
    """0, or one over the share that is kept. Any shape -> the same shape and type."""
    lowest = round(p * LEVELS)
    fours = torch.empty(-(-like.numel() // 4), dtype=torch.int64, device=like.device).random_(-(2**63), None, generator=generator)
    kept = fours.view(torch.int16)[: like.numel()].view(like.shape) >= lowest - LEVELS // 2
    return kept.to(like.dtype).div_(1 - lowest / LEVELS)

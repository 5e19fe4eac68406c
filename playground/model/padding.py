"""Padding: sentences of unequal length in one rectangle."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from playground.config import PAD


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of unequal length -> (B, longest), filled up with PAD. Raises ValueError without rows."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows], dtype=torch.long)

"""Parts: linear map, embedding and dropout as torch has them, but without a draw from torch's global random state.

Every other run in the process shares that state; a model that used it would change with its neighbours.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Linear(nn.Linear):
    """x W^T + b. Its parameters are drawn by `initialise` of the whole model."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__(in_features, out_features, bias=bias)
        self.product = F.linear

    def reset_parameters(self) -> None:
        pass

    def forward(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)."""
        return self.product(x, self.weight, self.bias)


class Embedding(nn.Embedding):
    """One row for each token. Its parameters are drawn by `initialise` of the whole model."""

    def reset_parameters(self) -> None:
        pass


class Dropout(nn.Module):
    """While training, sets each number to zero with probability p and divides the others by 1 - p, so that the mean stays (section 5.4).

    The mask is drawn from `generator`: LEVELS numbers, of which a share p, rounded, is too low. They are drawn by fours, as the parts of
    one long integer: that takes a third of the time that as many fractions take.
    """

    LEVELS = 2**16

    def __init__(self, p: float, generator: torch.Generator) -> None:
        super().__init__()
        self.p, self.generator = p, generator

    @property
    def active(self) -> bool:
        return self.training and self.p > 0

    def forward(self, x: Tensor) -> Tensor:
        """Any shape -> the same shape."""
        return x * self.multipliers(x) if self.active else x

    def multipliers(self, like: Tensor) -> Tensor:
        """What numbers of this shape and type are multiplied by: 0, or one over the share that is kept."""
        lowest = round(self.p * self.LEVELS)
        fours = torch.empty(-(-like.numel() // 4), dtype=torch.int64, device=like.device).random_(-(2**63), None, generator=self.generator)
        kept = fours.view(torch.int16)[: like.numel()].view(like.shape) >= lowest - self.LEVELS // 2
        return kept.to(like.dtype).div_(1 - lowest / self.LEVELS)

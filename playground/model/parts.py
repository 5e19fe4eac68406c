"""Parts: torch's linear map, embedding and dropout, without draws from torch's global random state.

All runs of the process share that state; a model that used it would depend on the other runs.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Linear(nn.Linear):
    """x W^T + b. The model's `initialise` draws its parameters."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__(in_features, out_features, bias=bias)
        self.product = F.linear

    def reset_parameters(self) -> None:
        pass

    def forward(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)."""
        return self.product(x, self.weight, self.bias)


class Embedding(nn.Embedding):
    """One row for each token. The model's `initialise` draws its parameters."""

    def reset_parameters(self) -> None:
        pass


class Dropout(nn.Module):
    """In training, sets each number to zero with probability p and divides the others by 1 - p, which keeps the mean (section 5.4).

    The mask is drawn from `generator`.
    """

    def __init__(self, p: float, generator: torch.Generator) -> None:
        super().__init__()
        self.p, self.generator, self.draw = p, generator, drawn_multipliers

    @property
    def active(self) -> bool:
        return self.training and self.p > 0

    def forward(self, x: Tensor) -> Tensor:
        """Any shape -> the same shape."""
        return x * self.multipliers(x) if self.active else x

    def multipliers(self, like: Tensor) -> Tensor:
        """Draws factors of this shape and type."""
        return self.draw(like, self.p, self.generator)


def drawn_multipliers(like: Tensor, p: float, generator: torch.Generator) -> Tensor:
    """Draws 0 with probability p, else 1 / (1 - p). Any shape -> the same shape and type."""
    mask = torch.rand(like.shape, generator=generator, device=like.device) >= p
    return mask.to(like.dtype) / (1 - p)

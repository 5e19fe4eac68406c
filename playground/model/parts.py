"""Parts: torch's linear map, embedding and dropout, without draws from torch's global random state.

All runs of the process share that state; a model that used it would depend on the other runs.
"""

import torch
from torch import Tensor, nn


class Linear(nn.Linear):
    """x W^T + b, (..., in) -> (..., out). The model's `initialise` draws its parameters."""

    def reset_parameters(self) -> None:
        pass


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
        self.p, self.generator = p, generator

    @property
    def active(self) -> bool:
        return self.training and self.p > 0

    def forward(self, x: Tensor) -> Tensor:
        """Any shape -> the same shape."""
        return x * self.multipliers(x) if self.active else x

    def multipliers(self, like: Tensor) -> Tensor:
        """Draws 0 with probability p, else 1 / (1 - p). Any shape -> the same shape and type."""
        mask = torch.rand(like.shape, generator=self.generator, device=like.device) >= self.p
        return mask.to(like.dtype) / (1 - self.p)

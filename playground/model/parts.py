"""Parts: linear map, embedding and dropout as torch has them, but without a draw from torch's global random state.

Every other run in the process shares that state; a model that used it would change with its neighbours.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Linear(nn.Linear):
    """x W^T + b. Its parameters are drawn by `initialise` of the whole model."""

    def reset_parameters(self) -> None:
        pass


class Embedding(nn.Embedding):
    """One row for each token. Its parameters are drawn by `initialise` of the whole model."""

    def reset_parameters(self) -> None:
        pass


class Dropout(nn.Module):
    """While training, sets each number to zero with probability p and divides the others by 1 - p, so that the mean stays (section 5.4).

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
        if not self.active:
            return x
        kept = torch.rand(x.shape, generator=self.generator, device=x.device) >= self.p
        return x * kept / (1 - self.p)

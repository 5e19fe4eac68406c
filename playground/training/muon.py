"""Muon: each matrix moves by the orthogonal matrix nearest to its averaged gradient (Jordan et al. 2024).

torch.optim.Muon does the same, one matrix after the other and in bfloat16, which on a CPU takes longer than the rest of a training step.
Here all matrices of one shape go through the iteration together, in bfloat16 only where the whole step uses it: there bfloat16 is several
times faster, and the iteration corrects its own rounding.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from playground.choices import OPTIMISERS
from playground.training.adam import ParameterGroups

ITERATIONS = OPTIMISERS["muon"].newton_schulz
COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # Jordan's quintic: steep at 0, so small values grow fast


def orthogonalise(matrices: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Runs the Newton-Schulz iteration: keeps the singular vectors and brings the singular values towards 1. (N, A, B) -> same; products
    are computed in `dtype`."""
    a, b, c = COEFFICIENTS
    wide = matrices.shape[-2] <= matrices.shape[-1]
    x = matrices if wide else matrices.mT
    x = (x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)).to(dtype)
    for _ in range(ITERATIONS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    x = x.to(matrices.dtype)
    return x if wide else x.mT


class Muon(ParameterGroups):
    """Nesterov momentum, then orthogonalise. The step of an (A, B) matrix is lr * sqrt(max(1, A / B)), as in torch.optim.Muon."""

    def __init__(self, groups: Iterable[dict[str, Any]], lr: float, momentum: float = 0.9, weight_decay: float = 0.0) -> None:
        self.dtype = torch.float32  # of the products
        super().__init__(groups, lr=lr, momentum=momentum, weight_decay=weight_decay)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.ndim != 2:
                    raise ValueError(f"Muon moves matrices, not a parameter of shape {tuple(parameter.shape)}")
                self.state[parameter]["momentum"] = torch.zeros_like(parameter)

    def step(self) -> None:
        """Updates all parameters; every one must have a gradient."""
        for move in self.moves():
            move()

    def moves(self) -> list[Callable[[], None]]:
        """Returns the update as independent calls: one for all matrices of one shape, transposed or not."""
        same_shape = defaultdict(list)
        for group in self.param_groups:
            for parameter in group["params"]:
                same_shape[id(group), frozenset(parameter.shape)].append((parameter, group))
        return [partial(self._move, [parameter for parameter, _ in group], group[0][1]) for group in same_shape.values()]

    @torch.no_grad()
    def _move(self, parameters: list[Tensor], group: dict) -> None:
        gradients = [parameter.grad for parameter in parameters]
        momenta = [self.state[parameter]["momentum"] for parameter in parameters]
        torch._foreach_lerp_(momenta, gradients, 1 - group["momentum"])
        ahead = torch._foreach_lerp(gradients, momenta, group["momentum"])
        wide = [matrix if matrix.shape[0] <= matrix.shape[1] else matrix.mT for matrix in ahead]
        if group["weight_decay"]:
            torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
        for parameter, update in zip(parameters, orthogonalise(torch.stack(wide), self.dtype).unbind(), strict=True):
            rows, columns = parameter.shape
            parameter.sub_((update if rows <= columns else update.mT) * (group["lr"] * math.sqrt(max(1, rows / columns))))

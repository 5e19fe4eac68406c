"""Permutation equivariance of attention (the reason for section 3.5): permuted tokens get the same outputs, permuted."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from playground.lessons.lab import Control, Grid, Lab, Outcome
from playground.model.attention import scaled_dot_product_attention
from playground.model.masks import causal_mask
from playground.model.positions import sinusoids

TOKENS = ("the", "dog", "bit", "a", "man")
SHUFFLES = {"swapped": (0, 4, 2, 3, 1), "reversed": (4, 3, 2, 1, 0), "rotated": (1, 2, 3, 4, 0)}
WIDTH = 8
ROUNDING = 1e-12  # differences below are rounding, in float64


def self_attention(x: Tensor, matrices: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """One head: x (L, D), W_Q, W_K and W_V as (3, D, D) -> outputs (L, D), and the weights (L, L)."""
    q, k, v = x @ matrices  # (3, L, D)
    return scaled_dot_product_attention(q, k, v, mask)


def shuffled(x: Tensor, order: tuple[int, ...]) -> Tensor:
    """Permutes the rows of x (L, D): output row i is input row order[i]."""
    return x[list(order)]


def difference(x: Tensor, matrices: Tensor, order: tuple[int, ...], positions: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
    """Measures the change of each token's output when the sentence is permuted, in the new order: (L,).

    Positions (L, D) and the mask (L, L) apply to positions, not to tokens: after the permutation.
    """
    added = 0 if positions is None else positions
    before, _ = self_attention(x + added, matrices, mask)
    after, _ = self_attention(shuffled(x, order) + added, matrices, mask)
    return (after - shuffled(before, order)).abs().amax(dim=-1)


def run(seed: int, shuffle: str) -> Outcome:
    order, length = SHUFFLES[shuffle], len(TOKENS)
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(length, WIDTH, generator=generator, dtype=torch.float64)
    matrices = torch.randn(3, WIDTH, WIDTH, generator=generator, dtype=torch.float64) / WIDTH**0.5
    positions = sinusoids(length, WIDTH).double()
    (before, weights), (after, weights_after) = self_attention(x, matrices), self_attention(shuffled(x, order), matrices)
    differences = {
        "plain": difference(x, matrices, order),
        "positions": difference(x, matrices, order, positions),
        "causal": difference(x, matrices, order, mask=causal_mask(length)[0, 0]),
    }
    numbers = {name: change.max().item() for name, change in differences.items()}
    there = tuple(TOKENS[place] for place in order)
    dims = tuple(f"d{number}" for number in range(WIDTH))
    caption = {
        **numbers, "token": there[0], "weight": weights[order[0], order[1]].item(), "weight_after": weights_after[0, 1].item(),
        "other": there[1], "value": after[0, 0].item(),
    }  # fmt: skip
    return Outcome(
        "moves" if numbers["plain"] < ROUNDING else "changes",
        numbers,
        (
            Grid("weights", weights.numpy(), TOKENS, TOKENS, "probability", caption=caption),
            Grid("weights_after", weights_after.numpy(), there, there, "probability", caption=caption),
            Grid("before", before.numpy(), TOKENS, dims, caption=caption),
            Grid("after", after.numpy(), there, dims, caption=caption),
            Grid("differences", np.stack([change.numpy() for change in differences.values()]), tuple(differences), there, caption=caption),
        ),
    )


LAB = Lab(
    "permutation",
    ("moves", "average", "changes"),
    run,
    (self_attention, shuffled, difference),
    (Control("shuffle", tuple(SHUFFLES), "swapped"),),
    expects="moves",
    order=40,
    next=("positions", "order"),
)

"""Layer norm and batch norm over the same block (section 3.1 norms each token by itself): which numbers are averaged together."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from playground.lessons.lab import Control, Grid, Lab, Outcome

TOKENS = ("1 the", "1 cat", "1 sat", "1 down", "2 stop", "2 it", "2 right", "2 now")  # each with the number of its sentence
B, L, D = 2, 4, 4
PADDING = 2  # rows that a longer sentence in the batch would add to these two
CHOSEN = (0, 1, 2)  # the cell whose company is shown
EPS = 1e-5  # as in nn.LayerNorm: no division by zero
AVERAGED = {"layer": (2,), "batch": (0, 1)}  # the dimensions of (B, L, D) that are averaged over
UNEQUAL = (1000.0, 0.1)


def normalised(x: Tensor, over: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
    """Normalises x (B, L, D) over these dimensions; returns it with its former mean and variance, of size 1 where averaged."""
    mean = x.mean(dim=over, keepdim=True)
    variance = (x - mean).square().mean(dim=over, keepdim=True)
    return (x - mean) / (variance + EPS).sqrt(), mean, variance


def company(shape: tuple[int, ...], cell: tuple[int, ...], over: tuple[int, ...]) -> Tensor:
    """Returns True for the cells that share mean and variance with `cell`: they differ only in the averaged dimensions."""
    together = torch.zeros(shape, dtype=torch.bool)
    together[tuple(slice(None) if dim in over else place for dim, place in enumerate(cell))] = True
    return together


def by_torch(x: Tensor, kind: str) -> Tensor:
    """Applies torch's module in training mode to x (B, L, D)."""
    if kind == "layer":
        return nn.LayerNorm(x.shape[-1], eps=EPS, dtype=x.dtype)(x)
    return nn.BatchNorm1d(x.shape[-1], eps=EPS, dtype=x.dtype)(x.transpose(1, 2)).transpose(1, 2)  # which wants (B, D, L)


def neighbours(x: Tensor, other: Tensor) -> dict[str, Tensor]:
    """Changes the rest of the batch x (B, L, D): adds padding, or replaces the second sentence by another (1, L, D)."""
    return {
        "padding": torch.cat((x, x.new_zeros(len(x), PADDING, x.shape[-1])), dim=1),
        "sentence": torch.cat((x[:1], other)),
    }


def moved(x: Tensor, changed: Tensor, kind: str) -> float:
    """Returns the largest change of the normalised first sentence when only the rest of the batch changes."""
    before, after = (normalised(batch, AVERAGED[kind])[0][0, : x.shape[1]] for batch in (x, changed))
    return (after - before).abs().max().item()


def through_linear(x: Tensor, weight: Tensor) -> list[float]:
    """Returns both numbers of x, a linear layer's output, and the gradient of each weight."""
    weight = weight.clone().requires_grad_()
    output = x @ weight
    return [*x.tolist(), output.item(), *torch.autograd.grad(output, weight)[0].tolist()]


def run(seed: int, norm: str) -> Outcome:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(B, L, D, generator=generator, dtype=torch.float64) * torch.tensor([1.0, 3.0, 0.5, 2.0]) + 1
    other = torch.randn(1, L, D, generator=generator, dtype=torch.float64)
    weight = torch.randn(2, generator=generator, dtype=torch.float64)

    y, mean, variance = normalised(x, AVERAGED[norm])
    _, mean_after, variance_after = normalised(y, AVERAGED[norm])
    statistics = torch.stack([tensor.flatten() for tensor in (mean, variance, mean_after, variance_after)], dim=-1)
    together = company(x.shape, CHOSEN, AVERAGED[norm])
    moves = {kind: {name: moved(x, changed, kind) for name, changed in neighbours(x, other).items()} for kind in AVERAGED}
    sensitive = [kind for kind, changes in moves.items() if max(changes.values()) > 1e-9]
    unequal = torch.tensor(UNEQUAL, dtype=torch.float64)
    linear = torch.tensor([through_linear(vector, weight) for vector in (unequal, normalised(unequal, (0,))[0])])
    parts = (unequal * weight).abs()  # that the output is the sum of

    numbers = {f"{kind}_{name}": move for kind, changes in moves.items() for name, move in changes.items()}
    caption = {
        **numbers, "cells": int(together.sum()), "count": len(statistics), "token": TOKENS[CHOSEN[1]], "column": f"d{CHOSEN[2]}",
        "value": x[CHOSEN].item(), "mean": x[together].mean().item(), "variance": x[together].var(correction=0).item(),
        "result": y[CHOSEN].item(), "difference": (y - by_torch(x, norm)).abs().max().item(),
        "raw": (linear[0, 3] / linear[0, 4]).item(), "normed": (linear[1, 3] / linear[1, 4]).abs().item(),
        "share": 100 * (parts[0] / parts.sum()).item(),  # percent
    }  # fmt: skip
    rows, columns = x.flatten(0, 1).numpy(), tuple(f"d{number}" for number in range(D))
    return Outcome(
        "both" if len(sensitive) == 2 else sensitive[0] if sensitive else "neither",
        numbers,
        (
            Grid("block", rows, TOKENS, columns, caption=caption),
            Grid("company", rows, TOKENS, columns, mask=together.flatten(0, 1).numpy(), caption=caption),
            Grid(
                "statistics", statistics.numpy(), TOKENS if norm == "layer" else columns,
                ("mean", "variance", "mean_after", "variance_after"), caption=caption,
            ),
            Grid("normalised", y.flatten(0, 1).numpy(), TOKENS, columns, caption=caption),
            Grid("neighbours", np.array([[*row.values()] for row in moves.values()]), (*moves,), ("padding", "sentence"), caption=caption),
            Grid("linear", linear.numpy(), ("as_it_is", "normed"), ("x_1", "x_2", "output", "gradient_1", "gradient_2"), caption=caption),
        ),
    )  # fmt: skip


LAB = Lab(
    "norms",
    ("neither", "layer", "batch", "both"),
    run,
    (normalised, company, neighbours, moved, through_linear),
    (Control("norm", ("layer", "batch"), "layer"),),
    expects="batch",
    order=130,
    next=("residuals", "nn_transformer"),
)

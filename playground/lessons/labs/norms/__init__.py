"""Layer norm beside batch norm, two ways to write it, and dropout."""

import numpy as np
import torch
from torch import Tensor, nn

from playground.lessons.lab import Control, Grid, Lab, Lines, Outcome
from playground.model.parts import Dropout

# --- Layer norm and batch norm over the same block (section 3.1 norms each token by itself): which numbers are averaged together. ---

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


def run_norms(seed: int, norm: str) -> Outcome:
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


# --- Two ways to write layer norm: divide by std + eps, as many notebooks do, or by sqrt(var + eps), as torch does. ---

OWN_EPS = 1e-6  # common in notebooks
WIDTHS = (2, 4, 8, 16, 64, 256, 512)
SCALES = np.logspace(-8, 2, 41)
CONSTANT = 0.02  # relative variation below which a factor is constant
SHOWN = 8  # numbers of the first token
NORMED = ("the", "cat", "sat")


def by_deviation(x: Tensor) -> Tensor:
    """(x - mean) / (std + eps), std with n - 1: (..., D) -> (..., D)."""
    return (x - x.mean(dim=-1, keepdim=True)) / (x.std(dim=-1, keepdim=True) + OWN_EPS)


def by_variance(x: Tensor) -> Tensor:
    """(x - mean) / sqrt(var + eps), var with n: (..., D) -> (..., D)."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + EPS).sqrt()


def run_layer_norm(seed: int, width: int) -> Outcome:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(len(NORMED), width, generator=generator, dtype=torch.float64)
    own, torchs = by_deviation(x), by_variance(x)
    factors = (own / torchs).flatten()
    vector = torch.randn(width, generator=generator, dtype=torch.float64)
    vector = (vector - vector.mean()) / vector.std(correction=0)
    sizes = {name: np.array([way(vector * scale).square().mean().sqrt().item() for scale in SCALES]) for name, way in WAYS.items()}
    numbers_of_variance_1 = (torch.randn(64, each, generator=generator, dtype=torch.float64) * 10 for each in WIDTHS)
    by_width = np.array([(by_deviation(y) / by_variance(y)).median().item() for y in numbers_of_variance_1])
    numbers = {
        "width": width, "factor": factors.mean().item(), "formula": ((width - 1) / width) ** 0.5,
        "spread": (factors.max() - factors.min()).item(), "widest": WIDTHS[-1], "factor_widest": by_width[-1].item(),
    }  # fmt: skip
    caption = {
        **numbers, "difference": (torchs - nn.LayerNorm(width, eps=EPS, dtype=x.dtype)(x)).abs().max().item(),
        "half": EPS**0.5, "own_half": OWN_EPS,
    }  # fmt: skip
    dims = tuple(f"d{number}" for number in range(min(width, SHOWN)))
    rows_shown = torch.stack((x[0], own[0], torchs[0]))[:, :SHOWN]
    one_factor = numbers["spread"] < CONSTANT * numbers["factor"]
    return Outcome(
        "same" if one_factor and abs(numbers["factor"] - 1) < 1e-6 else "one_factor" if one_factor else "differ",
        numbers,
        (
            Grid("token", rows_shown.numpy(), ("x", "by_deviation", "by_variance"), dims, digits=3, caption=caption),
            Lines("factors", np.array(WIDTHS), {"factor": by_width}, log_x=True, caption=caption),
            Lines("sizes", SCALES, sizes, log_x=True, caption=caption),
        ),
    )


WAYS = {"by_deviation": by_deviation, "by_variance": by_variance}


# --- Dropout by hand (section 5.4): zeros in the tensor, the rest divided by 1 - p, and a mean that stays. ---

DROPPED = ("the", "cat", "sat", "down")
WIDTH = 8
DRAWS = 4096  # masks averaged over
SAME = 0.05  # relative difference of such means that counts as none
COUNTS = (1, 4, 16, 64, 256, 1024, 4096)


def draw_mask(shape: tuple[int, ...], p: float, generator: torch.Generator) -> Tensor:
    """Draws a mask: True for the numbers kept, each with probability 1 - p."""
    return torch.rand(shape, generator=generator) >= p


def dropout(x: Tensor, mask: Tensor, p: float) -> Tensor:
    """Zeros where the mask is False; the others are divided by 1 - p. Any shape -> the same shape."""
    return x * (mask / (1 - p))


def by_module(x: Tensor, p: float, seed: int, training: bool) -> Tensor:
    """Applies the model's own module to x."""
    return Dropout(p, torch.Generator().manual_seed(seed)).train(training)(x)


def run_dropout(seed: int, p: float) -> Outcome:
    x = torch.randn(len(DROPPED), WIDTH, generator=torch.Generator().manual_seed(seed + 1)) + 1
    mask = draw_mask(x.shape, p, torch.Generator().manual_seed(seed))
    dropped = dropout(x, mask, p)
    masks = draw_mask((DRAWS, *x.shape), p, torch.Generator().manual_seed(seed))
    cut, scaled = x * masks, dropout(x, masks, p)  # (draws, L, D)
    scales = scaled[scaled != 0] / x.expand_as(scaled)[scaled != 0]
    numbers = {
        "keep": 1 - p, "factor": scales.mean().item(),
        "before": x.mean().item(), "cut": cut.mean().item(), "scaled": scaled.mean().item(),
    }  # fmt: skip
    caption = {
        **numbers, "zeros": int((~mask).sum()), "cells": mask.numel(), "draws": DRAWS,
        "difference": (dropped - by_module(x, p, seed, training=True)).abs().max().item(),
        "evaluation": (x - by_module(x, p, seed, training=False)).abs().max().item(),
        "variance": (scaled[:, 0, 0].var() / x[0, 0] ** 2).item(), "formula": p / (1 - p),
    }  # fmt: skip
    dims = tuple(f"d{number}" for number in range(WIDTH))
    lines = {
        name: np.array([outputs[:count].mean().item() for count in COUNTS])
        for name, outputs in {"without_division": cut, "with_division": scaled}.items()
    }
    lines["no_dropout"] = np.full(len(COUNTS), x.mean().item())
    return Outcome(
        "same" if abs(numbers["factor"] - 1) < SAME else "larger" if numbers["factor"] > 1 else "smaller",
        numbers,
        (
            Grid("input", x.numpy(), DROPPED, dims, caption=caption),
            Grid("output", dropped.numpy(), DROPPED, dims, mask=mask.numpy(), caption=caption),
            Lines("means", np.array(COUNTS), lines, log_x=True, caption=caption),
        ),
    )


LABS = (
    Lab(
        "norms", ("neither", "layer", "batch", "both"), run_norms, (normalised, company, neighbours, moved, through_linear),
        (Control("norm", ("layer", "batch"), "layer"),), first="block", expects="batch", order=130, next=("residuals", "nn_transformer"),
    ),
    Lab(
        "layer_norm", ("same", "one_factor", "differ"), run_layer_norm, (by_deviation, by_variance), (Control("width", (4, 64, 512), 64),),
        first="sizes", expects="one_factor", order=140, next=("norms", "nn_transformer"),
    ),
    Lab(
        "dropout", ("same", "larger", "smaller"), run_dropout, (draw_mask, dropout, Dropout.forward, Dropout.multipliers),
        (Control("p", (0.1, 0.3, 0.5), 0.5),), first="input", expects="larger", order=160, next=("attention_dropout", "bug_dropout"),
    ),
)  # fmt: skip

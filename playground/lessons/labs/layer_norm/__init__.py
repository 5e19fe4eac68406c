"""Two ways to write layer norm: divide by std + eps, as many notebooks do, or by sqrt(var + eps), as torch does."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from playground.lessons.lab import Control, Grid, Lab, Lines, Outcome

EPS = 1e-5  # as in nn.LayerNorm
OWN_EPS = 1e-6  # common in notebooks
WIDTHS = (2, 4, 8, 16, 64, 256, 512)
SCALES = np.logspace(-8, 2, 41)
CONSTANT = 0.02  # relative variation below which a factor is constant
SHOWN = 8  # numbers of the first token
TOKENS = ("the", "cat", "sat")


def by_deviation(x: Tensor) -> Tensor:
    """(x - mean) / (std + eps), std with n - 1: (..., D) -> (..., D)."""
    return (x - x.mean(dim=-1, keepdim=True)) / (x.std(dim=-1, keepdim=True) + OWN_EPS)


def by_variance(x: Tensor) -> Tensor:
    """(x - mean) / sqrt(var + eps), var with n: (..., D) -> (..., D)."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + EPS).sqrt()


def run(seed: int, width: int) -> Outcome:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(len(TOKENS), width, generator=generator, dtype=torch.float64)
    own, torchs = by_deviation(x), by_variance(x)
    factors = (own / torchs).flatten()
    vector = torch.randn(width, generator=generator, dtype=torch.float64)
    vector = (vector - vector.mean()) / vector.std(correction=0)
    sizes = {name: np.array([way(vector * scale).square().mean().sqrt().item() for scale in SCALES]) for name, way in WAYS.items()}
    by_width = np.array([_factor(generator, each) for each in WIDTHS])
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


def _factor(generator: torch.Generator, width: int) -> float:
    """Measures the ratio of both results for random numbers of variance about 1."""
    x = torch.randn(64, width, generator=generator, dtype=torch.float64) * 10
    return (by_deviation(x) / by_variance(x)).median().item()


LAB = Lab(
    "layer_norm",
    ("same", "one_factor", "differ"),
    run,
    (by_deviation, by_variance),
    (Control("width", (4, 64, 512), 64),),
    expects="one_factor",
    order=140,
    next=("norms", "nn_transformer"),
)

"""Dropout by hand (section 5.4): zeros in the tensor, the rest divided by 1 - p, and a mean that stays."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from playground.lessons.lab import Control, Grid, Lab, Lines, Outcome
from playground.model.parts import Dropout

TOKENS = ("the", "cat", "sat", "down")
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


def run(seed: int, p: float) -> Outcome:
    x = torch.randn(len(TOKENS), WIDTH, generator=torch.Generator().manual_seed(seed + 1)) + 1
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
            Grid("input", x.numpy(), TOKENS, dims, caption=caption),
            Grid("output", dropped.numpy(), TOKENS, dims, mask=mask.numpy(), caption=caption),
            Lines("means", np.array(COUNTS), lines, log_x=True, caption=caption),
        ),
    )


LAB = Lab(
    "dropout",
    ("same", "larger", "smaller"),
    run,
    (draw_mask, dropout, Dropout.forward, Dropout.multipliers),
    (Control("p", (0.1, 0.3, 0.5), 0.5),),
    expects="larger",
    order=160,
    next=("attention_dropout", "bug_dropout"),
)

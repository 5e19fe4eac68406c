"""Softmax and its scale (section 3.2.1): why scores are divided by sqrt(d_k)."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from playground.lessons.lab import Control, Grid, Lab, Lines, Outcome

TOKENS = ("the", "cat", "sat", "down")
FACTORS = (0.1, 1.0, 10.0)
WIDTHS = (1, 4, 16, 64, 256, 1024)
DRAWN = 4096  # scores, and pairs of query and key for each width


def softmax(scores: Tensor) -> Tensor:
    """(..., L) -> (..., L): y_i = exp(s_i) / sum_j exp(s_j)."""
    exponentials = (scores - scores.amax(dim=-1, keepdim=True)).exp()  # avoids overflow
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def jacobian(y: Tensor) -> Tensor:
    """dy_i / ds_j of y = softmax(s): (L,) -> (L, L), y_i (delta_ij - y_j)."""
    return y.diag() - y[:, None] * y[None, :]


def variances(d_k: int, seed: int) -> tuple[float, float]:
    """Measures the variance of q.k and q.k / sqrt(d_k), over random q and k of mean 0 and variance 1."""
    generator = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, DRAWN, d_k, generator=generator, dtype=torch.float64)
    products = (q * k).sum(dim=-1)
    return products.var().item(), (products / math.sqrt(d_k)).var().item()


def steepest(scores: Tensor) -> Tensor:
    """Returns the softmax's largest slope at each row of scores: (N, L) -> (N,)."""
    y = softmax(scores)
    return (y * (1 - y)).amax(dim=-1)  # off-diagonal slopes are no larger: y_i y_j <= y_i (1 - y_i)


def typical(draws: Tensor) -> Tensor:
    """Returns the draw (L,) of (N, L) whose slope changes by the median when its scores are multiplied by ten."""
    change = steepest(draws * FACTORS[-1]) / steepest(draws)
    return draws[change.argsort()[len(change) // 2]]


def run(seed: int, factor: float) -> Outcome:
    draws = torch.randn(DRAWN, len(TOKENS), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    example = typical(draws)
    scores = example * factor
    rows = torch.stack([softmax(example * other) for other in FACTORS])
    slopes = jacobian(softmax(scores))
    by_torch = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=-1), scores)
    small, slope, large = (steepest(draws * other).mean().item() for other in FACTORS)
    factors = torch.logspace(-1, 1.5, 26, dtype=torch.float64)
    falls = torch.stack([steepest(draws * other).mean() for other in factors])
    raw, scaled = (torch.tensor(variance_pairs) for variance_pairs in zip(*(variances(width, seed) for width in WIDTHS), strict=True))
    numbers = {
        "slope_small": small, "slope": slope, "slope_large": large, "difference": (slopes - by_torch).abs().max().item(),
        "width": WIDTHS[-1], "variance": raw[-1].item(), "variance_scaled": scaled[-1].item(),
    }  # fmt: skip
    caption = {"factor": factor, "least": rows[0].max().item(), "most": rows[-1].max().item(), "largest": slopes.max().item(), **numbers}
    return Outcome(
        "vanishes" if large < slope / 2 else "grows" if large > 2 * slope else "stays",
        numbers,
        (
            Grid("scores", scores[None].numpy(), ("score",), TOKENS, caption=caption),
            Grid("probabilities", rows.numpy(), tuple(f"×{other:g}" for other in FACTORS), TOKENS, "probability", caption=caption),
            Grid("jacobian", slopes.numpy(), TOKENS, TOKENS, caption=caption),
            Lines("vanishing", factors.numpy(), {"slope": falls.numpy()}, log_x=True, caption=caption),
            Lines("variance", np.array(WIDTHS), {"raw": raw.numpy(), "scaled": scaled.numpy()}, log_x=True, log_y=True, caption=caption),
        ),
    )


LAB = Lab(
    "softmax",
    ("grows", "stays", "vanishes"),
    run,
    (softmax, jacobian, steepest, typical, variances),
    (Control("factor", FACTORS, 1.0),),
    expects="vanishes",
    order=10,
    starts=True,
    next=("masks", "products"),
)

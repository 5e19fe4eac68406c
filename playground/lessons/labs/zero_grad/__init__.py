"""A forgotten zero_grad: backward() adds to .grad, so the optimiser steps with the sum of all gradients so far, like momentum 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from playground.lessons.lab import Control, Grid, Lab, Lines, Outcome

PAIRS, D, STEPS = 64, 4, 40
SHOWN = 3  # steps in the table
LATE = 10  # last steps


class Trained(NamedTuple):
    losses: Tensor  # (STEPS,), before each step
    own: Tensor  # (STEPS, D), the gradient of each step's loss
    used: Tensor  # (STEPS, D), what .grad held when the optimiser stepped
    weight: Tensor  # (D,), after the last step


def train(x: Tensor, y: Tensor, rate: float, clear: bool, momentum: float = 0.0) -> Trained:
    """Fits x (N, D) times a weight (D,) to y (N,); `clear` calls zero_grad before each backward."""
    weight = torch.zeros(D, dtype=x.dtype, requires_grad=True)
    optimiser = torch.optim.SGD([weight], lr=rate, momentum=momentum)
    losses, own, used = [], [], []
    for _ in range(STEPS):
        if clear:
            optimiser.zero_grad()
        loss = (x @ weight - y).square().mean()
        own += torch.autograd.grad(loss, weight, retain_graph=True)  # leaves .grad alone
        loss.backward()  # adds to .grad
        optimiser.step()
        losses.append(loss.detach())
        used.append(weight.grad.clone())
    return Trained(torch.stack(losses), torch.stack(own), torch.stack(used), weight.detach())


def run(seed: int, rate: float) -> Outcome:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(PAIRS, D, generator=generator, dtype=torch.float64)
    y = x @ torch.randn(D, generator=generator, dtype=torch.float64)
    with torch.enable_grad():
        cleared, forgotten, pushed = train(x, y, rate, True), train(x, y, rate, False), train(x, y, rate, True, momentum=1.0)
    sums = forgotten.own.cumsum(dim=0)
    candidates = {"last": forgotten.own, "sum": sums, "mean": sums / torch.arange(1, STEPS + 1)[:, None]}
    apart = {guess: (forgotten.used - gradients).abs().max().item() for guess, gradients in candidates.items()}
    numbers = {
        "apart": apart["sum"], "momentum": (forgotten.weight - pushed.weight).abs().max().item(), "late": LATE, "steps": STEPS,
        "first": cleared.losses[0].item(), "cleared": cleared.losses[-LATE:].max().item(),
        "forgotten": forgotten.losses[-LATE:].max().item(),
    }  # fmt: skip
    rows = {f"{name}_{step + 1}": part[step] for step in range(SHOWN) for name, part in (("own", forgotten.own), ("used", forgotten.used))}
    lines = {"cleared": cleared.losses.numpy(), "forgotten": forgotten.losses.numpy()}
    return Outcome(
        min(apart, key=apart.get),
        numbers,
        (
            Grid("gradients", torch.stack([*rows.values()]).numpy(), (*rows,), tuple(f"w{number}" for number in range(D)), caption=numbers),
            Lines("losses", np.arange(1, STEPS + 1), lines, log_y=True, caption=numbers),
        ),
    )


LAB = Lab(
    "zero_grad",
    ("last", "sum", "mean"),
    run,
    (train,),
    (Control("rate", (0.05, 0.1, 0.2), 0.1),),
    expects="sum",
    order=165,
    next=("residuals", "warmup"),
)

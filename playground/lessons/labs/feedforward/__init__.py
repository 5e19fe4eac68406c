"""The feed-forward network (section 3.3): two linear layers at each position, or "two convolutions with kernel size 1"."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import ModelConfig
from playground.lessons.lab import Control, Grid, Lab, Outcome
from playground.model.layers import FeedForward
from playground.model.parts import Dropout

TOKENS = ("the", "cat", "sat", "down", "now")
ORDER = (3, 0, 4, 2, 1)  # the same tokens, permuted
D, D_FF = 4, 8
EXACT = 1e-9  # far above rounding errors in float64


def network(generator: torch.Generator) -> FeedForward:
    """A feed-forward network of our model, in float64, with random parameters."""
    ffn = FeedForward(ModelConfig(d_model=D, d_ff=D_FF), Dropout(0.0, generator)).double()
    for parameter in ffn.parameters():
        nn.init.normal_(parameter, 0, 0.5, generator=generator)
    return ffn


def kernel_of(matrix: Tensor, width: int, generator: torch.Generator) -> Tensor:
    """Embeds a linear layer's matrix (out, in) at the centre of a kernel (out, in, width); its other numbers are random."""
    kernel = torch.randn(*matrix.shape, width, generator=generator, dtype=matrix.dtype) / 2
    kernel[:, :, width // 2] = matrix
    return kernel


def convolutions(ffn: FeedForward, width: int, generator: torch.Generator) -> Callable[[Tensor], Tensor]:
    """Converts the network to two convolutions along the sentence; torch wants positions last."""
    first, second = (kernel_of(linear.weight.detach(), width, generator) for linear in (ffn.W_1, ffn.W_2))

    def convolved(x: Tensor) -> Tensor:
        """(L, D) -> (L, d_ff) -> (L, D)."""
        hidden = F.conv1d(x.T, first, ffn.W_1.bias, padding="same").relu()
        return F.conv1d(hidden, second, ffn.W_2.bias, padding="same").T

    return convolved


def reach(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Measures how much the output at position j changes, at most, when 1 is added to the input at position i: (L, L)."""
    before, changes = function(x), []
    for token in range(len(x)):
        moved = x.clone()
        moved[token] += 1
        changes.append((function(moved) - before).abs().amax(dim=-1))
    return torch.stack(changes)


@torch.no_grad()
def run(seed: int, kernel: int) -> Outcome:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(len(TOKENS), D, generator=generator, dtype=torch.float64)
    ffn = network(generator)
    convolved = convolutions(ffn, kernel, generator)
    order = list(ORDER)
    shuffled = ffn(x[order])

    own, reached = reach(ffn, x), reach(convolved, x)
    most = int((own > EXACT).sum(dim=1).max())
    numbers = {
        "positions": most, "tokens": len(TOKENS), "parameters": sum(parameter.numel() for parameter in ffn.parameters()),
        "difference": (convolved(x) - ffn(x)).abs().max().item(),
    }  # fmt: skip
    caption = {
        **numbers, "kernel": kernel, "reached": int((reached > EXACT).sum(dim=1).max()), "d_model": D, "d_ff": D_FF,
        "shuffled": (shuffled - ffn(x)[order]).abs().max().item(),
    }  # fmt: skip
    columns = tuple(f"d{number}" for number in range(D))
    return Outcome(
        "one" if most == 1 else "all" if most == len(TOKENS) else "neighbours",
        numbers,
        (
            Grid("input", x.numpy(), TOKENS, columns, caption=caption),
            Grid("output", ffn(x).numpy(), TOKENS, columns, caption=caption),
            Grid("convolved", convolved(x).numpy(), TOKENS, columns, caption=caption),
            Grid("reach", reached.numpy(), TOKENS, TOKENS, caption=caption),
            Grid("shuffled", shuffled.numpy(), tuple(TOKENS[token] for token in ORDER), columns, caption=caption),
        ),
    )


LAB = Lab(
    "feedforward",
    ("one", "neighbours", "all"),
    run,
    (FeedForward, convolutions, kernel_of, reach),
    (Control("kernel", (1, 3), 1),),
    expects="one",
    order=120,
    next=("norms", "residuals"),
)

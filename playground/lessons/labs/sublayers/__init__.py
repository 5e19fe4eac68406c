"""Sublayers by hand: the feed-forward network, and residual connections."""

from collections.abc import Callable
from copy import deepcopy

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import ModelConfig
from playground.lessons.lab import Control, Grid, Lab, Lines, Outcome
from playground.model.layers import FeedForward, Residual
from playground.model.parts import Dropout

# --- The feed-forward network (section 3.3): two linear layers at each position, or "two convolutions with kernel size 1". ---

WORDS = ("the", "cat", "sat", "down", "now")
ORDER = (3, 0, 4, 2, 1)  # the same tokens, permuted
WIDTH, HIDDEN = 4, 8
EXACT = 1e-9  # far above rounding errors in float64


def network(generator: torch.Generator) -> FeedForward:
    """A feed-forward network of our model, in float64, with random parameters."""
    ffn = FeedForward(ModelConfig(d_model=WIDTH, d_ff=HIDDEN), Dropout(0.0, generator)).double()
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
def run_feedforward(seed: int, kernel: int) -> Outcome:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(len(WORDS), WIDTH, generator=generator, dtype=torch.float64)
    ffn = network(generator)
    convolved = convolutions(ffn, kernel, generator)
    order = list(ORDER)
    shuffled = ffn(x[order])

    own, reached = reach(ffn, x), reach(convolved, x)
    most = int((own > EXACT).sum(dim=1).max())
    numbers = {
        "positions": most, "tokens": len(WORDS), "parameters": sum(parameter.numel() for parameter in ffn.parameters()),
        "difference": (convolved(x) - ffn(x)).abs().max().item(),
    }  # fmt: skip
    caption = {
        **numbers, "kernel": kernel, "reached": int((reached > EXACT).sum(dim=1).max()), "d_model": WIDTH, "d_ff": HIDDEN,
        "shuffled": (shuffled - ffn(x)[order]).abs().max().item(),
    }  # fmt: skip
    columns = tuple(f"d{number}" for number in range(WIDTH))
    return Outcome(
        "one" if most == 1 else "all" if most == len(WORDS) else "neighbours",
        numbers,
        (
            Grid("input", x.numpy(), WORDS, columns, caption=caption),
            Grid("output", ffn(x).numpy(), WORDS, columns, caption=caption),
            Grid("convolved", convolved(x).numpy(), WORDS, columns, caption=caption),
            Grid("reach", reached.numpy(), WORDS, WORDS, caption=caption),
            Grid("shuffled", shuffled.numpy(), tuple(WORDS[token] for token in ORDER), columns, caption=caption),
        ),
    )


# --- Residual connections (section 3.1): their effect on the gradient of a deep stack, and on a layer without a contribution. ---

D, D_FF, TOKENS = 16, 64, 32
DEPTHS = (1, 2, 4, 8, 16, 24, 32)
ASKED = 24  # layers in the question
STEPS, RATE = 40, 0.5  # of gradient descent
WAYS = {"plain": False, "residual": True}


def sublayers(count: int, weights: str, generator: torch.Generator) -> list[FeedForward]:
    """Makes feed-forward networks of our model, in float64, with a common initialisation."""
    networks = [FeedForward(ModelConfig(d_model=D, d_ff=D_FF, bias=False), Dropout(0.0, generator)).double() for _ in range(count)]
    for matrix in (matrix for network in networks for matrix in (network.W_1.weight, network.W_2.weight)):
        if weights == "xavier":
            nn.init.xavier_uniform_(matrix, generator=generator)  # variance 2 / (inputs + outputs), as in our model
        elif weights == "kaiming":
            nn.init.kaiming_uniform_(matrix, nonlinearity="relu", generator=generator)  # variance 2 / inputs, made for relu
        else:
            nn.init.kaiming_uniform_(matrix, a=5**0.5, generator=generator)  # variance 1 / (3 inputs), nn.Linear's default
    return networks


def connection(connected: bool) -> Residual:
    """x + f(x), or only f(x)."""
    return Residual(ModelConfig(residual=connected), Dropout(0.0, torch.Generator()))


def layer(x: Tensor, sublayer: FeedForward, residual: Residual, norm: str) -> Tensor:
    """(L, D) -> (L, D), with layer norm after the sum as in the paper, or without."""
    y = residual(x, sublayer(x))
    return F.layer_norm(y, (D,)) if norm == "post" else y


def reaching(stack: list[FeedForward], residual: Residual, norm: str, x: Tensor, direction: Tensor) -> list[float]:
    """Measures the gradient norm at the input of a stack of the first 1, 2, 4, ... layers, for norm 1 at its output."""
    x = start = x.clone().requires_grad_()
    lengths = []
    for number, sublayer in enumerate(stack, 1):
        x = layer(x, sublayer, residual, norm)
        if number in DEPTHS:
            (gradient,) = torch.autograd.grad(x, start, direction / direction.norm(), retain_graph=True)
            lengths.append(gradient.norm().item())
    return lengths


def distance(x: Tensor, sublayer: FeedForward, residual: Residual) -> Tensor:
    """Measures the distance of a layer without norm from the identity on x (L, D): 0 if equal, 1 for zero output."""
    return (residual(x, sublayer(x)) - x).norm() / x.norm()


def practise(x: Tensor, sublayer: FeedForward, residual: Residual) -> list[float]:
    """Measures the distance from the identity before each step of gradient descent towards it, and after the last."""
    matrices, distances = list(sublayer.parameters()), []
    for _ in range(STEPS):
        error = distance(x, sublayer, residual)
        distances.append(error.item())
        for matrix, gradient in zip(matrices, torch.autograd.grad(error.square(), matrices), strict=True):
            matrix.data -= RATE * gradient
    return [*distances, distance(x, sublayer, residual).item()]


def run_residuals(seed: int, weights: str, norm: str) -> Outcome:
    generator = torch.Generator().manual_seed(seed)
    x, direction = torch.randn(2, TOKENS, D, generator=generator, dtype=torch.float64)
    stack = sublayers(DEPTHS[-1], weights, generator)
    gradients = {name: reaching(stack, connection(way), norm, x, direction) for name, way in WAYS.items()}
    plain, residual = (gradients[name][DEPTHS.index(ASKED)] for name in WAYS)

    zero = sublayers(1, weights, generator)[0]
    nn.init.zeros_(zero.W_2.weight)  # as `zero_init` does in our model
    identity = np.array([[distance(x, network, connection(way)).item() for network in (stack[0], zero)] for way in WAYS.values()])
    learning = {name: np.array(practise(x, deepcopy(stack[0]), connection(way))) for name, way in WAYS.items()}

    numbers = {"layers": ASKED, "plain": plain, "residual": residual, "factor": plain ** (1 / ASKED)}
    caption = {
        **numbers, "most": DEPTHS[-1], "plain_most": gradients["plain"][-1], "residual_most": gradients["residual"][-1],
        "steps": STEPS, "plain_last": learning["plain"][-1], "residual_last": learning["residual"][-1],
    }  # fmt: skip
    return Outcome(
        "more" if plain > 2 else "same" if plain > 0.5 else "some" if plain > 0.001 else "hardly",
        numbers,
        (
            Lines("gradient", np.array(DEPTHS), {name: np.array(norms) for name, norms in gradients.items()}, log_y=True, caption=caption),
            Grid("identity", identity, tuple(WAYS), ("random", "zero"), caption=caption),
            Lines("learning", np.arange(STEPS + 1), learning, caption=caption),
        ),
    )


LABS = (
    Lab(
        "feedforward", ("one", "neighbours", "all"), run_feedforward, (FeedForward, convolutions, kernel_of, reach),
        (Control("kernel", (1, 3), 1),), first="input", expects="one", order=120, next=("norms", "residuals"),
    ),
    Lab(
        "residuals", ("more", "same", "some", "hardly"), run_residuals, (Residual, FeedForward, layer, reaching, distance, practise),
        (Control("weights", ("xavier", "torch", "kaiming"), "xavier"), Control("norm", ("none", "post"), "none")), first="gradient",
        expects="hardly", order=150, next=("norms", "feedforward"),
    ),
)  # fmt: skip

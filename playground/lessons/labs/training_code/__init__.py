"""Slips in training code: layouts of the loss's arguments, lines that torch refuses, and a forgotten zero_grad."""

import inspect
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.lessons.lab import Control, Grid, Lab, Lines, Outcome, TextTable, number_labels
from playground.model.masks import causal_mask

# --- Layouts accepted by F.cross_entropy: classes are the second dimension; a view of the right shape gives a wrong loss. ---

B, T, V = 2, 3, 4  # sentences, tokens, vocabulary
ROUNDING = 1e-6


def flattened(logits: Tensor, tgt_out: Tensor) -> Tensor:
    """(N, C) and (N,): the tokens of all sentences flattened."""
    return F.cross_entropy(logits.flatten(0, 1), tgt_out.flatten())


def transposed(logits: Tensor, tgt_out: Tensor) -> Tensor:
    """(B, C, T) and (B, T): classes in the second dimension, as for images."""
    return F.cross_entropy(logits.transpose(1, 2), tgt_out)


def viewed(logits: Tensor, tgt_out: Tensor) -> Tensor:
    """(B, C, T) by `view`: the shape is right, but the numbers belong to other tokens."""
    return F.cross_entropy(logits.view(logits.shape[0], logits.shape[2], logits.shape[1]), tgt_out)


def untouched(logits: Tensor, tgt_out: Tensor) -> Tensor:
    """(B, T, C) as the model returns it."""
    return F.cross_entropy(logits, tgt_out)


def one_hot(logits: Tensor, tgt_out: Tensor) -> Tensor:
    """(N, C) and probabilities (N, C) instead of ids: the sum of -p ln q."""
    return F.cross_entropy(logits.flatten(0, 1), F.one_hot(tgt_out.flatten(), logits.shape[-1]).to(logits.dtype))


WAYS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "flattened": flattened, "transposed": transposed, "one_hot": one_hot, "viewed": viewed, "untouched": untouched,
}  # fmt: skip


def by_hand(logits: Tensor, tgt_out: Tensor) -> Tensor:
    """Returns the mean of -ln of each right token's probability."""
    return -logits.log_softmax(dim=-1).gather(-1, tgt_out[..., None]).mean()


def tried(way: Callable[[Tensor, Tensor], Tensor], x: Tensor, y: Tensor) -> Tensor | str:
    """Returns the result, or the first line of torch's error."""
    try:
        return way(x, y)
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        return str(error).splitlines()[0]


def run_layouts(seed: int, tokens: int) -> Outcome:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(B, tokens, V, generator=generator, dtype=torch.float64)
    tgt_out = torch.randint(V, (B, tokens), generator=generator)
    right = by_hand(logits, tgt_out).item()
    results = {name: tried(way, logits, tgt_out) for name, way in WAYS.items()}
    losses = {name: result if isinstance(result, str) else result.item() for name, result in results.items()}
    wrong = losses["viewed"]
    numbers = {"loss": right, "viewed": wrong if isinstance(wrong, float) else 0.0}
    view = logits.view(B, V, tokens)
    caption = {"size": V, "first": logits[0, 0, 1].item(), "there": view[0, 1, 0].item()}
    said_of = {name: loss if isinstance(loss, str) else f"{loss:.4f}" for name, loss in losses.items()}
    verdicts = {
        name: "refused" if isinstance(loss, str) else "right" if abs(loss - right) < ROUNDING else "wrong" for name, loss in losses.items()
    }
    n = B * tokens
    shapes = {
        "flattened": f"({n}, {V}), ({n},)", "transposed": f"({B}, {V}, {tokens}), ({B}, {tokens})", "one_hot": f"({n}, {V}), ({n}, {V})",
        "viewed": f"({B}, {V}, {tokens}), ({B}, {tokens})", "untouched": f"({B}, {tokens}, {V}), ({B}, {tokens})",
    }  # fmt: skip
    rows = tuple((name, shapes[name], said_of[name], verdicts[name]) for name in losses)
    places, classes = tuple(f"t{place}" for place in range(tokens)), tuple(f"v{number}" for number in range(V))
    return Outcome(
        "error" if isinstance(wrong, str) else verdicts["viewed"],
        numbers,
        (
            TextTable("ways", ("way", "shapes", "loss", "verdict"), rows, caption=caption),
            Grid("logits", logits[0].numpy(), places, classes, hue="decoder", caption=caption),
            Grid("transposed_logits", logits[0].T.numpy(), classes, places, hue="decoder", caption=caption),
            Grid("viewed_logits", view[0].numpy(), classes, places, hue="decoder", caption=caption),
        ),
    )


# --- Wrong lines of tutorials, of which torch refuses all but one: the messages are its own. ---

TOKENS, WIDTH, HEADS = 4, 4, 2  # x is (1, TOKENS, WIDTH), or scores of as many keys


def condition(x: Tensor, mask: Tensor) -> Tensor:
    """Asks several numbers for one truth value."""
    return x.masked_fill(mask, -1e9) if mask else x


def softmax(x: Tensor, mask: Tensor) -> Tensor:
    """Gives a module its input together with its settings."""
    return nn.Softmax(x, dim=-1)


def function(x: Tensor, mask: Tensor) -> Tensor:
    """Passes `causal_mask` itself where the mask that it returns is meant."""
    return x.masked_fill(causal_mask, -1e9)


def convolution(x: Tensor, mask: Tensor) -> Tensor:
    """Gives both convolutions of a feed-forward network d_model inputs and d_ff outputs."""
    W = x.new_ones(2 * WIDTH, WIDTH, 1)
    return F.conv1d(F.conv1d(x.mT, W), W)


def contiguous(x: Tensor, mask: Tensor) -> Tensor:
    """Joins heads (1, HEADS, TOKENS, width) by `view` after a transpose."""
    heads = x.view(1, HEADS, TOKENS, -1)
    return heads.transpose(1, 2).view(1, TOKENS, WIDTH)


def view(x: Tensor, mask: Tensor) -> Tensor:
    """Cuts heads by `view` alone."""
    return x.view(1, HEADS, TOKENS, -1)


LINES = {  # each with a line that does what was meant
    condition: "x.masked_fill(mask, -1e9) if mask is not None else x",
    softmax: "nn.Softmax(dim=-1)(x)",
    function: "x.masked_fill(~causal_mask(WIDTH), -1e9)",
    convolution: "F.conv1d(F.conv1d(x.mT, W), W.transpose(0, 1))",
    contiguous: "heads.transpose(1, 2).reshape(1, TOKENS, WIDTH)",
    view: "x.view(1, TOKENS, HEADS, -1).transpose(1, 2)",
}


def run_raises(seed: int) -> Outcome:
    x = torch.randn(1, TOKENS, WIDTH, generator=torch.Generator().manual_seed(seed))
    mask = torch.ones(TOKENS, WIDTH, dtype=torch.bool)
    results = {line: tried(line, x, mask) for line in LINES}
    accepted = [line.__name__ for line, result in results.items() if not isinstance(result, str)]
    rows = tuple(
        (
            inspect.getsource(line).splitlines()[-1].strip().removeprefix("return "),
            result if isinstance(result, str) else "accepted",
            LINES[line],
        )
        for line, result in results.items()
    )
    numbers = {"lines": len(LINES), "accepted": len(accepted)}
    grid = Grid("x", x[0].numpy(), number_labels(TOKENS), number_labels(WIDTH), caption={"tokens": TOKENS, "width": WIDTH})
    return Outcome(accepted[0], numbers, (grid, TextTable("lines", ("line", "message", "mended"), rows, numbers)))


# --- A forgotten zero_grad: backward() adds to .grad, so the optimiser steps with the sum of all gradients so far, like momentum 1. ---

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


def run_zero_grad(seed: int, rate: float) -> Outcome:
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


LABS = (
    Lab(
        "layouts", ("error", "right", "wrong"), run_layouts, (by_hand, flattened, transposed, one_hot, viewed, untouched),
        (Control("tokens", (3, V, 5), 3),), first="logits", expects="wrong", order=180, next=("loss", "raises"),
    ),
    Lab(
        "raises", tuple(line.__name__ for line in LINES), run_raises, tuple(LINES), first="x", expects="view", order=185,
        next=("layouts", "bug_view"), is_drawn=False,
    ),
    Lab(
        "zero_grad", ("last", "sum", "mean"), run_zero_grad, (train,), (Control("rate", (0.05, 0.1, 0.2), 0.1),), first="losses",
        expects="sum", order=165, next=("residuals", "warmup"),
    ),
)  # fmt: skip

"""Position numbers (section 3.5): integers, fractions of the length, one-hot vectors or sinusoids, and the addition theorem."""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from playground.lessons.lab import Control, Grid, Lab, Lines, Outcome, TextTable, number_labels
from playground.model.positions import sinusoids

WIDTH, NARROW = 16, 8  # columns of the sinusoids, and too few
SHORT, LONG = 5, 9  # tokens of two sentences
FAR = 64  # tokens: longer than there are columns
PLACE, STEP = 3, 2
ROUNDING = 1e-5


def integers(length: int) -> Tensor:
    """Returns the position itself, 0, 1, 2, …: (L, 1)."""
    return torch.arange(length, dtype=torch.float32)[:, None]


def shares(length: int) -> Tensor:
    """Returns the position as a fraction of the sentence, from 0 to 1: (L, 1)."""
    return integers(length) / (length - 1)


def one_hot(length: int) -> Tensor:
    """Returns a column per position: (L, L). A matrix times it is a learned position table."""
    return F.one_hot(torch.arange(length)).float()


def concatenate(x: Tensor, p: Tensor, W_I: Tensor, W_P: Tensor) -> Tensor:
    """Concatenates position and token before one product: [x; p] [W_I; W_P], x (L, D), p (L, columns) -> (L, D)."""
    return torch.cat((x, p), dim=1) @ torch.cat((W_I, W_P))


def added(x: Tensor, p: Tensor, W_I: Tensor, W_P: Tensor) -> Tensor:
    """Returns the same as a sum, like positional encoding: x W_I + p W_P."""
    return x @ W_I + p @ W_P


def waves(length: int) -> Tensor:
    """The paper's sinusoids: (L, D)."""
    return sinusoids(length, WIDTH)


Numbering = Callable[[int], Tensor]  # the length of a sentence -> (L, columns)
NUMBERINGS: dict[str, Numbering] = {"integers": integers, "shares": shares, "one_hot": one_hot, "sinusoids": waves}


def bounded(numbering: Numbering) -> bool:
    """Whether no number exceeds 1 at any length."""
    return numbering(FAR).abs().max().item() <= 1


def same_place_same_code(numbering: Numbering) -> bool:
    """Whether a position has the same code in short and long sentences."""
    short, long = numbering(SHORT)[PLACE], numbering(LONG)[PLACE]
    width = min(len(short), len(long))  # a one-hot vector of a longer sentence has more zeros
    return torch.allclose(short[:width], long[:width]) and not long[width:].any()


def any_length(numbering: Numbering) -> bool:
    """Whether the number of columns is independent of the length."""
    return numbering(SHORT).shape[1] == numbering(FAR).shape[1]


def next_is_nearest(numbering: Numbering) -> bool:
    """Whether the next position is always the nearest of the later ones, throughout a long sentence."""
    table = numbering(FAR)
    apart = torch.cdist(table, table)
    return all((apart[place, place + 1] < apart[place, place + 2 :] - ROUNDING).all() for place in range(FAR - 1))


WISHES = (bounded, same_place_same_code, any_length, next_is_nearest)


def addition_theorem(position: int, k: int, d_model: int) -> Tensor:
    """sin and cos of (pos + k) times each frequency, from those of pos and of k alone: (D / 2, 2)."""
    alpha, beta = (n / 10000 ** (torch.arange(0, d_model, 2) / d_model) for n in (position, k))
    sin = alpha.sin() * beta.cos() + alpha.cos() * beta.sin()
    cos = alpha.cos() * beta.cos() - alpha.sin() * beta.sin()
    return torch.stack((sin, cos), dim=-1)


def narrow() -> dict[str, float]:
    """Returns the position nearer to the first than the second one, with too few columns, and both distances."""
    distances = (sinusoids(LONG, NARROW) - sinusoids(1, NARROW)).norm(dim=1)
    place = 2 + distances[2:].argmin().item()
    return {"narrow": NARROW, "nearer": place, "narrow_nearer": distances[place].item(), "narrow_next": distances[1].item()}


def joined(seed: int, length: int) -> dict[str, float]:
    """Measures the largest differences between concatenated and added positions, and between p W_P and the rows of W_P."""
    dice, p = torch.Generator().manual_seed(seed), one_hot(length)
    x, W_I, W_P = (torch.randn(rows, WIDTH, generator=dice) for rows in (length, WIDTH, length))
    return {
        "apart": (concatenate(x, p, W_I, W_P) - added(x, p, W_I, W_P)).abs().max().item(),
        "apart_rows": (p @ W_P - W_P[torch.arange(length)]).abs().max().item(),
    }


def run(seed: int, length: int) -> Outcome:
    met = {name: [wish(numbering) for wish in WISHES] for name, numbering in NUMBERINGS.items()}
    best = [name for name, fulfilled in met.items() if all(fulfilled)]
    by_theorem = addition_theorem(PLACE, STEP, WIDTH).flatten()
    in_table = sinusoids(PLACE + STEP + 1, WIDTH)[-1]
    alpha, beta = float(PLACE), float(STEP)
    numbers = {
        "wishes": len(WISHES), "most": integers(FAR).max().item(), "far": FAR, "columns": one_hot(FAR).shape[1],
        "short": SHORT, "long": LONG, "place": PLACE,
        "share_short": shares(SHORT)[PLACE].item(), "share_long": shares(LONG)[PLACE].item(),
    }  # fmt: skip
    caption = {
        **numbers, "k": STEP, "sum": PLACE + STEP,
        "sin_a": math.sin(alpha), "cos_a": math.cos(alpha), "sin_b": math.sin(beta), "cos_b": math.cos(beta), "sin": by_theorem[0].item(),
        "difference": (by_theorem - in_table).abs().max().item(), **joined(seed, length), **narrow(),
        "next": (sinusoids(2, WIDTH)[1] - sinusoids(1, WIDTH)[0]).norm().item(),
    }  # fmt: skip
    tables = {name: numbering(length) for name, numbering in NUMBERINGS.items()}
    distances = {name: (table - table[0]).norm(dim=1).numpy() for name, table in tables.items()}
    rows = tuple((name, *("yes" if yes else "no" for yes in fulfilled)) for name, fulfilled in met.items())
    labels, pairs = number_labels(length), tuple(f"{wave} {i}" for i in range(WIDTH // 2) for wave in ("sin", "cos"))
    return Outcome(
        best[0] if len(best) == 1 else "none",
        numbers,
        (
            *(Grid(name, table.numpy(), labels, number_labels(table.shape[1]), caption=caption) for name, table in tables.items()),
            TextTable("wishes", ("numbering", *(wish.__name__ for wish in WISHES)), rows, caption=caption),
            Lines("distances", np.arange(length), distances, caption=caption),
            Grid("theorem", torch.stack((by_theorem, in_table)).numpy(), ("theorem", "table"), pairs, digits=3, caption=caption),
        ),
    )


LAB = Lab(
    "numbering", (*NUMBERINGS, "none"), run, (integers, shares, one_hot, concatenate, added, sinusoids, *WISHES, addition_theorem),
    (Control("length", (SHORT, LONG, 16), LONG),), first="distances", expects="sinusoids", order=60, next=("positions", "encodings"),
)  # fmt: skip

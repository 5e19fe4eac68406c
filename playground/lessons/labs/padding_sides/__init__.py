"""Right and left padding, and padding_idx: which tokens are computed as if they were alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from playground.config import PAD, SPECIAL_TOKENS
from playground.lessons.lab import Control, Grid, Lab, Outcome, number_labels
from playground.model.attention import scaled_dot_product_attention
from playground.model.masks import padding_mask
from playground.model.parts import Embedding
from playground.model.positions import sinusoids

WIDTH, SIZE = 8, 8  # d_model, and tokens in the vocabulary
SENTENCE = (4, 5, 6)
NAMES = ("a", "b", "c")
ROUNDING = 1e-5
STEPS = 3  # of gradient descent


def padded(sentence: tuple[int, ...], pads: int, side: str) -> Tensor:
    """Returns one row with this number of PAD: (1, L)."""
    row, padding = list(sentence), [PAD] * pads
    return torch.tensor([row + padding if side == "right" else padding + row])


def counted_from_the_first(tokens: Tensor) -> Tensor:
    """Counts positions from the first token other than PAD: (1, L) -> (1, L). PAD before it has 0."""
    return ((tokens != PAD).cumsum(dim=1) - 1).clamp(min=0)


def counted_from_the_edge(tokens: Tensor) -> Tensor:
    """Counts positions from the left edge of the batch: (1, L) -> (1, L)."""
    return torch.arange(tokens.shape[1])[None]


def attended(embedding: Tensor, tokens: Tensor, places: Tensor, masked: bool = True) -> Tensor:
    """Returns self-attention's outputs for embeddings (V, D) plus sinusoids: (1, L) -> (1, L, D)."""
    x = embedding[tokens] + sinusoids(SIZE * 2, WIDTH)[places]
    return scaled_dot_product_attention(x, x, x, padding_mask(tokens)[:, 0] if masked else None)[0]


def of_the_tokens(embedding: Tensor, pads: int, side: str, count: Callable[[Tensor], Tensor], masked: bool = True) -> Tensor:
    """Returns the outputs of the sentence without its padding: (tokens, D)."""
    tokens = padded(SENTENCE, pads, side)
    return attended(embedding, tokens, count(tokens), masked)[tokens != PAD]


def gradient_of_padding(rows: Tensor, masked: bool, padding_idx: int | None) -> float:
    """Returns the largest gradient in PAD's embedding row for a loss at tokens only."""
    table = nn.Embedding(SIZE, WIDTH, padding_idx=padding_idx, _weight=rows.clone())
    loss_at_tokens(table, masked).backward()
    return table.weight.grad[PAD].abs().max().item()


def loss_at_tokens(table: nn.Embedding, masked: bool) -> Tensor:
    """Returns a loss of attention's outputs at the tokens of a padded sentence."""
    tokens = padded(SENTENCE, 2, "right")
    x = table(tokens)
    out = scaled_dot_product_attention(x, x, x, padding_mask(tokens)[:, 0] if masked else None)[0]
    return out[tokens != PAD].square().sum()


def norms_with_padding_idx(rows: Tensor) -> dict[str, float]:
    """Measures the norms of PAD's row and a token's in a table with padding_idx, before and after a few steps without a mask."""
    table = Embedding(SIZE, WIDTH, padding_idx=PAD)
    with torch.no_grad():
        table.weight.copy_(rows)
        table._fill_padding_idx_with_zero()  # nn.Embedding does so after drawing its numbers
    outputs = {"pad_before": table.weight[PAD].norm().item(), "token_before": table.weight[SENTENCE[0]].norm().item()}
    optimiser = torch.optim.SGD(table.parameters(), lr=0.1)
    for _ in range(STEPS):
        optimiser.zero_grad()
        loss_at_tokens(table, masked=False).backward()
        optimiser.step()
    return outputs | {"pad_after": table.weight[PAD].norm().item(), "token_after": table.weight[SENTENCE[0]].norm().item()}


def run(seed: int, pads: int) -> Outcome:
    rows = torch.randn(SIZE, WIDTH, generator=torch.Generator().manual_seed(seed))
    alone = of_the_tokens(rows, 0, "right", counted_from_the_edge)
    get = partial(of_the_tokens, rows, pads)
    ways = {
        "right": get("right", counted_from_the_edge),
        "left_edge": get("left", counted_from_the_edge),
        "left_first": get("left", counted_from_the_first),
        "unmasked": get("right", counted_from_the_edge, masked=False),
    }
    apart = {name: (outputs - alone).abs().amax(dim=-1) for name, outputs in ways.items()}
    numbers = {name: outputs.max().item() for name, outputs in apart.items()}
    right = [name for name in ("right", "left_edge") if numbers[name] < ROUNDING]
    gradients = {(masked, index): gradient_of_padding(rows, masked, index) for index in (None, PAD) for masked in (True, False)}
    caption = {**numbers, "pads": pads, "pad": SPECIAL_TOKENS[PAD], "leaked": gradients[False, None], "kept": gradients[True, None]}
    caption |= {"steps": STEPS, "token": NAMES[0], **norms_with_padding_idx(rows)}
    table = np.array([[gradients[masked, index] for masked in (True, False)] for index in (None, PAD)])
    places = np.concatenate([count(padded(SENTENCE, pads, side)) for side, count in COUNTED.values()])
    return Outcome(
        "both" if len(right) == 2 else right[0] if right else "neither",
        numbers,
        (
            Grid("places", places, tuple(COUNTED), number_labels(places.shape[1]), "plain", mask=_real(pads), caption=caption),
            Grid("apart", np.stack([outputs.numpy() for outputs in apart.values()]), tuple(apart), NAMES, caption=caption),
            Grid("gradients", table, ("no_padding_idx", "padding_idx"), ("masked", "not_masked"), caption=caption),
        ),
    )


COUNTED = {
    "right": ("right", counted_from_the_edge),
    "left_edge": ("left", counted_from_the_edge),
    "left_first": ("left", counted_from_the_first),
}


def _real(pads: int) -> np.ndarray:
    """Returns True for the tokens in each row of COUNTED."""
    return np.concatenate([(padded(SENTENCE, pads, side) != PAD).numpy() for side, _ in COUNTED.values()])


LAB = Lab(
    "padding_sides",
    ("both", "right", "left_edge", "neither"),
    run,
    (padded, counted_from_the_edge, counted_from_the_first, attended, gradient_of_padding, norms_with_padding_idx),
    (Control("pads", (1, 2, 4), 2),),
    expects="right",
    order=30,
    next=("masks", "bug_source"),
)

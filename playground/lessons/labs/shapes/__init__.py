"""Shapes of attention (section 3.2.2): (B, L, D) to (B, H, L, K) and back, and the effect of each step on the numbers."""

import numpy as np
import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.inspection.vectors import frequencies
from playground.lessons.lab import Control, Grid, Lab, Outcome, TextTable, number_labels
from playground.model.attention import MultiHeadAttention, scaled_dot_product_attention
from playground.model.masks import causal_mask
from playground.model.parts import Dropout

LENGTH, WIDTH = 8, 8
PLACES = 6  # positions multiplied with frequencies: other than the number of frequencies
SHAPES = (((5, 1), (3,)), ((1, 2, 3), (3, 2, 1)), ((2, 3), (3,)), ((2, 3), (2,)), ((2, 3), (2, 1)))  # candidates for broadcasting
POSITION = 100  # the number in a cell is position * 100 + dimension


def numbered() -> Tensor:
    """Makes a batch of one sentence (1, L, D) whose cells encode their origin."""
    return (torch.arange(LENGTH)[:, None] * POSITION + torch.arange(WIDTH))[None]


def viewed(x: Tensor, heads: int) -> Tensor:
    """(B, L, D) -> (B, H, L, K) in one step: the shape is right."""
    return x.view(x.shape[0], heads, x.shape[1], x.shape[2] // heads)


def refusal(x: Tensor, shape: tuple[int, ...]) -> str:
    """Returns torch's error for a view of x in this shape; "" if it succeeds."""
    try:
        x.view(shape)
    except RuntimeError as error:
        return str(error).partition(" (")[0]
    return ""


def by_loop(q: Tensor, k: Tensor) -> Tensor:
    """Returns the scores of each head of each sentence in a loop: (B, H, Q, K) and (B, H, L, K) -> (B, H, Q, L)."""
    return torch.stack([torch.stack([q[b, h] @ k[b, h].T for h in range(q.shape[1])]) for b in range(q.shape[0])])


def chunked(x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> tuple[Tensor, ...]:
    """Returns queries, keys and values (B, L, D) from one product with a matrix (D, 3 D), split in three."""
    return (x @ torch.cat((W_q, W_k, W_v), dim=1)).chunk(3, dim=-1)


def angles(length: int, d_model: int) -> Tensor:
    """Position times frequency: (L, 1) * (D / 2,) -> (L, D / 2). The missing and the single axis are repeated."""
    return torch.arange(length)[:, None] * torch.from_numpy(frequencies(d_model))


def together(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...] | None:
    """Returns the broadcast shape of two shapes; None if they don't fit."""
    try:
        return tuple(torch.broadcast_shapes(left, right))
    except RuntimeError:
        return None


def mask_apart(q: Tensor, k: Tensor, v: Tensor) -> float:
    """Measures the largest difference between attention with a broadcast mask (1, 1, L, L) and with one repeated per head."""
    mask = causal_mask(q.shape[-2])
    repeated = mask.repeat(1, q.shape[1], 1, 1)  # (1, H, L, L)
    both = zip(*(scaled_dot_product_attention(q, k, v, either_mask) for either_mask in (mask, repeated)), strict=True)
    return max((either_mask - repeated_result).abs().max().item() for either_mask, repeated_result in both)


def run(seed: int, heads: int) -> Outcome:
    attention = MultiHeadAttention(ModelConfig(d_model=WIDTH, n_heads=heads), Dropout(0.0, torch.Generator()))
    x = numbered()
    right, wrong = attention.split(x), viewed(x, heads)
    drawn = torch.randn(4, WIDTH, WIDTH, generator=torch.Generator().manual_seed(seed))
    states, matrices = drawn[:1, :LENGTH], drawn[1:] / WIDTH**0.5
    single, three = chunked(states, *matrices), [states @ matrix for matrix in matrices]
    q, k, v = (attention.split(projected) for projected in single)
    result = scaled_dot_product_attention(q, k, v)[0]
    numbers = {
        "heads": heads, "length": LENGTH, "width": WIDTH // heads, "positions": (wrong[0, 0] // POSITION).unique().numel(),
        "moved": int((right != wrong).sum()), "cells": x.numel(), "back": int((attention.concat(right) != x).sum()),
        "loop": (q @ k.transpose(-2, -1) - by_loop(q, k)).abs().max().item(),
        "mask": mask_apart(q, k, v),
        "chunk": max((a - b).abs().max().item() for a, b in zip(single, three, strict=True)),
    }  # fmt: skip
    same, sets = torch.equal(right, wrong), torch.equal(right.flatten(2).sort().values, wrong.flatten(2).sort().values)
    return Outcome(
        "same" if same else "order" if sets else "mixed",
        numbers,
        (*_heads(x, right, wrong, numbers), _strides(x, right, result), *_products(q, k, single, numbers), *_broadcast(heads, numbers)),
    )


def _heads(x: Tensor, right: Tensor, wrong: Tensor, numbers: dict[str, float]) -> tuple[Grid, ...]:
    """Shows all numbers, and those of head 0 in either way."""
    places, dimensions = number_labels(LENGTH), number_labels(WIDTH)
    caption = {**numbers, "place": 3, "dimension": 5, "cell": x[0, 3, 5].item(), "all": WIDTH}
    for name, head in (("right", right[0, 0]), ("wrong", wrong[0, 0])):
        caption |= {f"{name}_positions": _listed(head // POSITION), f"{name}_dimensions": _listed(head % POSITION)}
    caption["missing"] = ", ".join(place for place in places if place not in caption["wrong_positions"])
    columns = number_labels(right.shape[-1])
    return (
        Grid("cells", x[0].numpy(), places, dimensions, "plain", caption=caption),
        Grid("right", right[0, 0].numpy(), places, columns, "plain", caption=caption),
        Grid("wrong", wrong[0, 0].numpy(), places, columns, "plain", caption=caption),
    )


def _strides(x: Tensor, right: Tensor, result: Tensor) -> Grid:
    """Shows the strides in memory along each axis, from the split to the way back."""
    back = result.transpose(1, 2)
    steps = {"cut": right.transpose(1, 2), "split": right, "attended": result, "returned": back}
    strides = np.array([step.stride() for step in steps.values()])
    caption = {
        "refusal": refusal(back, x.shape), "head": back.stride(2), "last": back.stride(3), "width": back.shape[3],
        "needed": back.shape[3] * back.stride(3), "copied": int(back.reshape(x.shape).data_ptr() != back.data_ptr()),
    }  # fmt: skip
    return Grid("strides", strides, tuple(steps), number_labels(4), "plain", caption=caption)


def _products(q: Tensor, k: Tensor, single: tuple[Tensor, ...], numbers: dict[str, float]) -> tuple[Grid, ...]:
    """Shows the scores of head 0, and queries, keys and values of position 0."""
    places, first = number_labels(LENGTH), torch.stack([projected[0, 0] for projected in single])
    return (
        Grid("loop", by_loop(q, k)[0, 0].numpy(), places, places, caption=numbers),
        Grid("chunks", first.numpy(), ("Q", "K", "V"), number_labels(WIDTH), caption={**numbers, "all": WIDTH, "three": 3 * WIDTH}),
    )


def _broadcast(heads: int, numbers: dict[str, float]) -> tuple[Grid, TextTable]:
    """Shows the angles, and the broadcasting rule, with the shapes of a mask and all heads' scores."""
    product, term = angles(PLACES, WIDTH), frequencies(WIDTH)
    caption = {
        "left": f"({PLACES}, 1)", "right": f"({len(term)},)", "shape": str(tuple(product.shape)), "place": PLACES - 1,
        "term": term[1].item(), "angle": product[-1, 1].item(),
    }  # fmt: skip
    mask, scores = (1, 1, LENGTH, LENGTH), (1, heads, LENGTH, LENGTH)
    rows = tuple((str(left), str(right), str(together(left, right) or "refused")) for left, right in (*SHAPES, (mask, scores)))
    return (
        Grid("broadcast", product.numpy(), number_labels(PLACES), tuple(map("{:.3g}".format, term.tolist())), digits=3, caption=caption),
        TextTable("fits", ("left_shape", "right_shape", "both"), rows, {**numbers, "mask_shape": str(mask), "scores_shape": str(scores)}),
    )


def _listed(tensor: Tensor) -> str:
    """Formats the distinct numbers of a tensor."""
    return ", ".join(map(str, tensor.unique().tolist()))


LAB = Lab(
    "shapes", ("same", "order", "mixed"), run,
    (viewed, MultiHeadAttention.split, MultiHeadAttention.concat, refusal, by_loop, chunked, angles, together, mask_apart),
    (Control("heads", (2, 4), 2),), first="cells", expects="mixed", order=80, next=("products", "feedforward"),
)  # fmt: skip

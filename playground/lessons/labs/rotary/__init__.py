"""Rotary positions (Su et al. 2021): with rotated queries and keys, their product depends on their distance, not their positions."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from playground.lessons.lab import Control, Grid, Lab, Lines, Outcome, number_labels
from playground.model.positions import RotaryPositions, position_ids, sinusoids

WIDTH = 8
SHOWN = 6  # positions in the table of products
REACH = 32  # plotted distances, each from as many positions
ROUNDING = 1e-4
FURTHER = 10  # shift of both positions


def rotary_products(q: Tensor, k: Tensor, length: int) -> Tensor:
    """Returns q . k for a query and a key (K,) rotated to all pairs of positions: (L, L), rows are queries."""
    turn, places = RotaryPositions(len(q)), position_ids(length)
    queries, keys = (turn(x.expand(1, 1, length, -1), places)[0, 0] for x in (q, k))
    return queries @ keys.T


def added_products(q: Tensor, k: Tensor, length: int) -> Tensor:
    """Returns the products with sinusoids added to q and k instead: (L, L)."""
    table = sinusoids(length, len(q))
    return (q + table) @ (k + table).T


def spread(products: Tensor, distance: int) -> float:
    """Measures the variation of products over all pairs of positions at this distance."""
    diagonal = products.diagonal(distance)
    return (diagonal.max() - diagonal.min()).item()


def run(seed: int, distance: int) -> Outcome:
    q, k = torch.randn(2, WIDTH, generator=torch.Generator().manual_seed(seed))
    turned, added = rotary_products(q, k, 2 * REACH), added_products(q, k, 2 * REACH)
    here = turned[0, distance].item()
    numbers = {
        "distance": distance, "product": here, "further": FURTHER, "moved": turned[FURTHER, FURTHER + distance].item(),
        "spread": spread(turned, distance), "spread_added": spread(added, distance), "places": 2 * REACH,
    }  # fmt: skip
    caption = {
        **numbers, "unturned": (q @ k).item(), "corner": added[0, distance].item(), "corner_moved": added[1, 1 + distance].item(),
    }  # fmt: skip
    distances = np.arange(REACH)
    spreads = {name: np.array([spread(products, d) for d in distances]) for name, products in {"rotary": turned, "added": added}.items()}
    return Outcome(
        "same" if numbers["spread"] < ROUNDING else "changes",
        numbers,
        (
            Grid("products", turned[:SHOWN, :SHOWN].numpy(), number_labels(SHOWN), number_labels(SHOWN), caption=caption),
            Grid("added", added[:SHOWN, :SHOWN].numpy(), number_labels(SHOWN), number_labels(SHOWN), caption=caption),
            Lines("by_distance", distances, {"rotary": turned[0, :REACH].numpy()}, caption=caption),
            Lines("spreads", distances, spreads, caption=caption),
        ),
    )


LAB = Lab(
    "rotary",
    ("same", "smaller", "changes"),
    run,
    (RotaryPositions.forward, rotary_products, added_products, spread),
    (Control("distance", (1, 3, 8), 3),),
    expects="same",
    order=70,
    next=("encodings", "positions"),
)

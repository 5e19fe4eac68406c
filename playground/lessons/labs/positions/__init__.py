"""Positional encodings by hand: sinusoids and what a shift does to them, and rotary positions."""

import math

import numpy as np
import torch
from torch import Tensor, nn

from playground.config import MAX_POSITIONS, SPECIAL_TOKENS
from playground.inspection.vectors import rotation, shift_errors
from playground.lessons.lab import Control, Grid, Lab, Lines, Outcome, TextTable, number_labels
from playground.model.attention import scaled_dot_product_attention
from playground.model.positions import LearnedPositions, RotaryPositions, SinusoidalPositions, position_ids, sinusoids

# --- Positional encoding by hand (section 3.5): four positions, eight dimensions, column by column, and the effect of a shift by k. ---

WIDTH = 8
SHOWN = 4  # positions in the tables
TRIED = 64  # positions for which one matrix must work
TRAINED = 8  # positions used to train the learned table
BEYOND = 16  # positions requested from it
STEPS = (1, 2, 5)
EXACT, NEAR = 1e-5, 0.1  # rounding errors are below the first; the second is small relative to sines and cosines


def div_term(d_model: int) -> Tensor:
    """One frequency for each pair of columns, (D / 2,): exp(-ln(10000) 2i / D), as most programs write 1 / 10000^(2i / D)."""
    return torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000) / d_model))


def as_power(d_model: int) -> Tensor:
    """Returns the paper's form: 10000^(-2i / D), (D / 2,)."""
    return 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)


def by_columns(length: int, d_model: int) -> Tensor:
    """The table (L, D): even columns are sines, odd columns cosines, of position times frequency."""
    angles = torch.arange(length)[:, None] * div_term(d_model)  # (L, 1) * (D / 2,) -> (L, D / 2)
    table = torch.zeros(length, d_model)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()
    return table


def missed(table: Tensor, k: int) -> float:
    """Measures the largest error of the best single matrix M for all positions: M PE(pos) against PE(pos + k). table (L, D)."""
    here, there = table[:-k].double(), table[k:].double()
    return (here @ torch.linalg.lstsq(here, there, driver="gelsd").solution - there).abs().max().item()


def drawn(seed: int) -> LearnedPositions:
    """The model's learned positions before the first step, drawn as `initialise` draws them."""
    positions = LearnedPositions(WIDTH)
    torch.nn.init.normal_(positions.table, 0, 0.5**0.5, generator=torch.Generator().manual_seed(seed))
    return positions


def learned(seed: int, trained: int) -> Tensor:
    """Returns a learned table (MAX_POSITIONS, D), trained with sentences of `trained` tokens to equal the sinusoids.

    The loss is half the squared distance; with rate 1 a single step of gradient descent suffices.
    """
    positions = drawn(seed)
    loss = (positions(torch.zeros(1, trained, WIDTH), position_ids(trained)) - sinusoids(trained, WIDTH)).square().sum() / 2
    (gradient,) = torch.autograd.grad(loss, positions.table)
    return (positions.table - gradient).detach()


def looked_up(table: Tensor) -> dict[str, float]:
    """Looks up position ids in a frozen nn.Embedding of the table (L, D): returns the largest error and the number of trainable numbers."""
    frozen = nn.Embedding.from_pretrained(table, freeze=True)
    rows = frozen(position_ids(len(table)))
    return {
        "error_lookup": (rows - table).abs().max().item(),
        "trained_numbers": sum(parameter.numel() for parameter in frozen.parameters() if parameter.requires_grad),
    }


class PlainBuffer(nn.Module):
    """The same table in a plain register_buffer."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.register_buffer("table", sinusoids(MAX_POSITIONS, d_model))


def held(module: nn.Module) -> tuple[int, int, int]:
    """Returns (numbers in the table, trainable numbers, saved numbers)."""
    parameters, saved = module.parameters(), module.state_dict().values()
    return module.table.numel(), sum(map(torch.numel, parameters)), sum(map(torch.numel, saved))


def padding_matters(table: Tensor, without: Tensor, seed: int) -> float:
    """Measures the difference in attention outputs of the tokens between tables (L, D) that differ only at PAD's position."""
    x = torch.randn(len(table), WIDTH, generator=torch.Generator().manual_seed(seed))
    mask = torch.arange(len(table)) < len(table) - 1
    with_position, without_position = (scaled_dot_product_attention(x + t, x + t, x + t, mask)[0][:-1] for t in (table, without))
    return (with_position - without_position).abs().max().item()


def run_positions(seed: int, k: int) -> Outcome:
    table = sinusoids(TRIED + k, WIDTH)
    error, error_learned = missed(table, k), missed(drawn(seed).table.detach()[: TRIED + k], k)
    numbers = {
        "k": k, "positions": TRIED, "error": error, "error_learned": error_learned,
        "error_rotation": float(shift_errors(table.numpy(), k).max()),
        "error_power": (div_term(WIDTH) - as_power(WIDTH)).abs().max().item(),
        "error_table": (by_columns(SHOWN, WIDTH) - table[:SHOWN]).abs().max().item(),
        **looked_up(by_columns(SHOWN, WIDTH)),
    }  # fmt: skip
    return Outcome(
        "one" if error < EXACT else "nearly" if error < NEAR else "each",
        numbers,
        (*_columns(numbers), _held(), _padding(seed), *_shift(table, k, numbers), _beyond(seed, k)),
    )


def _columns(numbers: dict[str, float]) -> tuple[Grid, ...]:
    """Shows the steps from frequencies to angles to the table."""
    terms, rows, pairs = div_term(WIDTH), number_labels(SHOWN), tuple(f"i = {i}" for i in range(WIDTH // 2))
    angles, last = torch.arange(SHOWN)[:, None] * terms, SHOWN - 1
    table = by_columns(SHOWN, WIDTH)
    caption = {
        "fastest": terms[0].item(), "slowest": terms[-1].item(), "last": last, "term": terms[1].item(), "angle": angles[last, 1].item(),
        "sine": table[last, 2].item(), "cosine": table[last, 3].item(), **numbers,
    }  # fmt: skip
    return (
        Grid("terms", torch.stack((terms, as_power(WIDTH))).numpy(), ("exp", "power"), pairs, caption=caption, digits=3),
        Grid("angles", angles.numpy(), rows, pairs, caption=caption, digits=3),
        Grid("table", table.numpy(), rows, number_labels(WIDTH), caption=caption, digits=3),
    )


def _held() -> TextTable:
    """Compares the table's treatment in each kind of module."""
    modules = {"sinusoids": SinusoidalPositions(WIDTH), "plain_buffer": PlainBuffer(WIDTH), "learned": LearnedPositions(WIDTH)}
    rows = tuple((name, *(f"{count:,}" for count in held(module))) for name, module in modules.items())
    return TextTable("held", ("table", "numbers", "parameters", "saved"), rows, {"rows": MAX_POSITIONS, "width": WIDTH})


def _padding(seed: int) -> Grid:
    """Shows the table of a sentence with a final PAD, with zeros there."""
    table = sinusoids(SHOWN, WIDTH)
    zeros = table.clone()
    zeros[-1] = 0
    caption = {"difference": padding_matters(table, zeros, seed), "tokens": SHOWN - 1}
    return Grid("padding", zeros.numpy(), (*number_labels(SHOWN - 1), SPECIAL_TOKENS[0]), number_labels(WIDTH), caption=caption, digits=3)


def _shift(table: Tensor, k: int, numbers: dict[str, float]) -> tuple[Grid, ...]:
    """Shows M_k, and its product with position 1."""
    matrix = rotation(WIDTH, k)
    turned = np.stack((table[1].numpy(), matrix @ table[1].numpy(), table[1 + k].numpy()))
    caption = {"there": 1 + k, "cos": matrix[0, 0], "sin": matrix[0, 1], "apart": np.abs(turned[1] - turned[2]).max(), **numbers}
    return (
        Grid("rotation", matrix, number_labels(WIDTH), number_labels(WIDTH), caption=caption, digits=3),
        Grid("turned", turned, ("PE(1)", "M · PE(1)", f"PE({1 + k})"), number_labels(WIDTH), caption=caption, digits=3),
    )


def _beyond(seed: int, k: int) -> Lines:
    """Plots the error of M_k at each position, for both tables."""
    tables = {"sinusoids": sinusoids(BEYOND + k, WIDTH), "learned": learned(seed, TRAINED)[: BEYOND + k]}
    errors = {name: shift_errors(table.numpy(), k) for name, table in tables.items()}
    known = TRAINED - k
    caption = {
        "k": k, "trained": TRAINED, "within": float(errors["learned"][:known].max()), "after": float(errors["learned"][known:].mean()),
        "sinusoids": float(errors["sinusoids"].max()), "most": MAX_POSITIONS, "seen": known - 1,
    }  # fmt: skip
    return Lines("beyond", np.arange(BEYOND), errors, caption=caption)


# --- Rotary positions (Su et al. 2021): with rotated queries and keys, their product depends on their distance, not their positions. ---

PRODUCTS = 6  # positions in the table of products
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


def run_rotary(seed: int, distance: int) -> Outcome:
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
            Grid("products", turned[:PRODUCTS, :PRODUCTS].numpy(), number_labels(PRODUCTS), number_labels(PRODUCTS), caption=caption),
            Grid("added", added[:PRODUCTS, :PRODUCTS].numpy(), number_labels(PRODUCTS), number_labels(PRODUCTS), caption=caption),
            Lines("by_distance", distances, {"rotary": turned[0, :REACH].numpy()}, caption=caption),
            Lines("spreads", distances, spreads, caption=caption),
        ),
    )


LABS = (
    Lab(
        "positions", ("one", "nearly", "each"), run_positions,
        (div_term, as_power, by_columns, sinusoids, rotation, missed, looked_up, SinusoidalPositions, held, padding_matters, learned),
        (Control("k", STEPS, 1),), first="table", expects="one", order=50, next=("shapes", "vocabulary"),
    ),
    Lab(
        "rotary", ("same", "smaller", "changes"), run_rotary, (RotaryPositions.forward, rotary_products, added_products, spread),
        (Control("distance", (1, 3, 8), 3),), first="spreads", expects="same", order=70, next=("encodings", "positions"),
    ),
)  # fmt: skip

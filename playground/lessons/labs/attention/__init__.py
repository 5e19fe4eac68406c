"""Attention by hand: softmax and its scale, queries times keys, and permuted tokens."""

import math

import numpy as np
import torch
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.lessons.lab import Control, Grid, Lab, Lines, Outcome
from playground.model.attention import MultiHeadAttention, scaled_dot_product_attention
from playground.model.masks import causal_mask
from playground.model.parts import Dropout
from playground.model.positions import sinusoids

# --- Softmax and its scale (section 3.2.1): why scores are divided by sqrt(d_k). ---

SCORED = ("the", "cat", "sat", "down")
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


def run_softmax(seed: int, factor: float) -> Outcome:
    draws = torch.randn(DRAWN, len(SCORED), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    example = typical(draws)
    scores = example * factor
    rows = torch.stack([softmax(example * other) for other in FACTORS])
    slopes = jacobian(softmax(scores))
    by_torch = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=-1), scores)
    at_factors = torch.stack([steepest(draws * other) for other in FACTORS])  # (3, N)
    (small, slope, large), (_, median, median_large) = at_factors.mean(dim=1).tolist(), at_factors.median(dim=1).values.tolist()
    factors = torch.logspace(-1, 1.5, 26, dtype=torch.float64)
    steep = torch.stack([steepest(draws * other) for other in factors])  # (26, N)
    falls = {"slope": steep.mean(dim=1).numpy(), "median": steep.median(dim=1).values.numpy()}
    raw, scaled = (torch.tensor(variance_pairs) for variance_pairs in zip(*(variances(width, seed) for width in WIDTHS), strict=True))
    numbers = {
        "slope_small": small, "slope": slope, "slope_large": large, "median": median, "median_large": median_large,
        "difference": (slopes - by_torch).abs().max().item(),
        "width": WIDTHS[-1], "variance": raw[-1].item(), "variance_scaled": scaled[-1].item(),
    }  # fmt: skip
    caption = {"factor": factor, "least": rows[0].max().item(), "most": rows[-1].max().item(), "largest": slopes.max().item(), **numbers}
    return Outcome(
        "vanishes" if median_large < median / 10 else "grows" if median_large > 2 * median else "stays",
        numbers,
        (
            Grid("scores", scores[None].numpy(), ("score",), SCORED, caption=caption),
            Grid("probabilities", rows.numpy(), tuple(f"×{other:g}" for other in FACTORS), SCORED, "probability", caption=caption),
            Grid("jacobian", slopes.numpy(), SCORED, SCORED, caption=caption),
            Lines("vanishing", factors.numpy(), falls, log_x=True, caption=caption),
            Lines("variance", np.array(WIDTHS), {"raw": raw.numpy(), "scaled": scaled.numpy()}, log_x=True, log_y=True, caption=caption),
        ),
    )


# --- Queries times keys (section 3.2): a table of all pairs of tokens, from few parameters. ---

SENTENCE = ("the", "cat", "sat", "on", "my", "mat", "and", "went", "to", "sleep")
D = 8
SIZES = ((64, 16), (512, 64))  # (d_model, d_k) of our default model and of the paper


def attention(n_heads: int, generator: torch.Generator) -> MultiHeadAttention:
    """Multi-head attention of our model, in float64, with random matrices."""
    module = MultiHeadAttention(ModelConfig(d_model=D, n_heads=n_heads, bias=False), Dropout(0.0, generator)).double()
    for parameter in module.parameters():
        nn.init.xavier_uniform_(parameter, generator=generator)
    return module


def scores(x: Tensor, attending: MultiHeadAttention) -> Tensor:
    """Q K^T of the first head, before division by sqrt(d_k): x (L, D) -> (L, K) times (K, L) -> (L, L)."""
    q, k = (attending.split(linear(x[None]))[0, 0] for linear in (attending.W_q, attending.W_k))
    return q @ k.T


def merged(attending: MultiHeadAttention, d_k: int) -> Tensor:
    """Merges the first head's two matrices: Q K^T = (X W_Q) (X W_K)^T = X (W_Q W_K^T) X^T. -> (D, D)"""
    w_q, w_k = (linear.weight[:d_k].T for linear in (attending.W_q, attending.W_k))  # nn.Linear keeps W^T: its first rows are head 1
    return w_q @ w_k.T


def learned(d_model: int, d_k: int) -> tuple[int, int]:
    """Counts the parameters of a head's scores: with W_Q and W_K, and with one free matrix."""
    return 2 * d_model * d_k, d_model * d_model


@torch.no_grad()
def run_products(seed: int, n_heads: int) -> Outcome:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(len(SENTENCE), D, generator=generator, dtype=torch.float64)
    free = nn.init.xavier_uniform_(torch.empty(D, D, dtype=torch.float64), generator=generator)
    attending, d_k = attention(n_heads, generator), D // n_heads

    table, product = scores(x, attending), merged(attending, d_k)
    singular = {name: torch.linalg.svdvals(table_values) for name, table_values in (("head", table), ("free", x @ free @ x.T))}
    ranks = np.arange(1, len(SENTENCE) + 1)
    rank = int(torch.linalg.matrix_rank(table))
    numbers = {
        "rank": rank, "d_k": d_k, "d_model": D, "tokens": len(SENTENCE), "rank_free": int(torch.linalg.matrix_rank(x @ free @ x.T)),
        "two": learned(D, d_k)[0], "one": learned(D, d_k)[1],
    }  # fmt: skip
    paper = learned(*SIZES[-1])
    caption = {
        **numbers, "difference": (x @ product @ x.T - table).abs().max().item(), "rank_merged": int(torch.linalg.matrix_rank(product)),
        "last": singular["head"][rank - 1].item(), "next": singular["head"][rank].item(), "paper_two": paper[0], "paper_one": paper[1],
    }  # fmt: skip
    sizes = ((D, d_k), *SIZES)
    dims = tuple(f"d{number}" for number in range(D))
    return Outcome(
        "head" if rank <= d_k else "model" if rank <= D else "tokens",
        numbers,
        (
            Grid("scores", table.numpy(), SENTENCE, SENTENCE, caption=caption),
            Lines("singular", ranks, {name: values.numpy() for name, values in singular.items()}, caption=caption),
            Grid("merged", product.numpy(), dims, dims, caption=caption),
            Grid(
                "learned",
                np.array([learned(*size) for size in sizes]).T,
                ("two", "one"),
                tuple(f"{wide} · {d_k}" for wide, d_k in sizes),
                "plain",
                caption=caption,
            ),
        ),
    )


# --- Permutation equivariance of attention (the reason for section 3.5): permuted tokens get the same outputs, permuted. ---

PERMUTED = ("the", "dog", "bit", "a", "man")
SHUFFLES = {"swapped": (0, 4, 2, 3, 1), "reversed": (4, 3, 2, 1, 0), "rotated": (1, 2, 3, 4, 0)}
WIDTH = 8
ROUNDING = 1e-12  # differences below are rounding, in float64


def self_attention(x: Tensor, matrices: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """One head: x (L, D), W_Q, W_K and W_V as (3, D, D) -> outputs (L, D), and the weights (L, L)."""
    q, k, v = x @ matrices  # (3, L, D)
    return scaled_dot_product_attention(q, k, v, mask)


def shuffled(x: Tensor, order: tuple[int, ...]) -> Tensor:
    """Permutes the rows of x (L, D): output row i is input row order[i]."""
    return x[list(order)]


def difference(x: Tensor, matrices: Tensor, order: tuple[int, ...], positions: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
    """Measures the change of each token's output when the sentence is permuted, in the new order: (L,).

    Positions (L, D) and the mask (L, L) apply to positions, not to tokens: after the permutation.
    """
    added = 0 if positions is None else positions
    before, _ = self_attention(x + added, matrices, mask)
    after, _ = self_attention(shuffled(x, order) + added, matrices, mask)
    return (after - shuffled(before, order)).abs().amax(dim=-1)


def run_permutation(seed: int, shuffle: str) -> Outcome:
    order, length = SHUFFLES[shuffle], len(PERMUTED)
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(length, WIDTH, generator=generator, dtype=torch.float64)
    matrices = torch.randn(3, WIDTH, WIDTH, generator=generator, dtype=torch.float64) / WIDTH**0.5
    positions = sinusoids(length, WIDTH).double()
    (before, weights), (after, weights_after) = self_attention(x, matrices), self_attention(shuffled(x, order), matrices)
    differences = {
        "plain": difference(x, matrices, order),
        "positions": difference(x, matrices, order, positions),
        "causal": difference(x, matrices, order, mask=causal_mask(length)[0, 0]),
    }
    numbers = {name: change.max().item() for name, change in differences.items()}
    there = tuple(PERMUTED[place] for place in order)
    dims = tuple(f"d{number}" for number in range(WIDTH))
    caption = {
        **numbers, "token": there[0], "weight": weights[order[0], order[1]].item(), "weight_after": weights_after[0, 1].item(),
        "other": there[1], "value": after[0, 0].item(),
    }  # fmt: skip
    return Outcome(
        "moves" if numbers["plain"] < ROUNDING else "changes",
        numbers,
        (
            Grid("weights", weights.numpy(), PERMUTED, PERMUTED, "probability", caption=caption),
            Grid("weights_after", weights_after.numpy(), there, there, "probability", caption=caption),
            Grid("before", before.numpy(), PERMUTED, dims, caption=caption),
            Grid("after", after.numpy(), there, dims, caption=caption),
            Grid("differences", np.stack([change.numpy() for change in differences.values()]), tuple(differences), there, caption=caption),
        ),
    )


LABS = (
    Lab(
        "softmax", ("grows", "stays", "vanishes"), run_softmax, (softmax, jacobian, steepest, typical, variances),
        (Control("factor", FACTORS, 1.0),), first="vanishing", expects="vanishes", order=10, starts=True, next=("masks", "products"),
    ),
    Lab(
        "products", ("tokens", "model", "head"), run_products, (scores, merged, learned, MultiHeadAttention.split),
        (Control("n_heads", (2, 4, 8), 4),), first="scores", expects="head", order=90, next=("softmax", "qkv"),
    ),
    Lab(
        "permutation", ("moves", "average", "changes"), run_permutation, (self_attention, shuffled, difference),
        (Control("shuffle", tuple(SHUFFLES), "swapped"),), first="weights", expects="moves", order=40, next=("positions", "order"),
    ),
)  # fmt: skip

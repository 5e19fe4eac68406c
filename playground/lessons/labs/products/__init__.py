"""Queries times keys (section 3.2): a table of all pairs of tokens, from few parameters."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.lessons.lab import Control, Grid, Lab, Lines, Outcome
from playground.model.attention import MultiHeadAttention
from playground.model.parts import Dropout

TOKENS = ("the", "cat", "sat", "on", "my", "mat", "and", "went", "to", "sleep")
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
def run(seed: int, n_heads: int) -> Outcome:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(len(TOKENS), D, generator=generator, dtype=torch.float64)
    free = nn.init.xavier_uniform_(torch.empty(D, D, dtype=torch.float64), generator=generator)
    attending, d_k = attention(n_heads, generator), D // n_heads

    table, product = scores(x, attending), merged(attending, d_k)
    singular = {name: torch.linalg.svdvals(table_values) for name, table_values in (("head", table), ("free", x @ free @ x.T))}
    rank = int(torch.linalg.matrix_rank(table))
    numbers = {
        "rank": rank, "d_k": d_k, "d_model": D, "tokens": len(TOKENS), "rank_free": int(torch.linalg.matrix_rank(x @ free @ x.T)),
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
            Grid("scores", table.numpy(), TOKENS, TOKENS, caption=caption),
            Lines("singular", np.arange(1, len(TOKENS) + 1), {name: values.numpy() for name, values in singular.items()}, caption=caption),
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


LAB = Lab(
    "products",
    ("tokens", "model", "head"),
    run,
    (scores, merged, learned, MultiHeadAttention.split),
    (Control("n_heads", (2, 4, 8), 4),),
    expects="head",
    order=90,
    next=("softmax", "shapes"),
)

"""The floor of a step: the products of matrices that it can't do without, at the rate this machine reaches with matrices of that width."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from functools import cache
from itertools import chain, repeat

import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.data.corpus import Item
from playground.model.costs import flops

PASSES = 3  # forward, and backward twice as much: the gradient of every factor of a product is a product as large
FIRST_ROWS = 16


def step_flops(config: ModelConfig, tgt_vocab: int, items: Sequence[Item], pairs: int) -> float:
    """Floating-point operations of the mean training step of so many pairs, counted over real tokens: padding costs nothing here."""
    sizes = [(len(item.src_ids) + 1, len(item.tgt_ids) + 1) for item in items]
    forward = cache(lambda s, t: sum(flops(config, tgt_vocab, s, t).values()))
    return PASSES * pairs * statistics.fmean(forward(s, t) for s, t in sizes)


def step_tokens(items: Sequence[Item], pairs: int) -> float:
    """Source and target tokens of the mean step, with the EOS of each."""
    return pairs * statistics.fmean(len(item.src_ids) + len(item.tgt_ids) + 2 for item in items)


def matmul_rate(width: int, inner: int, rows: int, dtype: torch.dtype, seconds: float) -> float:
    """Operations per second in the products of one layer: four matrices (width, width), one to the inner width and one back, with so many
    rows of tokens. The best of what fits into the time; on fewer rows where a machine is too slow for all of them.
    """
    with torch.no_grad():
        until, count = time.perf_counter() + seconds, min(FIRST_ROWS, rows)
        best = _pass(products := _products(width, inner, count, dtype))
        while count < rows and time.perf_counter() + 4 * best < until:
            count = min(2 * count, rows)
            best = _pass(products := _products(width, inner, count, dtype))
        while time.perf_counter() < until:
            best = min(best, _pass(products))
    return sum(2 * a.shape[0] * a.shape[1] * b.shape[1] for a, b, _ in products) / best


def _products(width: int, inner: int, rows: int, dtype: torch.dtype) -> list[tuple[Tensor, Tensor, Tensor]]:
    """(factor, factor, room for the product) of each."""
    sizes = chain(repeat((width, width), 4), ((width, inner), (inner, width)))
    return [(torch.randn(rows, a, dtype=dtype), torch.randn(a, b, dtype=dtype), torch.empty(rows, b, dtype=dtype)) for a, b in sizes]


def _pass(products: list[tuple[Tensor, Tensor, Tensor]]) -> float:
    """Seconds for all of them, one after the other."""
    started = time.perf_counter()
    for a, b, room in products:
        torch.mm(a, b, out=room)
    return time.perf_counter() - started

"""Pace: what this machine's arithmetic is worth, measured once, and the precision that follows from it.

Products of matrices in bfloat16 are several times faster than in float32 where the processor has instructions for them, and a hundred times
slower where it hasn't. What a narrow model gains on the products it loses on converting.
"""

from __future__ import annotations

import threading
import time
from functools import cache

import torch

WIDE = 256  # d_model from which on products are most of a step
WORTH = 3.0  # times as fast as float32 must bfloat16 products be: the rest of a step gains nothing
MOMENT = 0.004  # seconds that a product must take to be timed well
ROWS = (16, 1024)  # of the product: from the fewest, which takes no time even where bfloat16 is emulated, to the most
_measuring = threading.Lock()


def precision(wanted: str, d_model: int, device: str) -> str:
    """"float32" or "bfloat16": what is wanted, or, when that is "auto", what is faster on this machine at this width."""
    if wanted != "auto":
        return wanted
    if d_model < WIDE:
        return "float32"
    with _measuring:
        ratio = product_rate(WIDE, torch.bfloat16, device) / product_rate(WIDE, torch.float32, device)
    return "bfloat16" if ratio > WORTH else "float32"


@cache
def product_rate(width: int, dtype: torch.dtype, device: str) -> float:
    """Operations per second of a product of matrices of this width, on one thread; measured once."""
    weight = torch.ones(width, width, dtype=dtype, device=device)
    rows, most = ROWS
    while True:
        x = torch.ones(rows, width, dtype=dtype, device=device)
        took = min(_timed(x, weight) for _ in range(3))
        if took >= MOMENT or rows >= most:
            return 2 * rows * width * width / took
        rows *= 2


def _timed(x: torch.Tensor, weight: torch.Tensor) -> float:
    _wait(x)
    started = time.perf_counter()
    x @ weight
    _wait(x)
    return max(time.perf_counter() - started, 1e-9)


def _wait(x: torch.Tensor) -> None:
    """Until a GPU has done what it was asked."""
    if x.is_cuda:
        torch.cuda.synchronize(x.device)

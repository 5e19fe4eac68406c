"""How many calls of torch one more token takes."""

from __future__ import annotations

from collections import Counter

from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.decoding.models import LENGTH, sentences
from playground.decoding import greedy
from playground.model.transformer import Transformer

PRODUCTS = {"linear", "matmul", "mm", "addmm", "bmm", "baddbmm"}


class _Counting(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: Counter[str] = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names[func.overloadpacket.__name__] += 1
        return func(*args, **(kwargs or {}))


def calls(model: Transformer, choice: dict) -> dict[str, int]:
    """{"calls", "products"} between a sentence of `LENGTH` tokens and one of a token less: kernels and views, products of matrices."""
    found = []
    for length in (LENGTH - 1, LENGTH):
        with _Counting() as counting:
            greedy(model, sentences(1, 0), length, **choice)
        found.append(counting.names)
    more = found[1] - found[0]
    return {"calls": sum(more.values()), "products": sum(count for name, count in more.items() if name in PRODUCTS)}

"""The products behind one score: the number of dimensions that carry it, and the range of its row."""

from __future__ import annotations

import numpy as np

from playground.inspection.fact import Fact


def signed(value: float, digits: int) -> str:
    """Formats a number with this many decimals and a true minus."""
    return f"{value:.{digits}f}".replace("-", "−")


def carriers(products: np.ndarray) -> int:
    """Counts the fewest of the products (K,) that hold more than half of the sum of absolute values; 0 when all are 0."""
    sizes = np.sort(np.abs(np.asarray(products, dtype=np.float64)))[::-1]
    return int(np.searchsorted(np.cumsum(sizes), sizes.sum() / 2, side="right")) + 1 if sizes.any() else 0


def product_fact(query: np.ndarray, key: np.ndarray, scores: np.ndarray, allowed: np.ndarray, k: int) -> Fact:
    """Describes one score: query and key (K,), the softmax's input `scores` (S,) of the query with every key, and the query's mask (S,).
    "heads.product_caption" with {strong} of {dims} dimensions and the row's {low} and {high}, "heads.product_masked", or
    "heads.product_alone" when it is the only one. The caller adds {query_token} and {key_token}."""
    if not allowed[k]:
        return Fact("heads.product_masked", {})
    if allowed.sum() == 1:
        return Fact("heads.product_alone", {})
    visible = scores[allowed]
    values = {"strong": carriers(query * key), "dims": len(query), "low": signed(visible.min(), 2), "high": signed(visible.max(), 2)}
    return Fact("heads.product_caption", values)

"""The products behind one score: how many dimensions carry it, and what else stands in its row."""

from __future__ import annotations

import numpy as np

from playground.inspection.fact import Fact


def signed(value: float, digits: int) -> str:
    """A number with so many digits after the point, and a true minus."""
    return f"{value:.{digits}f}".replace("-", "−")


def carriers(products: np.ndarray) -> int:
    """The fewest of the products (K,) that hold more than half of their total size, signs aside; 0 when all are 0."""
    sizes = np.sort(np.abs(np.asarray(products, dtype=np.float64)))[::-1]
    return int(np.searchsorted(np.cumsum(sizes), sizes.sum() / 2, side="right")) + 1 if sizes.any() else 0


def product_fact(query: np.ndarray, key: np.ndarray, scores: np.ndarray, allowed: np.ndarray, k: int) -> Fact:
    """What can be said of one score: query and key (K,), the `scores` (S,) of the query with every key as the softmax gets them, and where
    it may look (S,). "heads.product_caption" with {strong} of {dims} dimensions and the row's {low} and {high}, "heads.product_masked", or
    "heads.product_alone" when it is the only one. All also take {query_token} and {key_token}, which the caller knows."""
    if not allowed[k]:
        return Fact("heads.product_masked", {})
    if allowed.sum() == 1:
        return Fact("heads.product_alone", {})
    seen = scores[allowed]
    values = {"strong": carriers(query * key), "dims": len(query), "low": signed(seen.min(), 2), "high": signed(seen.max(), 2)}
    return Fact("heads.product_caption", values)

"""The model's confidence in the next token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playground.inspection.attention import entropy
from playground.inspection.fact import Fact, percent

SURE = 0.9  # probability from which a step counts as sure
TORN = 0.5  # ratio of the second to the first from which a step counts as torn


def top(probabilities: np.ndarray, count: int = 5) -> list[tuple[int, float]]:
    """Returns the `count` likeliest ids of a distribution (V,) with their probabilities, likeliest first; ties in the order of ids."""
    p = np.asarray(probabilities, dtype=np.float64)
    return [(int(i), float(p[i])) for i in np.argsort(-p, kind="stable")[:count]]


def rank(probabilities: np.ndarray, token: int) -> int:
    """Returns the rank of a token id by probability: 1 is the likeliest; ties in the order of ids."""
    p = np.asarray(probabilities, dtype=np.float64)
    return 1 + int((p > p[token]).sum() + (p[:token] == p[token]).sum())


def facts(probabilities: np.ndarray, names: Sequence[str]) -> Fact:
    """States the confidence of one step (V,): "figures.sure", "figures.torn" between two, or "figures.leans".

    Values: {token} and {percent} of the likeliest, {second} and {other} of the next, {effective} (2 to the entropy: the equivalent number
    of equally likely tokens). `names` are the tokens by id.
    """
    (first, p), *rest = top(probabilities, 2)
    second, q = rest[0] if rest else (first, 0.0)
    name = "sure" if p >= SURE else "torn" if q >= TORN * p else "leans"
    values = {"token": names[first], "percent": percent(p), "second": names[second], "other": percent(q)}
    return Fact(f"figures.{name}", values | {"effective": f"{2 ** float(entropy(probabilities)):.1f}"})

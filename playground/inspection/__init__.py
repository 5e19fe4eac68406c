"""Interpretability: pure functions of a model or of arrays that find true, checkable statements. Read in this order:

attention (the tokens that a head attends to) · masks (of a batch) · heads (a name for each) · logits (each layer's prediction, and each
part's share of a logit) · vectors (PCA and cosines, and the shift property of positions). Here: a statement, as the key of a sentence in
words/ and its numbers.

activations (everything a model computes for one sentence) · formulas (the paper's, and the lines of code) · arithmetic (decimals that a
pocket calculator reproduces) · derivation (the computation of one number) · backward (of one number of a gradient, and a parameter's step)
and backward_sublayer (inside attention, and along the residual stream) · worksheet (an exercise on paper) · tensors (statements about one
of them) · interventions (heads switched off, attention edited; and the effects).
"""

import math
from typing import NamedTuple


class Fact(NamedTuple):
    """A sentence's `key` in words/, with `values` for its {placeholders}. For sentences about one head the caller adds {layer} and
    {head}."""

    key: str
    values: dict[str, object]


def percent(share: float) -> int:
    """Rounds a share of 0 to 1 half up to a whole percentage; 0 and 100 are exact only."""
    if share <= 0 or share >= 1:
        return 100 if share >= 1 else 0
    return min(max(math.floor(100 * share + 0.5), 1), 99)


def short(value: float, digits: int = 2) -> str:
    """Formats a number with `digits` significant digits: 0.031, 2e-16, 12."""
    return f"{value:.{digits}g}"

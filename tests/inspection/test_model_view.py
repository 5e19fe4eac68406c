"""All heads side by side, on weights that can be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from playground.inspection.model_view import HeadAt, overview

DIAGONAL, EVEN = np.eye(4), np.full((4, 4), 0.25)
ONE_KEY = np.tile([0.1, 0.7, 0.1, 0.1], (4, 1))
CAUSAL = np.tri(4, dtype=bool)
EVERYTHING = np.ones((4, 4), dtype=bool)


def test_the_sharpest_the_widest_and_the_most_diagonal_head_are_found_among_all_kinds():
    stacks = {"encoder": np.array([[EVEN, ONE_KEY]]), "cross": np.array([[EVEN, DIAGONAL]])}
    result = overview(stacks, dict.fromkeys(stacks, EVERYTHING))
    assert result.sharpest == result.most_diagonal == HeadAt("cross", 0, 1)
    assert result.widest == HeadAt("encoder", 0, 0)  # the first of equals
    assert result.effective[result.sharpest] == pytest.approx(1)
    assert result.effective[result.widest] == pytest.approx(4)
    assert result.diagonal[result.most_diagonal] == 1
    assert result.diagonal[HeadAt("encoder", 0, 1)] == pytest.approx(0.25)
    assert result.on_one_key == (HeadAt("encoder", 0, 1),)


def test_a_row_without_a_choice_has_no_say():
    spread = CAUSAL / CAUSAL.sum(axis=1, keepdims=True)
    result = overview({"decoder": spread[None, None]}, {"decoder": CAUSAL})
    assert result.effective == {HeadAt("decoder", 0, 0): pytest.approx((2 + 3 + 4) / 3)}
    assert result.diagonal[HeadAt("decoder", 0, 0)] == pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 3)
    alone = overview({"decoder": np.ones((1, 1, 1, 1))}, {"decoder": np.ones((1, 1), dtype=bool)})
    assert not alone.effective
    assert not alone.on_one_key

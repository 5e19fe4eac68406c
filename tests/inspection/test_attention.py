"""Statements about heads, over heads built by hand to do exactly one thing."""

import numpy as np
import pytest

from playground.inspection import attention
from tests.inspection.test_heads import backward, first, row

N = 6
ALL = {"percent": 100, "mass": 100}
BEFORE_EOS = backward(N)  # row 0 looks at column 4: the last word before <eos>
CAUSAL = np.tri(N, dtype=bool)
ALIGNMENT = [4, 3, 2, 1, 0, None]
NOWHERE_IN_ROW_2 = np.arange(N)[:, None] != np.full((N, N), 2)
SCATTERED = np.eye(N)[[3, 5, 1, 0, 2, 1]]
MIXED = 0.5 * SCATTERED + 0.5 * SCATTERED[::-1]
LARGEST = 0.8 * SCATTERED + 0.2 * np.eye(N)[[2, 4, 0, 5, 1, 3]]
LARGEST[2] = 0.9 * np.eye(N)[1] + 0.1 * np.eye(N)[0]
TWINS, MOVED, SORTED = ["a", "b", "a", "b", "c", "b"], ["b", "d", "a", "c", "<eos>"], ["a", "c", "d", "b", "<eos>"]
ELSEWHERE = np.array([[word == other and i != j for j, other in enumerate(TWINS)] for i, word in enumerate(TWINS)])


def mirrored(last, share=0.45):
    """Seven tokens: the anti-diagonal with `share` of the weight, the rest spread evenly."""
    place = attention.backward(7, 7, last)
    weights = np.where(place, share, (1 - share) / 6)
    weights[~place.any(axis=1)] = 1 / 7
    return weights


PADDED = np.array([[True, True, True, True, False, False]])
FOUR_OF_SIX = np.eye(N)[[0, 1, 2, 3, 0, 0]]
FOUR_OF_FIVE = np.where(np.arange(5) == np.array([[0], [1], [2], [3], [0]]), 0.8, 0.05)
WORDS = {"rows": TWINS, "columns": TWINS}
EVEN_CAUSAL = CAUSAL / CAUSAL.sum(axis=1, keepdims=True)


@pytest.mark.trust
@pytest.mark.parametrize(("kind", "weights", "more", "key", "values"), [
    ("encoder", mirrored(5), {}, "looks_backward_encoder", None),
    ("encoder", mirrored(6), {}, "looks_backward_from_end_encoder", None),
    ("decoder", row(np.where(CAUSAL, np.eye(N, k=-2), 0)) * CAUSAL, {"mask": CAUSAL}, "looks_two_back_decoder", None),
    ("encoder", FOUR_OF_FIVE, {}, "looks_same", {"percent": 80, "mass": 65}),  # (4 · 0.8 + 0.05) / 5
    ("cross", np.eye(N)[[3] * 4], {"mask": PADDED}, "looks_last", None),
    ("cross", np.eye(N)[[3] * 4], {}, "sharp", None),  # without the mask, column 3 is nothing special
    ("cross", BEFORE_EOS, {"alignment": ALIGNMENT}, "looks_aligned", None),
    ("cross", np.roll(BEFORE_EOS, 1, axis=1), {"alignment": ALIGNMENT}, "looks_right_of_aligned", None),
    ("cross", row(attention.aligned(N, N, ALIGNMENT, -1)), {"alignment": ALIGNMENT}, "looks_left_of_aligned", None),
    ("cross", FOUR_OF_SIX, {"alignment": range(6)}, "looks_aligned", {"percent": 67, "mass": 67}),
    ("cross", FOUR_OF_SIX, {}, "sharp", None),  # of many places, one fits as well by chance
    ("cross", attention.same_text(MOVED, SORTED).astype(float), {"rows": MOVED, "columns": SORTED}, "looks_same_token_cross", ALL),
    ("encoder", row(ELSEWHERE), WORDS, "looks_same_token_encoder", None),
    ("encoder", np.eye(N), WORDS, "looks_same", None),
    ("cross", np.full((4, 8), 1 / 8), {}, "spreads", {"effective": "8.0", "tokens": "8.0"}),
    ("decoder", EVEN_CAUSAL, {"mask": CAUSAL}, "spreads", {"effective": "4.0", "tokens": "4.0"}),
    ("encoder", row(np.full((10, 10), 0.1) + 0.01 * np.eye(10, k=-1)), {}, "spreads", None),  # a slight lean is no look
    ("encoder", SCATTERED, {}, "sharp", {"bits": "0", "mass": 100}),
    ("encoder", MIXED, {}, "unclear", {"effective": "2.0", "tokens": "6.0"}),
    ("cross", np.full((2, 5), 0.2), {}, "too_short", {}),
    ("encoder", row(np.eye(N, k=-1)) * NOWHERE_IN_ROW_2, {"mask": NOWHERE_IN_ROW_2}, "looks_previous", ALL),
])  # fmt: skip
def test_what_is_said_of_a_head(kind, weights, more, key, values):
    fact = attention.facts(weights, kind, **more)
    assert fact.key == f"figures.{key}"
    assert values in (None, fact.values)


def test_masked_cells_the_alignment_and_the_row_that_looks_farthest_are_told():
    same = attention.score(first(N).astype(float), attention.offset(N, N, 0), CAUSAL)
    assert (same.share, same.rows) == (0.0, N - 1)  # the decoder's first row has no choice
    key, values = attention.facts(LARGEST, "cross", rows=list("uvwxyz"), columns=list("abcdef"))
    assert (key, *(values[name] for name in ("query_token", "key_token", "percent"))) == ("figures.unclear_but", "w", "b", 90)
    weights = np.array([[0.75, 0.25], [0.5, 0.5]])
    assert attention.masked_fact(weights, np.ones((2, 2), dtype=bool), "padding") is None
    assert attention.masked_fact(np.eye(2), np.tri(2, dtype=bool), "future") == ("figures.future_zero", {})
    assert attention.masked_fact(weights, np.array([[True, False]]), "padding") == ("figures.padding_gets", {"percent": 38})  # 37.5
    weights = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    assert attention.alignment_fact(weights, [0, 1]) == ("figures.alignment", {"percent": 75, "chance": 25})
    assert attention.alignment_fact(weights, [None, None]) is None
    with pytest.raises(ValueError, match="kind"):
        attention.facts(np.eye(4), "sideways")
    english, german = ["we", "see", "the", "man", "<eos>"], ["wir", "den", "Mann", "sehen", "<eos>"]
    fact = attention.crossing_fact(0.8 * np.eye(5)[[0, 3, 1, 2, 4]] + 0.04, english, german)
    assert fact == ("figures.crossing_right", {"next_token": "see", "key_token": "sehen", "distance": 2, "percent": 84})
    assert attention.crossing_fact(np.eye(4)[[0, 2, 1, 3]], english[:4], german[:4]) is None  # beside its own place is no crossing
    rows, columns = ["c", "b", "a", "<eos>"], ["a", "b", "c", "<eos>"]
    assert attention.crossing_fact(np.eye(4)[[2, 1, 0, 3]], rows, columns).key == "figures.crossing_right"  # the first of two as far
    fact = attention.crossing_fact(np.eye(4)[[0, 1, 0, 3]], rows, columns)
    assert (fact.key, fact.values["distance"]) == ("figures.crossing_left", 2)

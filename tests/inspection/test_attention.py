"""Statements about heads, over heads built by hand to do exactly one thing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from playground.inspection import attention

N = 6


def head(place):
    """All weight of each row on its place; a row without one spreads evenly."""
    place = np.asarray(place, dtype=float)
    empty = place.sum(axis=1, keepdims=True) == 0
    weights = np.where(empty, 1.0, place)
    return weights / weights.sum(axis=1, keepdims=True)


def diagonal(by=0, rows=N, columns=N):
    return np.eye(rows, columns, k=by)


def column(k, rows=N, columns=N):
    return np.tile(np.arange(columns) == k, (rows, 1))


ANTI = np.eye(N, N)[::-1]
CAUSAL = np.tril(np.ones((N, N), dtype=bool))


@pytest.mark.parametrize(
    ("kind", "weights", "name"),
    [
        ("encoder", head(diagonal(-1)), "previous"),
        ("encoder", head(diagonal(1)), "next"),
        ("encoder", head(diagonal(0)), "same"),
        ("encoder", head(np.roll(ANTI, -1, axis=0)), "backward_encoder"),
        ("encoder", head(ANTI), "backward_from_end_encoder"),
        ("encoder", head(diagonal(-2)), "two_back"),
        ("encoder", head(column(0)), "first_encoder"),
        ("encoder", head(column(N - 1)), "last"),
        ("cross", head(diagonal(0)), "forward"),
        ("cross", head(diagonal(1)), "ahead"),
        ("cross", head(diagonal(-1)), "behind"),
        ("cross", head(np.roll(ANTI, -1, axis=0)), "backward"),  # row 0 looks at column 4: the last word before <eos>
        ("cross", head(ANTI), "backward_from_end"),
        ("cross", head(column(0)), "first_cross"),
        ("cross", head(column(N - 1)), "last"),
    ],
)
def test_a_head_that_does_one_thing_gets_its_name(kind, weights, name):
    assert attention.facts(weights, kind) == (f"figures.looks_{name}", {"percent": 100, "mass": 100})


@pytest.mark.parametrize(("by", "name"), [(-1, "previous"), (0, "same"), (-2, "two_back")])
def test_decoder_heads_under_the_causal_mask(by, name):
    weights = head(np.where(CAUSAL, diagonal(by), 0)) * CAUSAL
    assert attention.facts(weights, "decoder", mask=CAUSAL).key == f"figures.looks_{name}_decoder"


def test_the_first_decoder_row_has_no_choice_and_does_not_count():
    weights = np.zeros((N, N))
    weights[:, 0] = 1.0
    assert attention.facts(weights, "decoder", mask=CAUSAL).key == "figures.looks_first_decoder"
    same = attention.score(weights, attention.offset(N, N, 0), CAUSAL)
    assert (same.share, same.rows) == (0.0, N - 1)


def test_the_percentage_counts_rows_and_the_mass_weighs_them():
    weights = np.full((5, 5), 0.05)  # four of five rows put 0.8 on the same token, one puts it elsewhere
    weights[np.arange(5), [0, 1, 2, 3, 0]] = 0.8
    assert attention.facts(weights, "encoder") == ("figures.looks_same", {"percent": 80, "mass": 65})  # (4 · 0.8 + 0.05) / 5


def test_padding_columns_do_not_move_the_end_of_the_sentence():
    weights = np.zeros((4, 6))
    weights[:, 3] = 1.0
    mask = np.array([[True, True, True, True, False, False]])
    assert attention.facts(weights, "cross", mask=mask).key == "figures.looks_last"
    assert attention.facts(weights, "cross").key == "figures.sharp"  # without the mask, column 3 is nothing special


def test_an_alignment_is_the_first_name_of_what_it_names():
    weights = head(np.roll(ANTI, -1, axis=0))
    alignment = [4, 3, 2, 1, 0, None]
    assert attention.facts(weights, "cross", alignment=alignment).key == "figures.looks_aligned"
    right = np.roll(weights, 1, axis=1)
    assert attention.facts(right, "cross", alignment=alignment).key == "figures.looks_right_of_aligned"
    left = head(np.where(attention.aligned(N, N, alignment, -1), 1.0, 0.0))
    assert attention.facts(left, "cross", alignment=alignment).key == "figures.looks_left_of_aligned"


def test_half_of_the_weight_is_enough_where_the_place_is_known_before():
    weights = np.eye(6)[[0, 1, 2, 3, 0, 0]]
    assert attention.facts(weights, "cross", alignment=[0, 1, 2, 3, 4, 5]) == ("figures.looks_aligned", {"percent": 67, "mass": 67})
    assert attention.facts(weights, "cross").key == "figures.sharp"  # of many places, one fits as well by chance


def test_the_same_token_elsewhere_is_not_the_token_itself():
    words = ["a", "b", "a", "b", "c", "b"]
    elsewhere = attention.same_text(words, words) & ~np.eye(6, dtype=bool)
    fact = attention.facts(head(elsewhere), "encoder", rows=words, columns=words)
    assert fact.key == "figures.looks_same_token_encoder"
    assert attention.facts(np.eye(6), "encoder", rows=words, columns=words).key == "figures.looks_same"


def test_even_weight_is_called_even_and_counted():
    assert attention.facts(np.full((4, 8), 1 / 8), "cross") == ("figures.spreads", {"effective": "8.0", "tokens": "8.0"})
    causal = CAUSAL / CAUSAL.sum(axis=1, keepdims=True)
    assert attention.facts(causal, "decoder", mask=CAUSAL) == ("figures.spreads", {"effective": "4.0", "tokens": "4.0"})  # rows of 2 to 6


def test_a_head_without_a_pattern_is_sharp_or_unclear():
    weights = np.zeros((6, 6))
    weights[np.arange(6), [3, 5, 1, 0, 2, 1]] = 1.0
    assert attention.facts(weights, "encoder") == ("figures.sharp", {"bits": "0", "mass": 100})
    assert attention.facts(0.5 * weights + 0.5 * weights[::-1], "encoder") == ("figures.unclear", {"effective": "2.0", "tokens": "6.0"})


def test_an_unclear_head_is_told_by_its_largest_weight():
    weights = np.zeros((6, 6))
    weights[np.arange(6), [3, 5, 1, 0, 2, 1]] = 0.8
    weights[np.arange(6), [2, 4, 0, 5, 1, 3]] = 0.2
    weights[2, [1, 0]] = [0.9, 0.1]
    key, values = attention.facts(weights, "cross", rows=list("uvwxyz"), columns=list("abcdef"))
    assert key == "figures.unclear_but"
    assert (values["query_token"], values["key_token"], values["percent"]) == ("w", "b", 90)


def test_a_slight_lean_is_no_look():
    """The largest weight always lies on the previous token, but hardly anything is there: that must not become a claim."""
    weights = np.full((10, 10), 0.1) + np.eye(10, k=-1) * 0.01
    assert attention.facts(weights / weights.sum(axis=1, keepdims=True), "encoder").key == "figures.spreads"


@pytest.mark.parametrize("rows", [1, 2])
def test_too_few_rows_say_nothing(rows):
    assert attention.facts(np.full((rows, 5), 0.2), "cross") == ("figures.too_short", {})


def test_an_all_masked_row_is_left_out():
    weights = head(diagonal(-1))
    weights[2] = 0.0
    mask = np.ones((N, N), dtype=bool)
    mask[2] = False
    assert attention.facts(weights, "encoder", mask=mask) == ("figures.looks_previous", {"percent": 100, "mass": 100})


def test_ties_count_for_nobody():
    weights = np.full((4, 4), 0.0)
    weights[:, :2] = 0.5
    assert attention.score(weights, attention.constant(4, 4, 0)).share == 0.0


def test_entropy_in_bits():
    assert attention.entropy([1.0, 0.0]) == 0.0
    assert attention.entropy([0.5, 0.5]) == 1.0
    np.testing.assert_allclose(attention.entropy(np.full((3, 2, 8), 1 / 8)), np.full((3, 2), 3.0))
    assert attention.entropy([0.5, 0.25, 0.25]) == 1.5


def test_mass_is_the_mean_over_the_rows_that_have_the_place():
    weights = np.array([[0.5, 0.5], [0.9, 0.1]])
    assert attention.mass(weights, attention.offset(2, 2, -1)) == pytest.approx(0.9)  # only row 1 has a previous token
    assert attention.mass(weights, attention.offset(2, 2, 0)) == pytest.approx(0.3)
    assert attention.mass(weights, attention.offset(2, 2, 5)) == 0.0
    assert attention.alignment_mass(weights, [1, None]) == 0.5
    assert attention.alignment_mass(weights, [None, None]) == 0.0


def test_what_lies_on_masked_cells_is_said():
    weights = np.array([[0.75, 0.25], [0.5, 0.5]])
    assert attention.masked_fact(weights, np.ones((2, 2), dtype=bool), "padding") is None
    assert attention.masked_fact(np.eye(2), np.tril(np.ones((2, 2), dtype=bool)), "future") == ("figures.future_zero", {})
    assert attention.masked_fact(weights, np.array([[True, False]]), "padding") == ("figures.padding_gets", {"percent": 38})  # 37.5


def test_alignment_is_set_beside_chance():
    weights = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    assert attention.alignment_fact(weights, [0, 1]) == ("figures.alignment", {"percent": 75, "chance": 25})
    assert attention.alignment_fact(weights, [None, None]) is None


@given(arrays(np.float64, (5, 6), elements=st.floats(0, 1)))
def test_whatever_the_weights_the_claim_is_true(raw):
    """The named place really holds the largest weight in the share of rows that is claimed."""
    weights = (raw + 1e-6) / (raw + 1e-6).sum(axis=1, keepdims=True)
    key, values = attention.facts(weights, "cross")
    places = attention.places("cross", weights.shape)
    name = key.removeprefix("figures.looks_").removesuffix("_cross")
    if name in places:
        place = places[name]
        rows = [q for q in range(5) if place[q].any()]
        assert sum(place[q, weights[q].argmax()] for q in rows) / len(rows) >= attention.MIN_SHARE
        assert weights[place].mean() >= attention.MIN_MASS
        assert abs(100 * weights[place].mean() - values["mass"]) <= 1


def test_the_row_that_looks_farthest_is_told():
    weights = np.eye(4)[[0, 2, 1, 3]]
    rows, columns = ["we", "see", "him", "<eos>"], ["wir", "ihn", "sehen", "<eos>"]
    assert attention.crossing_fact(weights, rows, columns) is None  # one place beside its own is no crossing
    far = np.eye(5)[[0, 3, 1, 2, 4]]
    rows, columns = ["we", "see", "the", "man", "<eos>"], ["wir", "den", "Mann", "sehen", "<eos>"]
    fact = attention.crossing_fact(0.8 * far + 0.04, rows, columns)
    assert fact == ("figures.crossing_right", {"next_token": "see", "key_token": "sehen", "distance": 2, "percent": 84})
    assert attention.crossing_fact(np.full((5, 5), 0.2), rows, columns) is None


def test_a_row_may_look_back():
    fact = attention.crossing_fact(np.eye(4)[[2, 1, 0, 3]], ["c", "b", "a", "<eos>"], ["a", "b", "c", "<eos>"])
    assert fact.key == "figures.crossing_right"  # the first of two that are as far
    fact = attention.crossing_fact(np.eye(4)[[0, 1, 0, 3]], ["c", "b", "a", "<eos>"], ["a", "b", "c", "<eos>"])
    assert (fact.key, fact.values["distance"]) == ("figures.crossing_left", 2)

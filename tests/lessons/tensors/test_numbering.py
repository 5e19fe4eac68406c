"""Truths about the lab of how places become numbers."""

import math

import pytest
import torch

from playground.lessons.tensors import numbering as lab


@pytest.mark.parametrize(
    ("name", "met"),
    {
        "integers": (False, True, True, True),
        "shares": (True, False, True, True),
        "one_hot": (True, True, False, False),
        "sinusoids": (True, True, True, True),
    }.items(),
)
def test_each_wish(name, met):
    assert tuple(wish(lab.NUMBERINGS[name]) for wish in lab.WISHES) == met


@pytest.mark.parametrize("k", [0, 1, 7])
def test_the_addition_theorem_gives_the_rows_of_the_table(k):
    table = lab.sinusoids(20, lab.WIDTH)
    for position in range(12):
        torch.testing.assert_close(lab.addition_theorem(position, k, lab.WIDTH).flatten(), table[position + k], atol=1e-5, rtol=0)


def test_one_hot_places_are_all_equally_far():
    table = lab.one_hot(6)
    assert all((table[a] - table[b]).norm() == pytest.approx(math.sqrt(2)) for a in range(6) for b in range(a))


def test_a_place_beside_the_token_is_a_row_added_to_it():
    """By hand: x = (2, 3), the second of two places; W_I doubles, W_P has the rows (10, 20) and (30, 40)."""
    x, p, W_I, W_P = torch.tensor([[2.0, 3]]), torch.tensor([[0.0, 1]]), 2 * torch.eye(2), torch.tensor([[10.0, 20], [30, 40]])
    assert lab.beside(x, p, W_I, W_P).tolist() == lab.added(x, p, W_I, W_P).tolist() == [[34, 46]]


@pytest.mark.parametrize("length", lab.LAB.controls[0].choices)
@pytest.mark.parametrize("seed", range(5))
def test_the_sides_are_equal_and_the_rows_are_those_of_the_table(seed, length):
    found = lab.joined(seed, length)
    assert found["apart"] < 1e-5
    assert found["apart_rows"] == 0


def test_what_the_prose_says():
    outcome = lab.run(1, lab.LONG)
    assert outcome.answer == "sinusoids"
    assert (outcome.numbers["share_short"], outcome.numbers["share_long"]) == (0.75, 0.375)
    assert (outcome.numbers["most"], outcome.numbers["columns"]) == (lab.FAR - 1, lab.FAR)
    theorem = outcome.exhibits[-1].said
    assert theorem["sin"] == pytest.approx(math.sin(theorem["sum"]), abs=1e-6)
    assert theorem["sin_a"] * theorem["cos_b"] + theorem["cos_a"] * theorem["sin_b"] == pytest.approx(theorem["sin"], abs=1e-6)

"""Truths about the lab of the softmax."""

import math

import pytest
import torch

from playground.lessons.tensors import softmax as lab


def test_the_softmax_is_torchs():
    scores = torch.randn(5, 7, dtype=torch.float64) * 30
    torch.testing.assert_close(lab.softmax(scores), scores.softmax(dim=-1))


def test_the_jacobian_is_that_of_autograd():
    scores = torch.tensor([0.3, -1.2, 2.0, 0.0], dtype=torch.float64)
    expected = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores)
    torch.testing.assert_close(lab.jacobian(lab.softmax(scores)), expected)


def test_by_hand():
    """Two equal scores: y = (1/2, 1/2), dy/ds = ((1/4, -1/4), (-1/4, 1/4))."""
    y = lab.softmax(torch.tensor([3.0, 3.0]))
    assert y.tolist() == [0.5, 0.5]
    assert lab.jacobian(y).tolist() == [[0.25, -0.25], [-0.25, 0.25]]


@pytest.mark.parametrize("d_k", [4, 64, 1024])
def test_the_variance_is_the_width(d_k):
    raw, scaled = lab.variances(d_k, 1)
    assert raw / d_k == pytest.approx(1, abs=6 * math.sqrt(2 / lab.DRAWN))
    assert scaled == pytest.approx(raw / d_k)


def test_the_steepest_slope_is_the_largest_of_the_jacobian():
    scores = torch.randn(20, 4, dtype=torch.float64)
    largest = [lab.jacobian(y).abs().max() for y in lab.softmax(scores)]
    torch.testing.assert_close(lab.steepest(scores), torch.stack(largest))


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(10))
def test_what_the_prose_says(seed):
    outcome = lab.run(seed, 1.0)
    assert outcome.answer == "vanishes"
    assert outcome.numbers["difference"] < 1e-15


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(1, 21))
def test_the_sample_shows_what_the_verdict_says(seed):
    """The four scores on the page: their Jacobian, at ten times the scores, has lost most of its slope as well."""
    outcomes = [lab.run(seed, factor) for factor in (1.0, 10.0)]
    usual, large = (one.values.max() for outcome in outcomes for one in outcome.exhibits if one.name == "jacobian")
    assert large < usual / 2

"""Truths about the lab that shuffles tokens."""

import pytest
import torch
from torch.nn import functional as F

from playground.lessons.tensors import permutation as lab

ORDER = lab.SHUFFLES["reversed"]


@pytest.fixture
def drawn():
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(len(lab.TOKENS), lab.WIDTH, generator=generator, dtype=torch.float64)
    return x, torch.randn(3, lab.WIDTH, lab.WIDTH, generator=generator, dtype=torch.float64)


def test_the_head_is_torchs_attention(drawn):
    x, matrices = drawn
    q, k, v = (x @ matrix for matrix in matrices)
    torch.testing.assert_close(lab.self_attention(x, matrices)[0], F.scaled_dot_product_attention(q[None], k[None], v[None])[0])


@pytest.mark.parametrize("shuffle", lab.SHUFFLES)
def test_shuffle_in_shuffle_out(drawn, shuffle):
    x, matrices = drawn
    order = lab.SHUFFLES[shuffle]
    assert sorted(order) == list(range(len(lab.TOKENS)))
    assert lab.difference(x, matrices, order).max() < 1e-12


def test_only_tokens_that_stay_in_place_may_keep_their_vectors_with_positions(drawn):
    x, matrices = drawn
    positions = torch.randn(len(lab.TOKENS), lab.WIDTH, dtype=torch.float64)
    assert (lab.difference(x, matrices, ORDER, positions) > 1e-3).all()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shuffle", lab.SHUFFLES)
def test_what_the_prose_says(seed, shuffle):
    outcome = lab.run(seed, shuffle)
    assert outcome.answer == "moves"
    assert min(outcome.numbers["positions"], outcome.numbers["causal"]) > 0.01
    before, after = (next(one for one in outcome.exhibits if one.name == name) for name in ("weights", "weights_after"))
    assert sorted(before.values.flat) == pytest.approx(sorted(after.values.flat))

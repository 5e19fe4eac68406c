"""Rollout, on cases small enough for a piece of paper."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from playground.inspection import overview


@pytest.mark.trust
def test_two_tokens_two_layers_by_hand():
    first = [[[0.5, 0.5], [1.0, 0.0]], [[0.9, 0.1], [0.0, 1.0]]]  # two heads; their mean: [[.7, .3], [.5, .5]]
    second = [[[0.0, 1.0], [0.2, 0.8]], [[0.0, 1.0], [0.6, 0.4]]]  # mean: [[0, 1], [.4, .6]]
    # with the residual: A1 = [[.85, .15], [.25, .75]], A2 = [[.5, .5], [.2, .8]]
    # A2 A1 = [[.5 * .85 + .5 * .25, .5 * .15 + .5 * .75], [.2 * .85 + .8 * .25, .2 * .15 + .8 * .75]]
    result = overview.rollout(np.array([first, second]))
    np.testing.assert_allclose(result, [[0.55, 0.45], [0.37, 0.63]], atol=1e-12)
    bare = overview.rollout(np.array([first, second]), residual=False)
    np.testing.assert_allclose(bare, [[0.5, 0.5], [0.58, 0.42]], atol=1e-12)  # [[0, 1], [.4, .6]] [[.7, .3], [.5, .5]]


@pytest.mark.trust
def test_cross_by_hand():
    encoder = np.array([[[[0.0, 1.0], [0.0, 1.0]]]])  # with the residual: [[.5, .5], [0, 1]]
    decoder = np.array([[[[1.0, 0.0], [1.0, 0.0]]]])
    over = np.array([[[[1.0, 0.0], [0.5, 0.5]]]])
    flow, share = overview.cross(encoder, decoder, over)
    np.testing.assert_allclose(flow, [[0.5, 0.5], [0.25, 0.75]], atol=1e-12)  # one layer: over times the encoder's rollout
    assert share == 0.5  # the other half is the token that was fed
    flow, share = overview.cross(encoder, np.concatenate([decoder, decoder]), np.concatenate([over, over[:, :, ::-1]]))
    # after layer 1, of the whole: [[.25, .25], [.125, .375]]; self-attention mixes row 1 half with row 0: [.1875, .3125];
    # the second look (rows swapped) adds [[.25, .75], [.5, .5]]; half and half: [[.25, .5], [.34375, .40625]]
    np.testing.assert_allclose(flow, np.array([[0.25, 0.5], [0.34375, 0.40625]]) / 0.75, atol=1e-12)
    assert share == 0.75


@pytest.mark.trust
@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 3), st.integers(1, 6), st.integers(1, 6), st.booleans())
def test_rows_sum_to_one(seed, layers, heads, rows, columns, residual):
    draw, sizes = np.random.default_rng(seed), ((columns, columns), (rows, rows), (rows, columns))
    encoder, decoder, over = (draw.dirichlet(np.ones(keys), size=(layers, heads, queries)) for queries, keys in sizes)
    np.testing.assert_allclose(overview.rollout(encoder, residual).sum(axis=1), 1, atol=1e-12)
    flow, share = overview.cross(encoder, decoder, over, residual)
    np.testing.assert_allclose(flow.sum(axis=1), 1, atol=1e-12)
    assert share == pytest.approx(1 - 0.5**layers if residual else 1)
    causal = np.tril(encoder)
    causal /= causal.sum(axis=-1, keepdims=True)
    assert not np.triu(overview.rollout(causal, residual), k=1).any(), "what is masked in every layer is masked in the rollout"

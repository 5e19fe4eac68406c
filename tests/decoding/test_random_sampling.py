"""Sampling: what may be drawn is exactly what it says, and it is drawn as often as it is likely."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from playground.decoding import greedy, sample, top_k_top_p_filter
from tests.decoding.test_sampling import SOURCES, logprobs_by_teacher_forcing, untaught

BY_HAND = torch.tensor([[0.1, 0.4, 0.05, 0.3, 0.15]], dtype=torch.float64)  # ranked: 1, 3, 4, 0, 2


@pytest.mark.parametrize(
    ("top_k", "top_p", "expected"),
    [
        (0, 1.0, {0, 1, 2, 3, 4}),
        (1, 1.0, {1}),
        (2, 1.0, {1, 3}),
        (5, 1.0, {0, 1, 2, 3, 4}),
        (9, 1.0, {0, 1, 2, 3, 4}),
        (0, 0.39, {1}),
        (0, 0.41, {1, 3}),
        (0, 0.69, {1, 3}),
        (0, 0.71, {1, 3, 4}),
        (0, 0.86, {0, 1, 3, 4}),
        (0, 0.96, {0, 1, 2, 3, 4}),
        (0, 1e-9, {1}),
        (3, 0.9, {1, 3, 4}),  # of the three, 0.85 together: 0.7 / 0.85 = 0.82 is not enough
        (3, 0.8, {1, 3}),
        (2, 0.5, {1}),  # 0.4 / 0.7 = 0.57
    ],
)
def test_what_may_be_drawn_by_hand(top_k, top_p, expected):
    allowed, reverse = top_k_top_p_filter(torch.cat((BY_HAND, BY_HAND.flip(1))), top_k, top_p)
    assert set(allowed.nonzero()[:, 0].tolist()) == expected
    assert torch.equal(allowed, reverse.flip(0)), "each row by itself"
    equal = torch.full((1, 4), 0.25, dtype=torch.float64)  # equally likely tokens rank as they stand
    for k, p in ((2, 1.0), (0, 0.5)):
        assert top_k_top_p_filter(equal, k, p)[0].tolist() == [True, True, False, False]


@given(st.sampled_from(SOURCES), st.integers(1, 1000))
def test_drawing_from_one_token_is_greedy(source, seed):
    (expected,) = greedy(untaught(), [source], 12)
    for choice in ({"top_k": 1}, {"top_p": 1e-9}, {"top_k": 4, "top_p": 1e-9}):
        assert sample(untaught(), source, 2.0, 12, seed, **choice).ids == expected.ids


@pytest.mark.parametrize(("temperature", "top_k", "top_p"), [(0.5, 0, 1.0), (1.5, 4, 0.8)])
def test_tokens_come_as_often_as_they_are_likely(temperature, top_k, top_p):
    model, source, count = untaught(vocab=6), SOURCES[1], 300
    logprobs = logprobs_by_teacher_forcing(model, source, (4,))[:1].double()
    expected = (logprobs / temperature).softmax(-1)
    expected = expected * top_k_top_p_filter(expected, top_k, top_p)
    expected = (expected / expected.sum())[0].numpy()
    drawn = [sample(model, source, temperature, 1, seed, top_k=top_k, top_p=top_p).ids[0] for seed in range(count)]
    times = np.bincount(drawn, minlength=6)
    assert (times[expected == 0] == 0).all()
    assert np.abs(times / count - expected).max() < 4 * (0.25 / count) ** 0.5  # four standard deviations at most


def test_the_log_probabilities_are_the_models_own():
    drawn = sample(untaught(), SOURCES[0], 3.0, 9, 4, top_k=3)
    expected = logprobs_by_teacher_forcing(untaught(), SOURCES[0], drawn.ids)
    assert drawn.logprobs == pytest.approx([expected[t, token].item() for t, token in enumerate(drawn.ids)], abs=1e-5)

"""Many sentences side by side are written as one after the other."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.decoding import batches, best, greedy, search, searches
from tests.decoding.test_sampling import SOURCES, untaught

DICE = random.Random(1)
MANY = [tuple(DICE.randrange(4, 9) for _ in range(DICE.randint(1, 12))) for _ in range(40)]
LIMITS = [DICE.randint(1, 14) for _ in MANY]


@pytest.mark.trust
@settings(max_examples=8)
@given(st.integers(1, 2), st.sampled_from([1, 2, 5]), st.sampled_from([(), (4, 8)]))
def test_searches_side_by_side_are_the_searches_one_by_one(seed, width, prefix):
    """Every hypothesis, and every node that was considered on the way."""
    model, limits = untaught(seed=seed), [3, 12, 2, 7]
    found = searches(model, SOURCES, width, 0.6, limits, prefix)
    for source, limit, one in zip(SOURCES, limits, found, strict=True):
        alone = search(model, source, width, 0.6, limit, prefix)
        assert [hypothesis.ids for hypothesis in one.hypotheses] == [hypothesis.ids for hypothesis in alone.hypotheses]
        assert [(node.parent, node.token, node.pruned) for node in one.nodes] == [(n.parent, n.token, n.pruned) for n in alone.nodes]
        assert [node.total for node in one.nodes] == pytest.approx([node.total for node in alone.nodes], abs=1e-4)


@pytest.mark.parametrize("tokens", [1, 30, 2048])
def test_the_best_of_each_in_the_order_of_the_sources(tokens, monkeypatch):
    monkeypatch.setattr(batches, "TOKENS", tokens)
    model = untaught(seed=3)
    alone = [greedy(model, [source], limit)[0].ids for source, limit in zip(MANY, LIMITS, strict=True)]
    assert best(model, MANY, LIMITS) == alone
    beams = [search(model, source, 3, 1.0, limit).hypotheses[0].ids for source, limit in zip(MANY, LIMITS, strict=True)]
    assert best(model, MANY, LIMITS, 3, 1.0) == beams
    assert best(model, [], []) == []

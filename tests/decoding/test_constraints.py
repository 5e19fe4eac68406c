"""Lexical constraints in beam search, against all sentences there are that keep them."""

from functools import cache

import pytest
from hypothesis import given, settings, strategies as st

from playground.config import EOS, Refusal
from playground.decoding import Constraints, best, search
from tests.decoding.test_beam import all_scores
from tests.decoding.test_sampling import SOURCES, untaught

TOKENS = st.sampled_from([3, 4, 5])
PHRASES = st.lists(st.lists(TOKENS, min_size=1, max_size=2).map(tuple), max_size=2, unique=True).map(tuple)
every_score = cache(all_scores)


def contains(ids, phrase, continuing=frozenset()) -> bool:
    """Whether the phrase stands in the sentence, with no token after it that makes a longer word of it."""
    ends = [at + len(phrase) for at in range(len(ids)) if ids[at : at + len(phrase)] == phrase]
    return any(not continuing.intersection(ids[end : end + 1]) for end in ends)


def meets(ids, constraints) -> bool:
    must = all(contains(ids, phrase, constraints.continuing) for phrase in constraints.must)
    return must and not any(contains(ids, phrase) for phrase in constraints.must_not)


@pytest.mark.trust
@settings(max_examples=40)
@given(
    st.integers(1, 3), st.sampled_from([0, 0.6, 2]),
    st.builds(Constraints, PHRASES, PHRASES, st.sets(TOKENS, max_size=1).map(frozenset)),
)  # fmt: skip
def test_a_beam_as_wide_as_there_are_sentences_finds_the_best_that_meets_the_constraints(seed, penalty, constraints):
    model, source = untaught(vocab=6, seed=seed), SOURCES[0]
    scores = {ids: score for ids, score in every_score(model, source, 6, 4, penalty).items() if meets(ids, constraints)}
    if not scores:
        with pytest.raises(Refusal, match="finds no output"):
            search(model, source, 1500, penalty, 4, constraints=constraints)
        return
    result = search(model, source, 1500, penalty, 4, constraints=constraints)
    assert {hypothesis.ids: pytest.approx(hypothesis.score, abs=1e-4) for hypothesis in result.hypotheses} == scores
    assert scores[result.hypotheses[0].ids] == pytest.approx(max(scores.values()), abs=1e-4)


@given(st.integers(1, 9), st.sampled_from([1, 2, 5]), st.builds(Constraints, PHRASES), st.integers(0, 1))
def test_a_narrow_beam_meets_them_too_and_two_sentences_side_by_side(seed, width, constraints, spare):
    model, sources = untaught(vocab=6, seed=seed), SOURCES[:2]
    limits = [constraints.tokens + 1 + spare, 9]
    outputs = best(model, sources, limits, width, 0.6, constraints)
    assert all(meets(ids, constraints) for ids in outputs)
    alone = [search(model, *each, constraints=constraints) for each in zip(sources, [width] * 2, [0.6] * 2, limits, strict=True)]
    assert outputs == [result.hypotheses[0].ids for result in alone]
    without = Constraints(must_not=(outputs[0][-1:], outputs[1][:1])) if EOS not in (outputs[0][-1], outputs[1][0]) else Constraints()
    assert all(meets(ids, without) for ids in best(model, sources, limits, width, 0.6, without))

"""Accuracy at each length, counted by hand, and the sentences about it."""

import numpy as np
import pytest

from playground.inspection.lengths import exact_facts, line_fact, reach, token_facts

NAN = np.nan


def row(text, whole=None):
    """ "110" is a target of two tokens that are right, and an end that is not."""
    right = np.array([mark == "1" for mark in text])
    return right, bool(right.all()) if whole is None else whole


def of(shares, each=10):
    """A reach in which this share of `each` sentences is right at each length, but for the first token; None where there are none."""
    rows = []
    for length, share in enumerate(shares, 1):
        if share is not None:
            right = round(share * each)
            rows += [row("1" * (length + 1))] * right + [row("0" + "1" * length)] * (each - right)
    return reach(rows, len(shares))


@pytest.mark.trust
def test_counted_by_hand():
    result = reach([row("11"), row("01"), row("1101"), row("1111"), row("0111", whole=True)], 4)
    assert result.counts.tolist() == [2, 0, 3, 0]
    np.testing.assert_array_equal(result.exact, [0.5, NAN, 2 / 3, NAN])  # the last one is right by another answer
    np.testing.assert_array_equal(
        result.tokens,
        [[0.5, NAN, 2 / 3, NAN], [1, NAN, 1, NAN], [NAN, NAN, 2 / 3, NAN], [NAN, NAN, 1, NAN], [NAN, NAN, NAN, NAN]],
    )
    assert reach([row("1111")], 1).tokens.shape == (4, 3)


@pytest.mark.parametrize(("shares", "trained", "keys", "values"), [
    ([0.5, 1, 1], (2, 3), "trained shorter end", {}),
    ([0, 0.5, 1, 1], (3, 4), "trained shorter end", {"shorter": {"percent": 25, "low": 3}}),
    ([1, 1, 0.5], (1, 2), "trained next", {}),
    ([1, 0.5, 0.4, 0.2, 0, 0], (1, 2), "trained beyond",
     {"trained": {"percent": 75, "low": 1, "high": 2}, "beyond": {"length": 3, "percent": 40, "zero": 5}}),
    ([1, 1, 0.5, 0, 0.1], (1, 2), "trained alive", {"alive": {"length": 3, "percent": 50, "last": 5, "left": 10}}),
    ([1, None, 1, 0, 0], (1, 3), "trained missing none", {}),
    ([1, None, 1, None, 1], (1, 5), "trained missing end", {"missing": {"lengths": ("2", "4")}}),
    ([1, *[None] * 9, 1], (1, 11), "trained missing end", {"missing": {"lengths": ("2", "3", "4", "5", "6", "7", "…")}}),
])  # fmt: skip
def test_what_is_said_of_lengths(shares, trained, keys, values):
    facts = {fact.key.removeprefix("evaluation.lengths_"): fact.values for fact in exact_facts(of(shares), trained)}
    assert list(facts) == keys.split()
    assert {key: facts[key] for key in values} == values


def test_what_is_said_of_a_line_and_token_by_token():
    assert line_fact(of([1, 0.5, 0.4]), (1, 2)).values == {"percent": 75, "low": 1, "high": 2, "length": 3, "next": 40}
    assert line_fact(of([1, 0.5]), (1, 2)).key == "evaluation.line_end"
    inside, hardest = token_facts(of([1, 1, 0.5]), (1, 2))
    assert inside.values == {"percent": 100, "beyond": 88, "low": 1, "high": 2}  # of 4 tokens of each half, one is wrong
    assert hardest.values == {"length": 3, "place": 1, "percent": 50}
    assert [fact.key for fact in token_facts(of([1, 1, 1]), (1, 2))] == ["evaluation.tokens_beyond"]
    assert [fact.key for fact in token_facts(of([1, 1]), (1, 2))] == ["evaluation.tokens_trained"]

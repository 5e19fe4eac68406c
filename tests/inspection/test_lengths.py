"""What is right at which length, counted by hand, and the sentences about it."""

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


def test_it_is_as_wide_as_the_longest():
    assert reach([row("11")], 5).exact.shape == (5,)
    assert reach([row("1111")], 1).tokens.shape == (4, 3)


def keys(shares, trained):
    return [fact.key.removeprefix("evaluation.lengths_") for fact in exact_facts(of(shares), trained)]


def test_what_is_said_of_lengths():
    assert keys([1, 1, 1], (1, 3)) == ["trained", "end"]
    assert keys([0.5, 1, 1], (2, 3)) == ["trained", "shorter", "end"]
    assert keys([1, 1, 0.5], (1, 2)) == ["trained", "next"]
    assert keys([1, 1, 0, 0], (1, 2)) == ["trained", "none"]
    assert keys([1, 1, 0.5, 0.1, 0, 0], (1, 2)) == ["trained", "beyond"]
    assert keys([1, 1, 0.5, 0, 0.1], (1, 2)) == ["trained", "alive"]
    assert keys([1, None, 1, 0, 0], (1, 3)) == ["trained", "missing", "none"]
    assert keys([1, 1, None, None], (1, 4)) == ["trained", "missing", "end"]


def test_the_numbers_in_the_sentences():
    trained, beyond = exact_facts(of([1, 0.5, 0.4, 0.2, 0, 0]), (1, 2))
    assert trained.values == {"percent": 75, "low": 1, "high": 2}
    assert beyond.values == {"length": 3, "percent": 40, "zero": 5}
    alive = exact_facts(of([1, 1, 0.5, 0, 0.1]), (1, 2))[-1]
    assert alive.values == {"length": 3, "percent": 50, "last": 5, "left": 10}
    shorter = exact_facts(of([0, 0.5, 1, 1]), (3, 4))[1]
    assert shorter.values == {"percent": 25, "low": 3}
    assert exact_facts(of([1, None, 1, None, 1]), (1, 5))[1].values == {"lengths": ("2", "4")}
    assert exact_facts(of([1, *[None] * 9, 1]), (1, 11))[1].values == {"lengths": ("2", "3", "4", "5", "6", "7", "…")}
    assert line_fact(of([1, 0.5, 0.4]), (1, 2)).values == {"percent": 75, "low": 1, "high": 2, "length": 3, "next": 40}
    assert line_fact(of([1, 0.5]), (1, 2)).key == "evaluation.line_end"


def test_token_by_token():
    result = of([1, 1, 0.5])
    inside, hardest = token_facts(result, (1, 2))
    assert inside.values == {"percent": 100, "beyond": 88, "low": 1, "high": 2}  # of 4 tokens of each half, one is wrong
    assert hardest.values == {"length": 3, "place": 1, "percent": 50}
    assert [fact.key for fact in token_facts(of([1, 1, 1]), (1, 2))] == ["evaluation.tokens_beyond"]
    assert [fact.key for fact in token_facts(of([1, 1]), (1, 2))] == ["evaluation.tokens_trained"]

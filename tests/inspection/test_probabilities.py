"""How sure a step is."""

import numpy as np
import pytest

from playground.inspection import probabilities

NAMES = ["<pad>", "a", "b", "c"]
SURE, TORN, LEANS = [0.0, 0.05, 0.95, 0.0], [0.0, 0.5, 0.5, 0.0], [0.05, 0.7, 0.2, 0.05]


def test_the_likeliest_come_first_and_ties_in_the_order_of_ids():
    assert probabilities.top(np.array(LEANS), 3) == [(1, 0.7), (2, 0.2), (0, 0.05)]
    assert probabilities.top(np.array(TORN), 10) == [(1, 0.5), (2, 0.5), (0, 0.0), (3, 0.0)]


def test_rank_is_the_place_in_that_order():
    for distribution in (SURE, TORN, LEANS):
        order = [token for token, _ in probabilities.top(np.array(distribution), 4)]
        assert [probabilities.rank(distribution, token) for token in order] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("distribution", "key", "values"),
    [
        (SURE, "sure", {"token": "b", "percent": 95, "second": "a", "other": 5, "effective": "1.2"}),
        (TORN, "torn", {"token": "a", "percent": 50, "second": "b", "other": 50, "effective": "2.0"}),
        (LEANS, "leans", {"token": "a", "percent": 70, "second": "b", "other": 20, "effective": "2.4"}),
    ],
)
def test_how_sure_a_step_is(distribution, key, values):
    assert probabilities.facts(np.array(distribution), NAMES) == (f"figures.{key}", values)

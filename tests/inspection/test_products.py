"""What is said of the products behind one score."""

import numpy as np
import pytest

from playground.inspection import products


@pytest.mark.parametrize(
    ("values", "count"),
    [([3, -1, 1], 1), ([1, 1, 1, 1], 3), ([-5, 4, 1], 2), ([-6, 4, 1], 1), ([4, 4, 1], 2), ([0, 0], 0), ([2], 1)],
)
def test_carriers_by_hand(values, count):
    assert products.carriers(np.array(values, dtype=float)) == count


def test_what_is_said_of_a_pair():
    query, key, scores = np.array([1.0, -2.0]), np.array([3.0, 1.0]), np.array([0.5, -4.0, 9.0])
    seen = np.array([True, True, False])
    fact = products.product_fact(query, key, scores, seen, 0)
    assert fact == ("heads.product_caption", {"strong": 1, "dims": 2, "low": "−4.00", "high": "0.50"})  # the masked score isn't counted
    assert products.product_fact(query, key, scores, seen, 2).key == "heads.product_masked"
    assert products.product_fact(query, key, scores, np.array([True, False, False]), 0).key == "heads.product_alone"

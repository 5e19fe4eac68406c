"""Truths about the lab of rotary positions."""

import math

import pytest
import torch

from playground.lessons.tensors import rotary as lab


def test_a_pair_of_numbers_is_turned_by_the_angle_of_its_distance():
    """Two numbers are one point of the plane, turned by 1 radian for each place: q . k is |q| |k| cos(angle + distance)."""
    q = k = torch.tensor([1.0, 0.0])
    products = lab.rotary_products(q, k, 5)
    assert all(products[m, n].item() == pytest.approx(math.cos(m - n), abs=1e-6) for m in range(5) for n in range(5))


def test_distance_0_leaves_the_product_as_it_was():
    q, k = torch.randn(2, lab.WIDTH)
    torch.testing.assert_close(lab.rotary_products(q, k, 30).diagonal(), (q @ k).expand(30), atol=1e-5, rtol=0)


@pytest.mark.parametrize("distance", lab.LAB.controls[0].choices)
@pytest.mark.parametrize("seed", range(5))
def test_what_the_prose_says(seed, distance):
    outcome = lab.run(seed, distance)
    assert outcome.answer == "same"
    assert outcome.numbers["product"] == pytest.approx(outcome.numbers["moved"], abs=1e-4)
    assert outcome.numbers["spread_added"] > 100 * outcome.numbers["spread"]

"""Truths about what bug labs show beside the metrics."""

import math

import pytest
import torch
from torch.nn import functional as F

from playground.lessons import bug_exhibits as lab
from playground.lessons.controlled import Result
from playground.lessons.labs import LABS
from playground.model.attention import scaled_dot_product_attention
from playground.model.parts import Dropout
from playground.runs.queue import train_inline
from playground.variants.bugs import scaled_twice

OFF = Dropout(0.0, torch.Generator())


def divided(seed: int):
    bug = LABS["bug_scale"]
    return bug.divided(Result("right", seed, train_inline.new_run(bug.experiment("right", seed)), {}, {}))


def test_the_divisors_are_those_of_the_functions():
    """The paper's attention, the bug of this lab, and torch's own function given the scale that the other bug writes."""
    q, k, v = torch.randn(3, 2, 5, 8)
    mask = torch.ones(2, 5, 5, dtype=torch.bool)
    ways = (
        scaled_dot_product_attention(q, k, v)[0],
        scaled_twice(q, k, v, mask, 0.5, OFF)[0],
        F.scaled_dot_product_attention(q, k, v, scale=(q.size(-1) // 4) ** -0.5),
    )
    for divisor, found in zip(lab.divisors(8, 4).values(), ways, strict=True):
        torch.testing.assert_close((q @ k.mT / divisor).softmax(dim=-1) @ v, found)


def test_by_hand():
    assert list(lab.divisors(8, 4).values()) == pytest.approx([math.sqrt(8), 8, math.sqrt(2)])


@pytest.mark.parametrize("seed", range(1, 6))
def test_dividing_twice_is_too_little_and_dividing_by_a_part_too_much(seed):
    table = divided(seed)
    deviations, largest = ([float(row[column]) for row in table.rows] for column in (2, 3))
    assert deviations[0] == pytest.approx(1, abs=0.1)
    assert deviations[1] < 0.5 < 1.5 < deviations[2]
    assert largest[1] < largest[0] < largest[2]
    assert table.said["times"] == pytest.approx(2)
    assert (table.said["d_k"], table.said["heads"]) == (8, 4)

"""Truths about what bug labs show beside the metrics."""

import pytest
import torch
from torch.nn import functional as F

from playground.choices import BUGS
from playground.inspection.counting import counted_parameters
from playground.lessons import bug_exhibits as lab
from playground.lessons.controlled import Result
from playground.lessons.labs import LABS
from playground.model.attention import scaled_dot_product_attention
from playground.model.parts import Dropout
from playground.runs.queue import train_inline
from playground.variants.bugs import scaled_twice, without_cross_attention
from tests.training.corpora import training_of

OFF = Dropout(0.0, torch.Generator())


def test_the_divisors_are_those_of_the_functions_and_dividing_by_a_part_is_too_little():
    """The paper's attention, the bug of this lab, and torch's own function given the scale that the other bug writes."""
    q, k, v = torch.randn(3, 2, 5, 8)
    mask = torch.ones(2, 5, 5, dtype=torch.bool)
    ways = (
        scaled_dot_product_attention(q, k, v)[0],
        scaled_twice(q, k, v, mask, 0.5, OFF)[0],
        F.scaled_dot_product_attention(q, k, v, scale=(q.size(-1) // 4) ** -0.5),
    )
    for divisor, outcome in zip(lab.divisors(8, 4).values(), ways, strict=True):
        torch.testing.assert_close((q @ k.mT / divisor).softmax(dim=-1) @ v, outcome)
    bug = LABS["bug_scale"]
    table = bug.divided(Result("right", 1, train_inline.new_run(bug.experiment("right", 1)), {}, {}))
    deviations, largest = ([float(row[column]) for row in table.rows] for column in (2, 3))
    assert deviations[0] == pytest.approx(1, abs=0.1)
    assert deviations[1] < 0.5 < 1.5 < deviations[2]
    assert largest[1] < largest[0] < largest[2]


INSIDE = ("none", "unchained_layers", "shared_attention")  # where something else is to be seen than in all others


@pytest.mark.parametrize("variant", [*INSIDE, *(pytest.param(bug, marks=pytest.mark.night) for bug in BUGS if bug not in INSIDE)])
def test_only_an_unchained_layer_gets_no_gradient_and_only_a_shared_attention_has_fewer_parameters(variant):
    """And the table has 0 only where nothing arrives."""
    training = training_of(variant=variant, decoder_layers=2)
    inside = lab.inside(training.model.eval(), training.corpus)
    assert [gradient == 0 for gradient in inside["gradients"]] == [variant == "unchained_layers", False]
    model = training_of(decoder_layers=2).model
    fewer = without_cross_attention(model.config) if variant == "shared_attention" else 0
    assert inside["parameters"] == [sum(counted_parameters(model).values()) + fewer]
    table = LABS["bug_chain"].inside([[Result("right", 1, None, {}, {}, {"parameters": [900], "gradients": (0.0, 1e-9)})]])
    assert table.rows == (("right", "1", "900", "0", "1e-09"),)

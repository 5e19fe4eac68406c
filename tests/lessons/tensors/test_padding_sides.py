"""Truths about the lab of padding on the left and on the right."""

import pytest
import torch

from playground.config import PAD
from playground.lessons.tensors import padding_sides as lab


def test_positions_by_hand():
    left = lab.padded((4, 5, 6), 2, "left")
    assert left.tolist() == [[PAD, PAD, 4, 5, 6]]
    assert lab.counted_from_the_edge(left).tolist() == [[0, 1, 2, 3, 4]]
    assert lab.counted_from_the_first(left).tolist() == [[0, 0, 0, 1, 2]]
    assert lab.counted_from_the_first(lab.padded((4, 5, 6), 2, "right"))[0, :3].tolist() == [0, 1, 2]


@pytest.mark.parametrize("pads", lab.LAB.controls[0].choices)
@pytest.mark.parametrize("seed", range(3))
def test_what_the_prose_says(seed, pads):
    outcome = lab.run(seed, pads)
    assert outcome.answer == "right"
    assert max(outcome.numbers["right"], outcome.numbers["left_first"]) < 1e-5
    assert min(outcome.numbers["left_edge"], outcome.numbers["unmasked"]) > 1e-3


def test_padding_gets_no_gradient_through_a_mask_and_padding_idx_hides_a_missing_one():
    rows = torch.randn(lab.SIZE, lab.WIDTH)
    assert lab.gradient_of_padding(rows, masked=True, padding_idx=None) == 0
    assert lab.gradient_of_padding(rows, masked=False, padding_idx=None) > 0
    assert lab.gradient_of_padding(rows, masked=False, padding_idx=PAD) == 0

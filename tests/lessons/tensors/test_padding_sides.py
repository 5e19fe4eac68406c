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


@pytest.mark.parametrize("seed", range(3))
def test_the_row_of_padding_is_zeros_and_stays_so(seed):
    """As torch makes the table, and however it is trained; the row of a token moves."""
    assert not torch.nn.Embedding(lab.SIZE, lab.WIDTH, padding_idx=PAD).weight[PAD].any()
    said = lab.run(seed, 2).exhibits[-1].said
    assert (said["pad_before"], said["pad_after"]) == (0, 0)
    assert said["token_before"] > 1
    assert abs(said["token_after"] - said["token_before"]) > 1e-3


def test_without_padding_idx_the_row_would_move(monkeypatch):
    monkeypatch.setattr(lab, "Embedding", lambda size, width, padding_idx: torch.nn.Embedding(size, width))
    found = lab.norms_with_padding_idx(torch.randn(lab.SIZE, lab.WIDTH))
    assert found["pad_before"] > 0
    assert found["pad_after"] != found["pad_before"]

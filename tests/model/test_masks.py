import torch

from playground.config import PAD
from playground.model.masks import causal_mask, padding_mask, target_mask


def test_padding_mask_hides_padding_from_everyone():
    tokens = torch.tensor([[5, 6, PAD], [7, PAD, PAD]])
    assert padding_mask(tokens).tolist() == [[[[True, True, False]]], [[[True, False, False]]]]


def test_causal_mask_shows_oneself_and_the_past():
    assert causal_mask(3).tolist() == [[[[True, False, False], [True, True, False], [True, True, True]]]]


def test_target_mask_is_both():
    tgt_in = torch.tensor([[1, 8, PAD]])
    assert target_mask(tgt_in).tolist() == [[[[True, False, False], [True, True, False], [True, True, False]]]]


def test_shapes_are_ready_for_all_heads():
    tokens = torch.ones(2, 5, dtype=torch.long)
    assert padding_mask(tokens).shape == (2, 1, 1, 5)
    assert causal_mask(5).shape == (1, 1, 5, 5)
    assert target_mask(tokens).shape == (2, 1, 5, 5)

import torch

from playground.config import PAD
from playground.model.masks import causal_mask, padding_mask, target_mask


def test_masks_by_hand():
    """(B, 1, L or 1, L), ready for all heads."""
    tokens = torch.tensor([[5, 6, PAD], [7, PAD, PAD]])
    assert padding_mask(tokens).tolist() == [[[[True, True, False]]], [[[True, False, False]]]]
    assert causal_mask(3).tolist() == [[[[True, False, False], [True, True, False], [True, True, True]]]]
    assert target_mask(tokens[:1]).tolist() == [[[[True, False, False], [True, True, False], [True, True, False]]]]

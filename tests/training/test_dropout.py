"""The masks of a training step, beside the model's own."""

import pytest
import torch

from playground.model.parts import drawn_multipliers
from playground.training.dropout import LEVELS, fast_multipliers


@pytest.mark.parametrize("p", [0.05, 0.1, 0.5])
def test_just_that_share_of_all_levels_is_dropped_and_the_rest_divided_by_what_is_kept(p, monkeypatch):
    """Given every one of the integers once, so nothing is left to chance."""
    every = torch.arange(-(2**15), 2**15, dtype=torch.int16)
    monkeypatch.setattr(torch.Tensor, "random_", lambda longs, *_, **__: longs.copy_(every.view(torch.int64)))
    multipliers = fast_multipliers(torch.empty(LEVELS), p, torch.Generator())
    dropped = (multipliers == 0).sum().item() / LEVELS
    assert dropped == pytest.approx(p, abs=1 / (2 * LEVELS))
    assert multipliers.max().item() == pytest.approx(1 / (1 - dropped))
    assert multipliers.double().mean().item() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("shape", [(7,), (3, 5, 9), (1, 1), (0, 4)])
def test_they_are_of_the_shape_and_about_the_size_of_the_models_own(shape):
    generator = torch.Generator().manual_seed(1)
    assert fast_multipliers(torch.empty(shape, dtype=torch.bfloat16), 0.5, generator).dtype == torch.bfloat16
    fast, own = (draw(torch.empty(shape), 0.3, generator) for draw in (fast_multipliers, drawn_multipliers))
    assert (fast.shape, fast.dtype) == (own.shape, own.dtype)
    assert all(number == 0 or number == pytest.approx(1 / 0.7, rel=1e-4) for number in fast.flatten().tolist())

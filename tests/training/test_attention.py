"""Attention of a training step, beside the model's own and torch's dropout."""

import pytest
import torch

from playground.model.attention import scaled_dot_product_attention
from playground.model.parts import Dropout
from playground.training.attention import training_attention


def draw(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("power", [0.0, 0.5])
@pytest.mark.parametrize("width", [4, 6])
def test_it_is_the_attention_of_the_model_with_all_its_gradients(dropout, power, width):
    mask = draw(2, 1, 5, 7, seed=3) > -0.5
    mask[1, 0, 3] = False
    ours = [draw(2, 3, *size, seed=n).requires_grad_() for n, size in enumerate(((5, width), (7, width), (7, 4)))]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    found = []
    for attend, given in ((training_attention, ours), (scaled_dot_product_attention, theirs)):
        out, _ = attend(*given, mask, power, Dropout(dropout, torch.Generator().manual_seed(4)).train())
        (out * draw(*out.shape, seed=9)).sum().backward()
        found.append(out)
    torch.testing.assert_close(*found)
    assert (found[0][1, :, 3] == 0).all(), "a query that sees nothing gets nothing"
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, other.grad)


@pytest.mark.filterwarnings("ignore:Dropout mask")
def test_its_dropout_is_torch_s_where_the_masks_are_the_same():
    """Torch's attention takes the mask that ours drew."""
    given = [draw(2, 2, 6, 4, seed=n).requires_grad_() for n in range(3)]
    dropout, every = Dropout(0.25, torch.Generator().manual_seed(1)).train(), torch.ones(2, 1, 6, 6, dtype=torch.bool)
    out, _ = training_attention(*given, every, 0.5, dropout)
    dropout.generator.manual_seed(1)
    kept = dropout.multipliers(torch.empty(2, 2, 6, 6)) > 0
    assert 0 < int(kept.sum()) < kept.numel()
    expected, _ = torch._scaled_dot_product_attention_math(*given, dropout_p=0.25, dropout_mask=kept)
    torch.testing.assert_close(out, expected)
    for ours, theirs in zip(*(torch.autograd.grad(one.square().sum(), given) for one in (out, expected)), strict=True):
        torch.testing.assert_close(ours, theirs)

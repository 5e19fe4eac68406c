"""Attention, dropout and products of a training step, beside the model's own and torch's."""

import pytest
import torch
from torch.nn import functional as F

from playground.model.attention import scaled_dot_product_attention
from playground.model.parts import Dropout
from playground.training import products
from playground.training.attention import training_attention
from playground.training.dropout import LEVELS, fast_multipliers
from playground.training.products import fast_linear, has_onednn
from tests.variants.varied import draw


@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("power", [{"power": 0.0}, {}], ids=str)
@pytest.mark.parametrize("width", [4, 6])
def test_it_is_the_attention_of_the_model_with_all_its_gradients(dropout, power, width):
    mask = draw(2, 1, 5, 7, seed=3) > -0.5
    mask[1, 0, 3] = False
    ours = [draw(2, 3, *size, seed=n).requires_grad_() for n, size in enumerate(((5, width), (7, width), (7, 4)))]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    found = []
    for attend, given in ((training_attention, ours), (scaled_dot_product_attention, theirs)):
        out, _ = attend(*given, mask, dropout=Dropout(dropout, torch.Generator().manual_seed(4)).train(), **power)
        (out * draw(*out.shape, seed=9)).sum().backward()
        found.append(out)
    torch.testing.assert_close(*found)
    assert (found[0][1, :, 3] == 0).all(), "a query that sees nothing gets nothing"
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, other.grad)


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


@pytest.mark.skipif(not has_onednn(), reason="torch is built without oneDNN")
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize(("rows", "inner", "outer"), [((9, 25), 16, 40), ((300,), 40, 16), ((11, 13), 8, 8), ((2, 3), 8, 8)])
def test_the_linear_map_and_its_gradients_are_torch_s(rows, inner, outer, biased, monkeypatch):
    monkeypatch.setattr(products, "LARGE", 0)
    generator = torch.Generator().manual_seed(1)
    given = [torch.randn(*shape, generator=generator, requires_grad=True) for shape in ((*rows, inner), (outer, inner), (outer,))]
    given = given if biased else given[:2]
    found = []
    for linear in (fast_linear, F.linear):
        out = linear(*given)
        found.append((out, *torch.autograd.grad((out * out.detach().cos()).sum(), given)))
    for ours, theirs in zip(*found, strict=True):
        assert ours.shape == theirs.shape
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)

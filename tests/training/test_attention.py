"""Attention, dropout and products of a training step, beside the model's own and torch's."""

import pytest
import torch
from torch.nn import functional as F

from playground.model.attention import scaled_dot_product_attention
from playground.model.parts import Dropout
from playground.training import replicas
from playground.training.replicas import LEVELS, FastDropout, fast_attention, fast_linear, has_onednn
from tests.variants.varied import draw


@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("power", [0.0, 0.5, 0.7])
@pytest.mark.parametrize("width", [4, 6])
@pytest.mark.parametrize("masked", [True, False])
def test_it_is_the_attention_of_the_model_with_all_its_gradients(dropout, power, width, masked):
    mask = draw(2, 1, 5, 7, seed=3) > -0.5 if masked else None
    if masked:
        mask[1, 0, 3] = False
    ours = [draw(2, 3, *size, seed=n).requires_grad_() for n, size in enumerate(((5, width), (7, width), (7, 4)))]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    results = []
    for attend, tensors in ((fast_attention, ours), (scaled_dot_product_attention, theirs)):
        out, _ = attend(*tensors, mask, power, Dropout(dropout, torch.Generator().manual_seed(4)).train())
        (out * draw(*out.shape, seed=9)).sum().backward()
        results.append(out)
    torch.testing.assert_close(*results)
    assert not masked or (results[0][1, :, 3] == 0).all(), "a query that sees nothing gets nothing"
    torch.testing.assert_close([tensor.grad for tensor in ours], [tensor.grad for tensor in theirs])


def test_with_dropout_and_no_mask_it_draws_from_the_owned_generator():
    tensors = [draw(2, 3, 5, 4, seed=n) for n in range(3)]
    plain, weights = scaled_dot_product_attention(*tensors, power=1.0)
    (first, before), (other, same) = (
        attend(*tensors, None, 1.0, Dropout(0.5, torch.Generator().manual_seed(4)).train())
        for attend in (scaled_dot_product_attention, fast_attention)
    )
    assert (torch.equal(first, other), torch.equal(before, same), torch.allclose(first, plain)) == (True, True, False)
    assert torch.equal(before, weights), "the weights returned are those before dropout"


@pytest.mark.parametrize("p", [0.05, 0.1, 0.5])
def test_just_that_share_of_all_levels_is_dropped_and_the_rest_divided_by_what_is_kept(p, monkeypatch):
    """Given every one of the integers once, so nothing is left to chance."""
    every = torch.arange(-(2**15), 2**15, dtype=torch.int16)
    monkeypatch.setattr(torch.Tensor, "random_", lambda longs, *_, **__: longs.copy_(every.view(torch.int64)))
    multipliers = FastDropout(p, torch.Generator()).multipliers(torch.empty(LEVELS))
    dropped = (multipliers == 0).sum().item() / LEVELS
    assert dropped == pytest.approx(p, abs=1 / (2 * LEVELS))
    assert multipliers.max().item() == pytest.approx(1 / (1 - dropped))
    assert multipliers.double().mean().item() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.skipif(not has_onednn(), reason="torch is built without oneDNN")
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize(("rows", "inner", "outer"), [((9, 25), 16, 40), ((300,), 40, 16), ((11, 13), 8, 8), ((2, 3), 8, 8)])
def test_the_linear_map_and_its_gradients_are_torch_s(rows, inner, outer, biased, monkeypatch):
    monkeypatch.setattr(replicas, "LARGE", 0)
    generator = torch.Generator().manual_seed(1)
    inputs = [torch.randn(*shape, generator=generator, requires_grad=True) for shape in ((*rows, inner), (outer, inner), (outer,))]
    inputs = inputs if biased else inputs[:2]
    results = []
    for linear in (fast_linear, F.linear):
        out = linear(*inputs)
        results.append((out, *torch.autograd.grad((out * out.detach().cos()).sum(), inputs)))
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-4)

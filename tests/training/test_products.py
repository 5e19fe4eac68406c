"""Products by oneDNN, beside torch's own."""

import pytest
import torch
from torch.nn import functional as F

from playground.training import products
from playground.training.products import available, fast_linear
from tests.training.corpora import training_of

pytestmark = pytest.mark.skipif(not available(), reason="torch is built without oneDNN")


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


def test_few_shapes_come_to_be_compiled(monkeypatch):
    compiled, product = set(), products._product
    monkeypatch.setattr(products, "_product", lambda x, weight, bias=None: compiled.add(x.shape) or product(x, weight, bias))
    monkeypatch.setattr(products, "LARGE", 0)
    weight = torch.ones(8, 8)
    with torch.no_grad():
        for rows in range(512, 1024):
            assert fast_linear(torch.ones(rows, 8), weight).shape == (rows, 8)
    assert len(compiled) <= products.SIZES + 1
    assert max(rows for rows, _ in compiled) == 1024


def test_a_training_computes_its_wide_products_so_and_no_narrow_one(monkeypatch):
    asked, product = set(), products._product
    monkeypatch.setattr(products, "_product", lambda x, weight, bias=None: asked.add(tuple(weight.shape)) or product(x, weight, bias))
    monkeypatch.setattr(products, "LARGE", 16 * 24)
    next(training_of(steps=1, batch_size=64, threads=1, d_model=16, d_ff=24).steps())
    assert {(24, 16), (16, 24)} <= asked, "W_1 and W_2, and their transposes backwards"
    assert (16, 16) not in asked

"""The worked examples: what each computes is torch's or the model's. What they say, of differences to torch too, holds: test_labs.py."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from playground.config import PAD
from playground.lessons.tensors import (
    layer_norm,
    loss,
    norms,
    padding_sides,
    residuals,
    softmax,
)
from playground.training.loss import cross_entropy


@pytest.mark.parametrize("eps", [0.0, 0.1, 0.3])
def test_the_masked_loss_is_torchs_cell_by_cell_in_the_mean_and_smoothed(eps):
    logits, tgt_out = torch.randn(2, 6, len(loss.VOCABULARY)), loss.batch()[1]
    flat, right = logits.flatten(0, 1), tgt_out.flatten()
    torch.testing.assert_close(loss.cell_losses(logits, tgt_out), F.cross_entropy(flat, right, reduction="none").view_as(tgt_out))
    expected = F.cross_entropy(flat, right), F.cross_entropy(flat, right, ignore_index=PAD)
    assert loss.means(logits, tgt_out) == pytest.approx([mean.item() for mean in expected])
    assert [loss.renamed(logits, tgt_out, index) for index in (PAD, -100, 99)] == pytest.approx([expected[1].item()] * 3)
    theirs = F.cross_entropy(flat, right, ignore_index=PAD, label_smoothing=eps)
    torch.testing.assert_close(loss.by_hand(logits, tgt_out, eps), theirs)
    torch.testing.assert_close(cross_entropy(logits, tgt_out, eps), theirs)
    first = torch.randn(7, 7, generator=torch.Generator().manual_seed(1)) * 0.1
    for counted in (False, True):
        assert torch.equal(loss.learn(1, counted=counted)[1, -1], first[PAD]) != counted, "padding ignored teaches nothing about padding"


def test_padding_gets_no_gradient_through_a_mask_and_padding_idx_hides_a_missing_one(monkeypatch):
    left, right = (padding_sides.padded((4, 5, 6), 2, side) for side in ("left", "right"))
    assert (left.tolist(), padding_sides.counted_from_the_edge(left).tolist()) == ([[PAD, PAD, 4, 5, 6]], [[0, 1, 2, 3, 4]])
    assert padding_sides.counted_from_the_first(left).tolist() == [[0, 0, 0, 1, 2]]
    assert padding_sides.counted_from_the_first(right)[0, :3].tolist() == [0, 1, 2]
    rows = torch.randn(padding_sides.SIZE, padding_sides.WIDTH)
    for masked, index, learns in ((True, None, False), (False, None, True), (False, PAD, False)):
        assert (padding_sides.gradient_of_padding(rows, masked=masked, padding_idx=index) > 0) == learns
    norms = padding_sides.norms_with_padding_idx(rows)
    assert (norms["pad_before"], norms["pad_after"]) == (0, 0), "the row of padding is zeros and stays so"
    assert abs(norms["token_after"] - norms["token_before"]) > 1e-3
    monkeypatch.setattr(padding_sides, "Embedding", lambda size, width, padding_idx: torch.nn.Embedding(size, width))
    norms = padding_sides.norms_with_padding_idx(rows)
    assert 0 < norms["pad_before"] != norms["pad_after"]


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("width", layer_norm.WIDTHS)
def test_the_two_layer_norms_are_torchs_and_differ_by_one_factor(width):
    x = draw(7, width) * 3 + 1
    theirs = nn.LayerNorm(width, eps=layer_norm.EPS, dtype=x.dtype)(x)
    torch.testing.assert_close(layer_norm.by_variance(x), theirs)
    torch.testing.assert_close(layer_norm.by_deviation(x), theirs * ((width - 1) / width) ** 0.5, rtol=2e-3, atol=1e-4)


def test_layer_norm_and_batch_norm_are_torchs_and_average_over_what_is_said():
    block = draw(2, 4, 4) * 3 + 1
    for kind, over in norms.AVERAGED.items():
        torch.testing.assert_close(norms.normalised(block, over)[0], norms.by_torch(block, kind))
        x = block.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(norms.normalised(x, over)[0][norms.CHOSEN], x)
        assert torch.equal(gradient.abs() > 1e-12, norms.company(x.shape, norms.CHOSEN, over))
    changed = norms.neighbours(block, torch.zeros(1, 4, 4, dtype=torch.float64))
    assert all(torch.equal(batch[0, :4], block[0]) for batch in changed.values())
    vector, weight = (torch.tensor(values, dtype=torch.float64) for values in ([1000.0, 0.1], [0.5, 2.0]))
    assert norms.through_linear(vector, weight) == pytest.approx([1000, 0.1, 500.2, 1000, 0.1])


@pytest.mark.parametrize(("connected", "norm"), [(True, "none"), (True, "post"), (False, "none")])
def test_the_gradient_is_the_product_of_the_layers_jacobians(connected, norm):
    """Backwards by hand for one token: from the last layer to the first, g <- J^T g."""
    (x, direction), residual = draw(2, 1, residuals.D), residuals.connection(connected)
    layers = residuals.sublayers(4, "xavier", torch.Generator().manual_seed(1))
    inputs = [x]
    for sublayer in layers:
        inputs.append(residuals.layer(inputs[-1], sublayer, residual, norm).detach())
    g = (direction / direction.norm()).flatten()
    for sublayer, entering in zip(reversed(layers), reversed(inputs[:-1]), strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda y, sublayer=sublayer: residuals.layer(y, sublayer, residual, norm), entering)
        g = jacobian.reshape(residuals.D, residuals.D).T @ g
    norms_reached = residuals.reaching(layers, residual, norm, x, direction)
    assert len(norms_reached) == 3  # after 1, 2 and 4 layers
    assert norms_reached[-1] == pytest.approx(g.norm().item())


def test_softmax_and_its_jacobian_are_torchs():
    scores = draw(20, 4) * 30
    torch.testing.assert_close(softmax.softmax(scores), scores.softmax(dim=-1))
    one = torch.tensor([0.3, -1.2, 2.0, 0.0], dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), one)
    torch.testing.assert_close(softmax.jacobian(softmax.softmax(one)), jacobian)
    scores = draw(20, 4, seed=1)
    largest = [softmax.jacobian(y).abs().max() for y in softmax.softmax(scores)]
    torch.testing.assert_close(softmax.steepest(scores), torch.stack(largest))
    raw, scaled = softmax.variances(64, 1)
    assert raw / 64 == pytest.approx(1, abs=6 * math.sqrt(2 / softmax.DRAWN))
    assert scaled == pytest.approx(raw / 64)

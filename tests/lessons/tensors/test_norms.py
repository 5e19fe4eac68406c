"""Truths about the lab of layer norm and batch norm."""

import pytest
import torch

from playground.lessons.tensors import norms as lab

BLOCK = torch.randn(2, 4, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 3 + 1


@pytest.mark.parametrize("kind", lab.AVERAGED)
def test_both_norms_are_torchs(kind):
    torch.testing.assert_close(lab.normalised(BLOCK, lab.AVERAGED[kind])[0], lab.by_torch(BLOCK, kind))


def test_by_hand():
    """1 and 3 have mean 2 and variance 1: they become -1 and 1, but for what keeps zero from being divided by."""
    y, mean, variance = lab.normalised(torch.tensor([[[1.0, 3.0]]], dtype=torch.float64), (2,))
    assert (mean.item(), variance.item()) == (2, 1)
    assert y.flatten().tolist() == pytest.approx([-1, 1], abs=1e-5)


def test_the_company_is_what_moves_the_cell():
    """The gradient of a normalised cell is not 0 exactly where the cells are said to be averaged with it."""
    for over in lab.AVERAGED.values():
        x = BLOCK.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(lab.normalised(x, over)[0][lab.CHOSEN], x)
        assert torch.equal(gradient.abs() > 1e-12, lab.company(x.shape, lab.CHOSEN, over))


def test_the_first_sentence_itself_does_not_change():
    changed = lab.neighbours(BLOCK, torch.zeros(1, 4, 4, dtype=torch.float64))
    assert all(torch.equal(batch[0, :4], BLOCK[0]) for batch in changed.values())
    assert changed["padding"].shape == (2, 4 + lab.PADDING, 4)


def test_what_a_linear_layer_sees():
    weight = torch.tensor([0.5, 2.0], dtype=torch.float64)
    assert lab.through_linear(torch.tensor([1000.0, 0.1], dtype=torch.float64), weight) == pytest.approx([1000, 0.1, 500.2, 1000, 0.1])


def test_what_the_prose_says():
    for seed in range(10):
        for norm in lab.AVERAGED:
            outcome = lab.run(seed, norm)
            shown = {exhibit.name: exhibit for exhibit in outcome.exhibits}
            assert outcome.answer == "batch"
            assert outcome.numbers["layer_padding"] == outcome.numbers["layer_sentence"] == 0
            assert shown["neighbours"].values[1].tolist() == [outcome.numbers["batch_padding"], outcome.numbers["batch_sentence"]]
            assert abs(shown["statistics"].values[:, 2]).max() < 1e-12
            assert shown["statistics"].values[:, 3] == pytest.approx(1, abs=0.01)
            said = shown["company"].said
            assert said["result"] == pytest.approx((said["value"] - said["mean"]) / said["variance"] ** 0.5, abs=1e-3)
            assert said["raw"] == pytest.approx(10_000)
            assert shown["linear"].values[1, :2] == pytest.approx([1, -1], abs=1e-4)

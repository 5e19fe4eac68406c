"""Truths about the lab of the masked loss."""

import math

import pytest
import torch
from torch.nn import functional as F

from playground.config import PAD
from playground.lessons.tensors import loss as lab
from playground.training.loss import cross_entropy


def exhibit(outcome, name):
    return next(shown for shown in outcome.exhibits if shown.name == name)


def drawn():
    return torch.randn(2, 6, len(lab.VOCABULARY), generator=torch.Generator().manual_seed(1)), lab.batch()[1]


def test_the_surprise_is_torchs():
    logits, tgt_out = drawn()
    expected = F.cross_entropy(logits.flatten(0, 1), tgt_out.flatten(), reduction="none").view_as(tgt_out)
    torch.testing.assert_close(lab.cell_losses(logits, tgt_out), expected)


def test_the_means_are_torchs_with_and_without_ignore_index():
    logits, tgt_out = drawn()
    flat, right = logits.flatten(0, 1), tgt_out.flatten()
    expected = F.cross_entropy(flat, right), F.cross_entropy(flat, right, ignore_index=PAD)
    assert lab.means(logits, tgt_out) == pytest.approx([mean.item() for mean in expected])
    assert lab.means(logits, tgt_out)[1] == pytest.approx(cross_entropy(logits, tgt_out).item())


def test_by_hand():
    """Two tokens, each with half of the probability: ln 2. Smoothed by 0.2, the right one is asked to get 0.9, the other 0.1."""
    logits, right = torch.zeros(1, 1, 2), torch.tensor([[1]])
    assert lab.cell_losses(logits, right).item() == pytest.approx(math.log(2))
    assert lab.smoothed(right, 2, 0.2).flatten().tolist() == pytest.approx([0.1, 0.9])
    assert lab.by_hand(torch.tensor([[[0.0, math.log(3)]]]), right, 0.2).item() == pytest.approx(
        -0.1 * math.log(1 / 4) - 0.9 * math.log(3 / 4)
    )


@pytest.mark.parametrize("eps", [0.0, 0.1, 0.3])
def test_the_smoothed_loss_is_torchs_and_this_programs(eps):
    logits, tgt_out = drawn()
    torchs = F.cross_entropy(logits.flatten(0, 1), tgt_out.flatten(), ignore_index=PAD, label_smoothing=eps)
    torch.testing.assert_close(lab.by_hand(logits, tgt_out, eps), torchs)
    torch.testing.assert_close(lab.by_hand(logits, tgt_out, eps), cross_entropy(logits, tgt_out, eps))
    torch.testing.assert_close(lab.smoothed(tgt_out, 7, eps).sum(dim=-1), torch.ones(2, 6))


@pytest.mark.parametrize("eps", [0.0, 0.1, 0.3])
def test_the_least_loss_is_where_the_model_gives_what_is_asked_for(eps):
    tgt_out = lab.batch()[1]
    target = lab.smoothed(tgt_out, len(lab.VOCABULARY), eps)
    least = exhibit(lab.run(1, eps), "smoothed").said["least"]
    assert lab.by_hand(target.clamp(min=1e-30).log(), tgt_out, eps).item() == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize("index", [PAD, -100, -1, 99])
def test_any_number_can_stand_for_padding(index):
    logits, tgt_out = drawn()
    assert lab.renamed(logits, tgt_out, index) == pytest.approx(lab.means(logits, tgt_out)[1])
    assert lab.TORCHS_OWN == -100 == torch.nn.CrossEntropyLoss().ignore_index


def test_padding_ignored_teaches_nothing_about_padding():
    first = torch.randn(7, 7, generator=torch.Generator().manual_seed(1)) * 0.1
    assert torch.equal(lab.learn(1, counted=False)[1, -1], first[PAD])
    assert not torch.equal(lab.learn(1, counted=True)[1, -1], first[PAD])


def test_what_the_prose_says():
    for seed in range(20):
        outcome = lab.run(seed, 0.1)
        numbers = outcome.numbers
        assert outcome.answer == "smaller"
        assert numbers["padding"] < 0.2 < numbers["tokens"]
        assert numbers["all_cells"] < numbers["all_cells_correct"]
        assert numbers["tokens"] > numbers["tokens_correct"]  # what is counted besides takes its share of each step
        assert numbers["padding_correct"] > numbers["all_cells_correct"] > numbers["tokens_correct"]
        assert numbers["difference"] < 1e-6
        assert exhibit(outcome, "ignored").said["spread"] < 1e-6

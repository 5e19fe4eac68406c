"""Truths about the lab of embedding and generator."""

import math

import pytest
import torch
from torch.nn import functional as F

from playground.lessons.tensors import vocabulary as lab


def logits(seed=0):
    return torch.randn(3, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 10


def test_log_softmax_and_cross_entropy_are_torchs():
    torch.testing.assert_close(lab.log_softmax(logits()), F.log_softmax(logits(), dim=-1))
    right = torch.tensor([0, 5, 2])
    assert lab.loss(logits(), right) == pytest.approx(F.cross_entropy(logits(), right).item())


def test_by_hand():
    """Logits 0 and ln 3: probabilities 1/4 and 3/4."""
    assert lab.log_softmax(torch.tensor([0.0, math.log(3)])).tolist() == pytest.approx([math.log(0.25), math.log(0.75)])


def test_log_softmax_twice_is_once_and_softmax_twice_is_not():
    torch.testing.assert_close(lab.repeated("log_softmax", logits(), 2), lab.repeated("log_softmax", logits(), 1))
    assert lab.repeated("softmax", torch.tensor([0.0, 100.0]), 2).tolist() == pytest.approx([1 / (1 + math.e), math.e / (1 + math.e)])


@pytest.mark.parametrize("seed", range(10))
def test_what_the_prose_says(seed):
    outcome = lab.run(seed)
    shown = {exhibit.name: exhibit for exhibit in outcome.exhibits}
    numbers, said = outcome.numbers, shown["losses"].said
    assert outcome.answer == "same"
    assert said["difference"] == 0
    assert numbers["least"] == pytest.approx(math.log(math.e + 5) - 1)  # the right one of six has e, the others have 1
    assert numbers["least"] <= numbers["softmax"]
    assert shown["probabilities"].values.sum(axis=1) == pytest.approx(1)
    assert said["last"] == pytest.approx(math.log(6), abs=0.02)
    assert shown["losses"].lines["softmax"][[0, 1, 3]].tolist() == [numbers["once"], numbers["softmax"], said["last"]]
    assert shown["logits"].values[0, 4] == said["logit"]

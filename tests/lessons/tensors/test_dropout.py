"""Truths about the lab of dropout."""

import pytest
import torch
from torch.nn import functional as F

from playground.lessons.tensors import dropout as lab


def test_by_hand():
    x, mask = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([True, False, True, False])
    assert lab.dropout(x, mask, 0.5).tolist() == [2.0, 0.0, 6.0, 0.0]


def test_it_is_the_models_module_and_scales_as_torchs_does():
    x = torch.randn(64, 64)
    ours = lab.by_module(x, 0.3, 5, training=True)
    assert torch.equal(ours, lab.dropout(x, lab.draw_mask(x.shape, 0.3, torch.Generator().manual_seed(5)), 0.3))
    torchs = F.dropout(x, 0.3)
    kept = (ours != 0) & (torchs != 0)
    torch.testing.assert_close(ours[kept], torchs[kept])
    assert torch.equal(lab.by_module(x, 0.3, 5, training=False), x)


@pytest.mark.parametrize("p", lab.LAB.controls[0].choices)
@pytest.mark.parametrize("seed", range(3))
def test_what_the_prose_says(seed, p):
    outcome = lab.run(seed, p)
    said = outcome.exhibits[1].said
    assert outcome.answer == "larger"
    assert outcome.numbers["factor"] == pytest.approx(1 / (1 - p))
    assert outcome.numbers["scaled"] == pytest.approx(outcome.numbers["before"], rel=0.05)
    assert outcome.numbers["cut"] == pytest.approx((1 - p) * outcome.numbers["before"], rel=0.05)
    assert said["variance"] == pytest.approx(said["formula"], rel=0.15)
    assert said["difference"] == said["evaluation"] == 0

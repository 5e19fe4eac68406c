"""Truths about the lab of the two layer norms."""

import pytest
import torch
from torch import nn

from playground.lessons.tensors import layer_norm as lab


@pytest.mark.parametrize("width", lab.WIDTHS)
def test_one_is_torchs_and_the_other_is_smaller_by_one_factor(width):
    x = torch.randn(7, width, dtype=torch.float64) * 3 + 1
    torchs = nn.LayerNorm(width, eps=lab.EPS, dtype=x.dtype)(x)
    torch.testing.assert_close(lab.by_variance(x), torchs)
    torch.testing.assert_close(lab.by_deviation(x), torchs * ((width - 1) / width) ** 0.5, rtol=2e-3, atol=1e-4)


def test_by_hand():
    """1 and 3: mean 2, std with n - 1 is sqrt(2), variance with n is 1."""
    x = torch.tensor([1.0, 3.0], dtype=torch.float64)
    assert lab.by_deviation(x).tolist() == pytest.approx([-(0.5**0.5), 0.5**0.5], abs=1e-5)
    assert lab.by_variance(x).tolist() == pytest.approx([-1, 1], abs=1e-4)


@pytest.mark.parametrize("width", lab.LAB.controls[0].choices)
@pytest.mark.parametrize("seed", range(5))
def test_what_the_prose_says(seed, width):
    outcome = lab.run(seed, width)
    assert outcome.answer == "one_factor"
    assert outcome.numbers["factor"] == pytest.approx(outcome.numbers["formula"], rel=1e-3)


def test_each_epsilon_takes_over_where_the_caption_says():
    outcome = lab.run(1, 64)
    lines = next(one for one in outcome.exhibits if one.name == "sizes")
    for name, at in (("by_variance", lab.EPS**0.5), ("by_deviation", lab.OWN_EPS)):
        size = dict(zip(lines.x, lines.lines[name], strict=True))
        assert all(found > 0.9 for scale, found in size.items() if scale > 10 * at)
        assert all(found < 0.2 for scale, found in size.items() if scale < at / 10)

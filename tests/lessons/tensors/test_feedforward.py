"""Truths about the lab of the feed-forward network."""

import pytest
import torch
from torch import nn

from playground.lessons.tensors import feedforward as lab


def made(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return lab.network(generator), torch.randn(6, lab.D, generator=generator, dtype=torch.float64), generator


@pytest.mark.parametrize("length", [1, 3, 9])
def test_two_convolutions_of_kernel_size_1_are_the_feed_forward_network(length):
    """Torch's own modules, with the same weights copied into them."""
    ffn, _, generator = made()
    x = torch.randn(length, lab.D, generator=generator, dtype=torch.float64)
    first, second = (nn.Conv1d(linear.in_features, linear.out_features, 1).double() for linear in (ffn.W_1, ffn.W_2))
    for convolution, linear in ((first, ffn.W_1), (second, ffn.W_2)):
        convolution.weight.data, convolution.bias.data = linear.weight.data[:, :, None], linear.bias.data
    expected = second(first(x.T[None]).relu())[0].T
    torch.testing.assert_close(ffn(x), expected)
    torch.testing.assert_close(lab.convolutions(ffn, 1, generator)(x), expected)


def test_a_kernel_of_3_sees_the_neighbours_by_hand():
    """A matrix of one cell, 2, in the middle of a kernel: y_i = a x_(i-1) + 2 x_i + b x_(i+1)."""
    kernel = lab.kernel_of(torch.tensor([[2.0]]), 3, torch.Generator().manual_seed(0))
    a, middle, b = kernel.flatten().tolist()
    assert middle == 2
    found = torch.nn.functional.conv1d(torch.tensor([[1.0, 10.0, 100.0]]), kernel, padding="same")
    assert found.flatten().tolist() == pytest.approx([2 + 10 * b, a + 20 + 100 * b, 10 * a + 200])


def test_how_far_a_token_reaches():
    ffn, x, generator = made()
    for width, steps in ((1, 0), (3, 2)):
        reached = lab.reach(lab.convolutions(ffn, width, generator), x) > lab.EXACT
        here = torch.arange(6)
        assert torch.equal(reached, (here[:, None] - here).abs() <= steps)  # two convolutions, one neighbour each
    assert torch.equal(lab.reach(ffn, x) > lab.EXACT, torch.eye(6, dtype=torch.bool))


@pytest.mark.parametrize("seed", range(5))
def test_what_the_prose_says(seed):
    for kernel in (1, 3):
        outcome = lab.LAB.outcome(seed, kernel=kernel)
        shown = {exhibit.name: exhibit for exhibit in outcome.exhibits}
        assert outcome.answer == "one"
        assert outcome.numbers["parameters"] == 4 * 8 + 8 + 8 * 4 + 4
        assert (outcome.numbers["difference"] < 1e-12) == (kernel == 1)
        assert shown["reach"].said["reached"] == (1 if kernel == 1 else 5)
        assert shown["shuffled"].said["shuffled"] < 1e-12
        by_token = dict(zip(shown["shuffled"].rows, shown["shuffled"].values, strict=True))
        for token, row in zip(shown["output"].rows, shown["output"].values, strict=True):
            assert by_token[token] == pytest.approx(row)

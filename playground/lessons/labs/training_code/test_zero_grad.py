"""A forgotten zero_grad: the gradients add up, as momentum 1 does, and the loss swings."""

import pytest

from playground.lessons.labs import LABS


@pytest.mark.parametrize("rate", LABS["zero_grad"].controls[0].choices)
def test_gradients_add_up_as_with_momentum_1(rate):
    for seed in range(1, 6):
        numbers = LABS["zero_grad"].outcome(seed, rate=rate).numbers
        assert numbers["apart"] < 1e-9 > numbers["momentum"]
        assert numbers["cleared"] < numbers["first"] / 10 < numbers["forgotten"]

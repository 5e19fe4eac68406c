"""A forgotten zero_grad: the gradients add up, as momentum 1 does, and the loss swings."""

import pytest

from playground.lessons.labs.zero_grad import LAB


@pytest.mark.parametrize("rate", LAB.controls[0].choices)
def test_gradients_add_up_as_with_momentum_1(rate):
    for seed in range(1, 6):
        numbers = LAB.outcome(seed, rate=rate).numbers
        assert numbers["apart"] < 1e-9 > numbers["momentum"]
        assert numbers["cleared"] < numbers["first"] / 10 < numbers["forgotten"]

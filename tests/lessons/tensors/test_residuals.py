"""Truths about the lab of the residual connections."""

import pytest
import torch

from playground.lessons.tensors import residuals as lab


def tokens(seed=0):
    return torch.randn(2, lab.TOKENS, lab.D, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def stack(count, weights="xavier"):
    return lab.sublayers(count, weights, torch.Generator().manual_seed(1))


@pytest.mark.parametrize("norm", ["none", "post"])
@pytest.mark.parametrize("connected", [True, False])
def test_the_gradient_is_the_product_of_the_layers_jacobians(connected, norm):
    """Backwards by hand for one token: from the last layer to the first, g <- J^T g."""
    (x, direction), layers, residual = tokens()[:, :1], stack(4), lab.connection(connected)
    inputs = [x]
    for sublayer in layers:
        inputs.append(lab.layer(inputs[-1], sublayer, residual, norm).detach())
    g = (direction / direction.norm()).flatten()
    for sublayer, entering in zip(reversed(layers), reversed(inputs[:-1]), strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda y, sublayer=sublayer: lab.layer(y, sublayer, residual, norm), entering)
        g = jacobian.reshape(lab.D, lab.D).T @ g
    found = lab.reaching(layers, residual, norm, x, direction)
    assert len(found) == 3  # after 1, 2 and 4 layers
    assert found[-1] == pytest.approx(g.norm().item())


def test_with_zeros_the_residual_layer_passes_everything_on():
    """Its output is its input, its gradient too; without the connection nothing comes out, and no gradient gets in."""
    layers = stack(2)
    for one in layers:
        torch.nn.init.zeros_(one.W_2.weight)
    x, direction = tokens()
    assert lab.distance(x, layers[0], lab.connection(True)) == 0
    assert lab.distance(x, layers[0], lab.connection(False)) == 1
    assert lab.reaching(layers, lab.connection(True), "none", x, direction) == pytest.approx([1, 1])
    assert lab.reaching(layers, lab.connection(False), "none", x, direction) == [0, 0]


@pytest.mark.parametrize(
    ("weights", "first", "second"),
    [("xavier", 2 / (16 + 64), 2 / (16 + 64)), ("torch", 1 / (3 * 16), 1 / (3 * 64)), ("kaiming", 2 / 16, 2 / 64)],
)
def test_the_variance_of_the_weights_is_as_it_says(weights, first, second):
    layers = stack(32, weights)
    for name, expected in (("W_1", first), ("W_2", second)):
        matrices = torch.stack([getattr(one, name).weight for one in layers])
        assert matrices.var().item() == pytest.approx(expected, rel=0.03)


def test_nn_linear_begins_as_is_said():
    begun = torch.nn.Linear(64, 16).weight
    assert begun.abs().max() <= 1 / 8
    assert stack(1, "torch")[0].W_2.weight.abs().max() <= 1 / 8


def test_the_answer_is_read_off_the_curve():
    outcome = lab.LAB.outcome(1)
    curve = outcome.exhibits[0]
    assert curve.lines["plain"][list(curve.x).index(24)] == outcome.numbers["plain"]
    assert outcome.numbers["factor"] ** 24 == pytest.approx(outcome.numbers["plain"])


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(6))
def test_what_the_prose_says(seed):
    for weights in ("xavier", "torch"):
        outcome = lab.LAB.outcome(seed, weights=weights)
        assert outcome.answer == "hardly"
        assert outcome.numbers["residual"] > 1
    assert lab.LAB.outcome(seed, norm="post").answer in ("some", "same", "more")  # no law
    exploding = lab.LAB.outcome(seed, weights="kaiming")
    assert exploding.answer == "more"
    assert exploding.numbers["residual"] > 1000
    learning = exploding.exhibits[2].lines
    assert (learning["residual"] < learning["plain"]).all()

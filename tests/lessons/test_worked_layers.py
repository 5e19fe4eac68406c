"""The worked examples of layers and positions: what each computes is torch's or the model's. What they say holds: test_labs.py."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from playground.config import MAX_POSITIONS
from playground.lessons.tensors import (
    dropout,
    feedforward,
    layer_norm,
    norms,
    numbering,
    permutation,
    positions,
    products,
    residuals,
    rotary,
    shapes,
    softmax,
)  # fmt: skip
from playground.model.attention import scaled_dot_product_attention
from playground.model.positions import SinusoidalPositions, sinusoids


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("p", dropout.LAB.controls[0].choices)
def test_dropout_is_the_models_module_and_scales_as_torchs_does(p):
    x = torch.randn(64, 64)
    ours, theirs = dropout.by_module(x, p, 5, training=True), F.dropout(x, p)
    assert torch.equal(ours, dropout.dropout(x, dropout.draw_mask(x.shape, p, torch.Generator().manual_seed(5)), p))
    both = (ours != 0) & (theirs != 0)
    torch.testing.assert_close(ours[both], theirs[both])
    assert torch.equal(dropout.by_module(x, p, 5, training=False), x)


@pytest.mark.parametrize("length", [1, 9])
def test_two_convolutions_of_kernel_size_1_are_the_feed_forward_network(length):
    """Torch's own modules, with the same weights copied into them."""
    generator = torch.Generator().manual_seed(0)
    ffn, x = feedforward.network(generator), draw(length, feedforward.D)
    first, second = (nn.Conv1d(linear.in_features, linear.out_features, 1).double() for linear in (ffn.W_1, ffn.W_2))
    for convolution, linear in ((first, ffn.W_1), (second, ffn.W_2)):
        convolution.weight.data, convolution.bias.data = linear.weight.data[:, :, None], linear.bias.data
    expected = second(first(x.T[None]).relu())[0].T
    torch.testing.assert_close(ffn(x), expected)
    torch.testing.assert_close(feedforward.convolutions(ffn, 1, generator)(x), expected)
    here = torch.arange(length)
    for width, steps in ((1, 0), (3, 2)):  # two convolutions of kernel size 3 reach one neighbour each
        reach = feedforward.reach(feedforward.convolutions(ffn, width, generator), x) > feedforward.EXACT
        assert torch.equal(reach, (here[:, None] - here).abs() <= steps)


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


def test_a_head_without_positions_is_torchs_attention_and_shuffles_with_its_input():
    x, matrices = draw(len(permutation.TOKENS), permutation.WIDTH), draw(3, permutation.WIDTH, permutation.WIDTH, seed=1)
    q, k, v = (x @ matrix for matrix in matrices)
    theirs = F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
    torch.testing.assert_close(permutation.self_attention(x, matrices)[0], theirs)
    for order in permutation.SHUFFLES.values():
        assert sorted(order) == list(range(len(permutation.TOKENS)))
        assert permutation.difference(x, matrices, order).max() < 1e-12
    added = draw(len(permutation.TOKENS), permutation.WIDTH, seed=2)
    assert (permutation.difference(x, matrices, permutation.SHUFFLES["reversed"], added) > 1e-3).all()


@pytest.mark.parametrize("n_heads", [1, 2, 4, 8])
def test_the_scores_are_those_of_the_models_attention_and_of_one_merged_matrix(n_heads):
    attention, x = products.attention(n_heads, torch.Generator().manual_seed(0)), draw(10, products.D, seed=1)
    q, k = (attention.split(linear(x[None])) for linear in (attention.W_q, attention.W_k))
    scores = products.scores(x, attention)
    torch.testing.assert_close(scaled_dot_product_attention(q, k, k)[1][0, 0], (scores / (products.D / n_heads) ** 0.5).softmax(dim=-1))
    torch.testing.assert_close(x @ products.merged(attention, products.D // n_heads) @ x.T, scores)


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


def test_products_and_broadcasting_are_torchs():
    q, k = torch.randn(2, 2, 3, 4, 5)
    torch.testing.assert_close(shapes.by_loop(q, k), torch.einsum("bhqd,bhkd->bhqk", q, k))
    x, matrices = torch.randn(2, 3, 8), torch.randn(3, 8, 8)
    for ours, matrix in zip(shapes.chunked(x, *matrices), matrices, strict=True):
        torch.testing.assert_close(ours, F.linear(x, matrix.T))
    torch.testing.assert_close(shapes.angles(6, 8), torch.outer(torch.arange(6.0), torch.tensor([1, 0.1, 0.01, 0.001])))
    for left, right in shapes.SHAPES:
        try:
            expected = (torch.ones(left) * torch.ones(right)).shape
        except RuntimeError:
            expected = None
        assert shapes.together(left, right) == expected
    x = torch.arange(16).view(1, 4, 4)
    assert torch.equal(shapes.viewed(x, 2), x.view(1, 2, 4, 2))
    assert shapes.refusal(x.transpose(1, 2), (16,)).startswith("view size is not compatible")


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


def test_the_columns_are_the_models_table():
    for d_model in (2, 8, 64, 512):
        torch.testing.assert_close(positions.div_term(d_model), positions.as_power(d_model))
        torch.testing.assert_close(positions.by_columns(50, d_model), sinusoids(50, d_model), atol=2e-5, rtol=0)
    assert positions.div_term(8).tolist() == pytest.approx([1, 0.1, 0.01, 0.001])
    assert positions.by_columns(4, 8)[3, 2:4].tolist() == pytest.approx([math.sin(0.3), math.cos(0.3)])


def test_a_learned_table_knows_what_it_has_seen_and_a_plain_buffer_is_saved():
    table, before = positions.learned(1, positions.TRAINED), positions.drawn(1).table.detach()
    torch.testing.assert_close(table[: positions.TRAINED], sinusoids(positions.TRAINED, positions.WIDTH))
    assert torch.equal(table[positions.TRAINED :], before[positions.TRAINED :])
    whole = f"{MAX_POSITIONS * positions.WIDTH:,}"
    held = next(one for one in positions.run(1, 1).exhibits if one.name == "held")
    assert held.rows == (("sinusoids", whole, "0", "0"), ("plain_buffer", whole, "0", whole), ("learned", whole, whole, whole))
    assert torch.equal(positions.PlainBuffer(8).table, SinusoidalPositions(8).table)
    table, changed = sinusoids(4, positions.WIDTH), sinusoids(4, positions.WIDTH)
    changed[-1] = 7
    assert positions.padding_matters(table, changed, 1) == 0
    changed[0] = 7
    assert positions.padding_matters(table, changed, 1) > 0.1


def test_which_numbering_meets_which_wish():
    met = {name: tuple(wish(numbers) for wish in numbering.WISHES) for name, numbers in numbering.NUMBERINGS.items()}
    assert met == {
        "integers": (False, True, True, True), "shares": (True, False, True, True),
        "one_hot": (True, True, False, False), "sinusoids": (True, True, True, True),
    }  # fmt: skip
    table = numbering.sinusoids(20, numbering.WIDTH)
    for k in (0, 1, 7):
        rows = [numbering.addition_theorem(position, k, numbering.WIDTH).flatten() for position in range(12)]
        torch.testing.assert_close(torch.stack(rows), table[k : k + 12], atol=1e-5, rtol=0)


def test_a_place_beside_the_token_is_a_row_added_to_it():
    """By hand: x = (2, 3), the second of two places; W_I doubles, W_P has the rows (10, 20) and (30, 40)."""
    x, p, W_I, W_P = torch.tensor([[2.0, 3]]), torch.tensor([[0.0, 1]]), 2 * torch.eye(2), torch.tensor([[10.0, 20], [30, 40]])
    assert numbering.beside(x, p, W_I, W_P).tolist() == numbering.added(x, p, W_I, W_P).tolist() == [[34, 46]]


def test_a_pair_of_numbers_is_turned_by_the_angle_of_its_distance():
    """Two numbers are one point of the plane, turned by 1 radian for each place: q . k is |q| |k| cos(angle + distance)."""
    q = k = torch.tensor([1.0, 0.0])
    distance = torch.arange(5.0)[:, None] - torch.arange(5.0)
    torch.testing.assert_close(rotary.rotary_products(q, k, 5), distance.cos(), atol=1e-6, rtol=0)
    q, k = torch.randn(2, rotary.WIDTH)
    torch.testing.assert_close(rotary.rotary_products(q, k, 30).diagonal(), (q @ k).expand(30), atol=1e-5, rtol=0)

"""The worked examples of layers: what each computes is torch's, and what its prose says holds for any seed."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from playground.config import ModelConfig
from playground.lessons.tensors import dropout, feedforward, layer_norm, norms, permutation, products, residuals, shapes, softmax
from playground.model.attention import scaled_dot_product_attention


def exhibit(outcome, name):
    return next(one for one in outcome.exhibits if one.name == name)


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# --- dropout ---


@pytest.mark.parametrize("p", dropout.LAB.controls[0].choices)
def test_dropout_is_the_models_module_scales_as_torchs_does_and_keeps_the_mean(p):
    x = torch.randn(64, 64)
    ours, theirs = dropout.by_module(x, p, 5, training=True), F.dropout(x, p)
    assert torch.equal(ours, dropout.dropout(x, dropout.draw_mask(x.shape, p, torch.Generator().manual_seed(5)), p))
    both = (ours != 0) & (theirs != 0)
    torch.testing.assert_close(ours[both], theirs[both])
    assert torch.equal(dropout.by_module(x, p, 5, training=False), x)
    for seed in range(3):
        outcome = dropout.run(seed, p)
        numbers, values = outcome.numbers, outcome.exhibits[1].said
        assert outcome.answer == "larger"
        assert numbers["factor"] == pytest.approx(1 / (1 - p))
        assert numbers["scaled"] == pytest.approx(numbers["before"], rel=0.05)
        assert numbers["cut"] == pytest.approx((1 - p) * numbers["before"], rel=0.05)
        assert values["variance"] == pytest.approx(values["formula"], rel=0.15)
        assert values["difference"] == values["evaluation"] == 0


# --- the feed-forward network ---


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


@pytest.mark.parametrize("kernel", [1, 3])
def test_what_the_feed_forward_prose_says(kernel):
    for seed in range(5):
        outcome = feedforward.LAB.outcome(seed, kernel=kernel)
        assert outcome.answer == "one"
        assert outcome.numbers["parameters"] == 4 * 8 + 8 + 8 * 4 + 4
        assert (outcome.numbers["difference"] < 1e-12) == (kernel == 1)
        assert exhibit(outcome, "reach").said["reached"] == (1 if kernel == 1 else 5)
        shuffled, output = exhibit(outcome, "shuffled"), exhibit(outcome, "output")
        assert shuffled.said["shuffled"] < 1e-12
        by_token = dict(zip(shuffled.rows, shuffled.values, strict=True))
        assert all(by_token[token] == pytest.approx(row) for token, row in zip(output.rows, output.values, strict=True))


# --- norms ---


@pytest.mark.parametrize("width", layer_norm.WIDTHS)
def test_the_two_layer_norms_are_torchs_and_differ_by_one_factor(width):
    x = draw(7, width) * 3 + 1
    theirs = nn.LayerNorm(width, eps=layer_norm.EPS, dtype=x.dtype)(x)
    torch.testing.assert_close(layer_norm.by_variance(x), theirs)
    torch.testing.assert_close(layer_norm.by_deviation(x), theirs * ((width - 1) / width) ** 0.5, rtol=2e-3, atol=1e-4)
    for seed in range(5):
        outcome = layer_norm.run(seed, width)
        assert outcome.answer == "one_factor"
        assert outcome.numbers["factor"] == pytest.approx(outcome.numbers["formula"], rel=1e-3)
    lines = exhibit(layer_norm.run(1, 64), "sizes")
    for name, at in (("by_variance", layer_norm.EPS**0.5), ("by_deviation", layer_norm.OWN_EPS)):
        size = dict(zip(lines.x, lines.lines[name], strict=True))
        assert all(value > 0.9 for scale, value in size.items() if scale > 10 * at), "epsilon takes over below"
        assert all(value < 0.2 for scale, value in size.items() if scale < at / 10)


def test_layer_norm_and_batch_norm_are_torchs_and_average_over_what_is_said():
    block = draw(2, 4, 4) * 3 + 1
    for kind, over in norms.AVERAGED.items():
        torch.testing.assert_close(norms.normalised(block, over)[0], norms.by_torch(block, kind))
        x = block.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(norms.normalised(x, over)[0][norms.CHOSEN], x)
        assert torch.equal(gradient.abs() > 1e-12, norms.company(x.shape, norms.CHOSEN, over))
    changed = norms.neighbours(block, torch.zeros(1, 4, 4, dtype=torch.float64))
    assert all(torch.equal(batch[0, :4], block[0]) for batch in changed.values())
    assert changed["padding"].shape == (2, 4 + norms.PADDING, 4)
    vector, weight = (torch.tensor(values, dtype=torch.float64) for values in ([1000.0, 0.1], [0.5, 2.0]))
    assert norms.through_linear(vector, weight) == pytest.approx([1000, 0.1, 500.2, 1000, 0.1])


@pytest.mark.parametrize("norm", norms.AVERAGED)
def test_what_the_prose_of_layer_norm_and_batch_norm_says(norm):
    for seed in range(10):
        outcome = norms.run(seed, norm)
        assert outcome.answer == "batch"
        assert outcome.numbers["layer_padding"] == outcome.numbers["layer_sentence"] == 0
        moved = [outcome.numbers["batch_padding"], outcome.numbers["batch_sentence"]]
        assert exhibit(outcome, "neighbours").values[1].tolist() == moved
        statistics, values = exhibit(outcome, "statistics").values, exhibit(outcome, "company").said
        assert abs(statistics[:, 2]).max() < 1e-12
        assert statistics[:, 3] == pytest.approx(1, abs=0.01)
        assert values["result"] == pytest.approx((values["value"] - values["mean"]) / values["variance"] ** 0.5, abs=1e-3)
        assert values["raw"] == pytest.approx(10_000)
        assert exhibit(outcome, "linear").values[1, :2] == pytest.approx([1, -1], abs=1e-4)


# --- attention without positions ---


def test_a_head_without_positions_is_torchs_attention_and_shuffles_with_its_input():
    x, matrices = draw(len(permutation.TOKENS), permutation.WIDTH), draw(3, permutation.WIDTH, permutation.WIDTH, seed=1)
    q, k, v = (x @ matrix for matrix in matrices)
    theirs = F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
    torch.testing.assert_close(permutation.self_attention(x, matrices)[0], theirs)
    for order in permutation.SHUFFLES.values():
        assert sorted(order) == list(range(len(permutation.TOKENS)))
        assert permutation.difference(x, matrices, order).max() < 1e-12
    positions = draw(len(permutation.TOKENS), permutation.WIDTH, seed=2)
    assert (permutation.difference(x, matrices, permutation.SHUFFLES["reversed"], positions) > 1e-3).all()
    for seed in range(5):
        for shuffle in permutation.SHUFFLES:
            outcome = permutation.run(seed, shuffle)
            assert outcome.answer == "moves"
            assert min(outcome.numbers["positions"], outcome.numbers["causal"]) > 0.01
            before, after = (exhibit(outcome, name).values.flat for name in ("weights", "weights_after"))
            assert sorted(before) == pytest.approx(sorted(after))


# --- queries times keys ---


@pytest.mark.parametrize("n_heads", [1, 2, 4, 8])
def test_the_scores_are_those_of_the_models_attention_and_of_one_merged_matrix(n_heads):
    attention, x = products.attention(n_heads, torch.Generator().manual_seed(0)), draw(10, products.D, seed=1)
    q, k = (attention.split(linear(x[None])) for linear in (attention.W_q, attention.W_k))
    scores = products.scores(x, attention)
    torch.testing.assert_close(scaled_dot_product_attention(q, k, k)[1][0, 0], (scores / (products.D / n_heads) ** 0.5).softmax(dim=-1))
    torch.testing.assert_close(x @ products.merged(attention, products.D // n_heads) @ x.T, scores)
    if n_heads == 8:  # d_k = 1: the scores are q_i k_j, and the second row is the first times q_2 / q_1
        torch.testing.assert_close(scores[0] * (scores[1, 0] / scores[0, 0]), scores[1])


def test_what_the_prose_of_queries_times_keys_says():
    paper, default = nn.MultiheadAttention(512, 8, bias=False), ModelConfig()
    assert products.learned(512, 64)[0] * 8 == 2 * paper.in_proj_weight.numel() // 3  # without W_V
    assert ((default.d_model, default.d_model // default.n_heads), (512, 512 // 8)) == products.SIZES
    for n_heads in (2, 4, 8):
        for seed in range(5):
            outcome = products.LAB.outcome(seed, n_heads=n_heads)
            numbers, values = outcome.numbers, outcome.exhibits[0].said
            assert outcome.answer == "head"
            assert numbers["rank"] == numbers["d_k"] == values["rank_merged"] == 8 // n_heads
            assert numbers["rank_free"] == 8
            assert values["next"] < 1e-12 < values["last"]
            assert outcome.exhibits[-1].values[:, 0].tolist() == [numbers["two"], numbers["one"]]


# --- residual connections ---


def stack(count, weights="xavier"):
    return residuals.sublayers(count, weights, torch.Generator().manual_seed(1))


@pytest.mark.parametrize("norm", ["none", "post"])
@pytest.mark.parametrize("connected", [True, False])
def test_the_gradient_is_the_product_of_the_layers_jacobians(connected, norm):
    """Backwards by hand for one token: from the last layer to the first, g <- J^T g."""
    (x, direction), layers, residual = draw(2, 1, residuals.D), stack(4), residuals.connection(connected)
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


def test_the_variance_of_the_weights_is_as_it_says():
    for weights, *variances in (
        ("xavier", 2 / (16 + 64), 2 / (16 + 64)),
        ("torch", 1 / (3 * 16), 1 / (3 * 64)),
        ("kaiming", 2 / 16, 2 / 64),
    ):
        layers = stack(32, weights)
        for name, expected in zip(("W_1", "W_2"), variances, strict=True):
            matrices = torch.stack([getattr(one, name).weight for one in layers])
            assert matrices.var().item() == pytest.approx(expected, rel=0.03)
        assert weights != "torch" or layers[0].W_2.weight.abs().max() <= 1 / 8, "as nn.Linear begins"


@pytest.mark.parametrize("seed", [1, 2])
def test_what_the_prose_of_residual_connections_says(seed):
    for weights in ("xavier", "torch"):
        outcome = residuals.LAB.outcome(seed, weights=weights)
        assert outcome.answer == "hardly"
        assert outcome.numbers["residual"] > 1
        curve = outcome.exhibits[0]
        assert curve.lines["plain"][list(curve.x).index(24)] == outcome.numbers["plain"]
        assert outcome.numbers["factor"] ** 24 == pytest.approx(outcome.numbers["plain"])
    exploding = residuals.LAB.outcome(seed, weights="kaiming")
    assert exploding.answer == "more"
    assert exploding.numbers["residual"] > 1000
    assert (exploding.exhibits[2].lines["residual"] < exploding.exhibits[2].lines["plain"]).all()


# --- shapes ---


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_a_head_is_a_slice_of_dimensions_and_a_view_mixes_tokens(heads):
    outcome, length, width = shapes.run(1, heads), shapes.LENGTH, shapes.WIDTH // heads
    assert outcome.answer == ("same" if heads == 1 else "mixed")
    assert exhibit(outcome, "right").values.tolist() == shapes.numbered()[0, :, :width].tolist()
    assert outcome.numbers["back"] == outcome.numbers["mask"] == 0
    assert max(outcome.numbers["loop"], outcome.numbers["chunk"]) < 1e-5
    assert outcome.numbers["positions"] * heads == length
    strides = exhibit(outcome, "strides")  # in memory a token is D numbers; after attention each head has L rows of K
    cut, split, attended, returned = strides.values[:, 1:].tolist()
    assert (cut, split) == ([shapes.WIDTH, width, 1], [width, shapes.WIDTH, 1])
    assert (attended, returned) == ([length * width, width, 1], [width, length * width, 1])
    if heads > 1:
        assert strides.said["refusal"].startswith("view size is not compatible")
        assert strides.said["copied"]
        assert strides.said["head"] != strides.said["needed"]
    q, k, v = torch.randn(3, 1, heads, length, 4)
    assert shapes.mask_apart(q, k, v) == 0, "a mask need not be repeated for each head"
    x = torch.arange(16).view(1, 4, 4)
    assert torch.equal(shapes.viewed(x, heads), x.view(1, heads, 4, 4 // heads))


def test_products_and_broadcasting_are_torchs():
    q, k = torch.randn(2, 2, 3, 4, 5)
    torch.testing.assert_close(shapes.by_loop(q, k), torch.einsum("bhqd,bhkd->bhqk", q, k))
    x, matrices = torch.randn(2, 3, 8), torch.randn(3, 8, 8)
    for ours, matrix in zip(shapes.chunked(x, *matrices), matrices, strict=True):
        torch.testing.assert_close(ours, F.linear(x, matrix.T))
    torch.testing.assert_close(shapes.angles(6, 8), torch.outer(torch.arange(6.0), torch.tensor([1, 0.1, 0.01, 0.001])))
    rows = exhibit(shapes.run(1, 2), "fits").rows
    assert {"refused", "(3, 2, 3)", "(5, 3)"} <= {both for *_, both in rows}
    for left, right, both in rows:
        one, other = (torch.ones(*map(int, shape.strip("(,)").split(", "))) for shape in (left, right))
        try:
            shape = str(tuple((one * other).shape))
        except RuntimeError:
            shape = "refused"
        assert shape == both


# --- softmax ---


def test_softmax_and_its_jacobian_are_torchs():
    scores = draw(20, 4) * 30
    torch.testing.assert_close(softmax.softmax(scores), scores.softmax(dim=-1))
    one = torch.tensor([0.3, -1.2, 2.0, 0.0], dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), one)
    torch.testing.assert_close(softmax.jacobian(softmax.softmax(one)), jacobian)
    scores = draw(20, 4, seed=1)
    largest = [softmax.jacobian(y).abs().max() for y in softmax.softmax(scores)]
    torch.testing.assert_close(softmax.steepest(scores), torch.stack(largest))


def test_what_the_prose_of_softmax_says():
    for d_k in (4, 64, 1024):
        raw, scaled = softmax.variances(d_k, 1)
        assert raw / d_k == pytest.approx(1, abs=6 * math.sqrt(2 / softmax.DRAWN))
        assert scaled == pytest.approx(raw / d_k)
    for seed in (1, 2):
        outcomes = [softmax.run(seed, factor) for factor in (1.0, 10.0)]
        assert outcomes[0].answer == "vanishes"
        assert outcomes[0].numbers["difference"] < 1e-15
        usual, large = (exhibit(outcome, "jacobian").values.max() for outcome in outcomes)
        assert large < usual / 2, "at ten times the scores most of the slope is lost"

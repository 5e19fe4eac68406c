import math

import pytest
import torch
from hypothesis import given, strategies as st
from torch import nn
from torch.nn import functional as F

from playground.config import MAX_POSITIONS, PAD, ModelConfig
from playground.model.attention import MultiHeadAttention, scaled_dot_product_attention
from playground.model.masks import causal_mask, padding_mask, target_mask
from playground.model.packing import packed_position_ids
from playground.model.parts import Dropout, Embedding, Linear
from playground.model.positions import LearnedPositions, RotaryPositions, SinusoidalPositions, position_ids, sinusoids
from tests.model.shared_copies import attention_pairs
from tests.variants.varied import draw


def some_mask() -> torch.Tensor:
    """(2, 1, 5, 7), nowhere a row that may look at nothing."""
    mask = torch.rand(2, 1, 5, 7, generator=torch.Generator().manual_seed(1)) < 0.5
    mask[..., 2] = True
    return mask


@pytest.mark.trust
@given(st.booleans(), st.integers(1, 9))
def test_equals_torch_outputs_and_gradients(masked, d_k):
    mask = some_mask() if masked else None
    ours = [draw(2, 3, n, wide, seed=n).requires_grad_() for n, wide in ((5, d_k), (7, d_k), (7, 4))]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    _, weights = scaled_dot_product_attention(30 * ours[0], 30 * ours[1], ours[2], mask)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 5))
    assert (weights >= 0).all()
    assert mask is None or (weights.masked_select(~mask) == 0).all(), "masked cells are exactly 0"
    out, _ = scaled_dot_product_attention(*ours, mask)
    expected = F.scaled_dot_product_attention(*theirs, attn_mask=mask)
    torch.testing.assert_close(out, expected, atol=1e-6, rtol=1e-5)
    direction = draw(*out.shape, seed=9)
    gradients = (torch.autograd.grad(output, inputs, direction) for output, inputs in ((out, ours), (expected, theirs)))
    torch.testing.assert_close(*gradients, atol=1e-5, rtol=1e-5)


@pytest.mark.trust
def test_a_row_that_may_look_nowhere_gets_zeros_and_finite_gradients():
    q, k, v = (draw(1, 1, 3, 4, seed=n).requires_grad_() for n in range(3))
    mask = torch.tensor([[True, True, False], [False, False, False], [False, False, True]])
    out, weights = scaled_dot_product_attention(q, k, v, mask)
    assert (out[0, 0, 1] == 0).all()
    assert (weights[0, 0, 1] == 0).all()
    torch.testing.assert_close(out[0, 0, 2], v[0, 0, 2])
    out.square().sum().backward()
    assert all(tensor.grad.isfinite().all() for tensor in (q, k, v))
    assert (q.grad[0, 0, 1] == 0).all()


def test_scale_by_hand():
    q, k, v = torch.tensor([[2.0, 0, 0, 0]]), torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0]]), torch.eye(2, 4)
    for power, score in ((0.5, 1.0), (0.0, 2.0), (1.0, 0.5), (0.25, math.sqrt(2))):  # 2 / 4 ** power
        _, weights = scaled_dot_product_attention(q, k, v, power=power)
        expected = math.exp(score) / (math.exp(score) + 1)
        assert weights.tolist() == [pytest.approx([expected, 1 - expected])]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("n_heads", [1, 2, 8])
def test_multi_head_attention_equals_torch_with_the_weights_of_each_head(n_heads, bias):
    config = ModelConfig(d_model=16, n_heads=n_heads, bias=bias)
    ours = MultiHeadAttention(config, Dropout(0.0, torch.Generator()))
    theirs = nn.MultiheadAttention(16, n_heads, bias=bias, batch_first=True)
    pairs = list(attention_pairs(ours, theirs))
    with torch.no_grad():
        for seed, parameter in enumerate(ours.parameters()):
            parameter.copy_(draw(*parameter.shape, seed=seed) / 3)
        for own, their in pairs:
            their.copy_(torch.cat(own))
    query, memory, mask = draw(2, 5, 16, seed=1), draw(2, 7, 16, seed=2), some_mask()
    out, weights = ours(query, memory, memory, mask)
    expected, their_weights = theirs(query, memory, memory, attn_mask=~mask.repeat_interleave(n_heads, 0)[:, 0], average_attn_weights=False)
    torch.testing.assert_close(out, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(weights, their_weights, atol=1e-6, rtol=0)
    direction = draw(*out.shape, seed=3)
    out.backward(direction)
    expected.backward(direction)
    for own, their in pairs:
        torch.testing.assert_close(torch.cat([part.grad for part in own]), their.grad, atol=1e-5, rtol=1e-5)


def test_dropout_zeroes_a_share_keeps_the_mean_and_leaves_the_global_generator_alone():
    x, before = torch.ones(200, 200, requires_grad=True), torch.get_rng_state()
    outs = [Dropout(0.25, torch.Generator().manual_seed(seed))(x) for seed in (3, 3, 4)]
    assert (Linear(3, 4).weight.shape, Embedding(3, 4).weight.shape) == ((4, 3), (3, 4))
    assert torch.equal(torch.get_rng_state(), before)
    assert (torch.equal(outs[0], outs[1]), torch.equal(outs[0], outs[2])) == (True, False)
    assert set(outs[0].unique().tolist()) == {0.0, torch.tensor(1 / 0.75).item()}
    assert abs((outs[0] == 0).float().mean().item() - 0.25) < 0.01
    assert torch.equal(torch.autograd.grad(outs[0].sum(), x)[0], outs[0].detach())
    assert Dropout(0.5, torch.Generator()).eval()(x) is x is Dropout(0.0, torch.Generator())(x)


def test_masks_by_hand():
    """(B, 1, L or 1, L), ready for all heads."""
    tokens = torch.tensor([[5, 6, PAD], [7, PAD, PAD]])
    assert padding_mask(tokens).tolist() == [[[[True, True, False]]], [[[True, False, False]]]]
    assert causal_mask(3).tolist() == [[[[True, False, False], [True, True, False], [True, True, True]]]]
    assert target_mask(tokens[:1]).tolist() == [[[[True, False, False], [True, True, False], [True, True, False]]]]


@pytest.mark.parametrize("d_k", [0, 1, 8, 64])
def test_heads_of_any_width_are_torch_attention_of_the_same_projections(d_k):
    config = ModelConfig(d_model=16, n_heads=2, d_k=d_k)
    attention = MultiHeadAttention(config, Dropout(0.0, torch.Generator()))
    with torch.no_grad():
        for seed, parameter in enumerate(attention.parameters()):
            parameter.copy_(draw(*parameter.shape, seed=seed) / 4)
    x, memory = draw(2, 5, 16, seed=1), draw(2, 7, 16, seed=2)
    q, k, v = (
        (inputs @ linear.weight.T + linear.bias).view(2, -1, 2, wide).transpose(1, 2)
        for inputs, linear, wide in ((x, attention.W_q, d_k or 8), (memory, attention.W_k, d_k or 8), (memory, attention.W_v, 8))
    )
    mixed = F.scaled_dot_product_attention(q, k, v, some_mask()).transpose(1, 2).reshape(2, 5, 16)
    torch.testing.assert_close(attention(x, memory, memory, some_mask())[0], attention.W_o(mixed), atol=1e-5, rtol=1e-5)


def test_sinusoids_are_the_formula_of_section_3_5():
    table = sinusoids(7, 8)
    for pos in range(7):
        for i in range(4):
            angle = pos / 10000 ** (2 * i / 8)
            assert table[pos, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[pos, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_added_positions_are_the_same_for_every_sentence_and_fixed_ones_neither_trained_nor_saved():
    x = torch.randn(3, 6, 8, generator=torch.Generator().manual_seed(0))
    learned = LearnedPositions(8)
    torch.nn.init.normal_(learned.table)
    torch.testing.assert_close(SinusoidalPositions(8)(x, position_ids(6)) - x, sinusoids(6, 8).expand(3, -1, -1))
    torch.testing.assert_close(learned(x, position_ids(6)) - x, learned.table[:6].expand(3, -1, -1))
    assert not any(list(module.parameters()) or module.state_dict() for module in (SinusoidalPositions(8), RotaryPositions(8)))


def test_each_pair_of_a_packed_row_counts_from_zero():
    pairs = torch.tensor([[1, 1, 1, 2, 2, 3, 0, 0], [1, 2, 2, 2, 2, 2, 2, 2]])
    assert packed_position_ids(pairs).tolist() == [[0, 1, 2, 0, 1, 0, 0, 1], [0, 0, 1, 2, 3, 4, 5, 6]]


@given(st.integers(1, 9), st.integers(0, 99), st.booleans())
def test_rotary_multiplies_pairs_as_complex_numbers_of_length_one(d_head, seed, own):
    """Each by its own position's angle; a number without a partner stays. So lengths stay, and products depend on the distance only."""
    generator = torch.Generator().manual_seed(seed)
    x, ids = torch.randn(2, 3, 7, d_head, generator=generator), torch.randint(0, MAX_POSITIONS, (2, 7), generator=generator)
    ids = ids if own else position_ids(7)
    whole = d_head - d_head % 2
    angles = ids.double().view(-1, 1, 7, 1) / 10000 ** (torch.arange(0, whole, 2).double() / d_head)
    pairs = torch.view_as_complex(x[..., :whole].double().unflatten(-1, (-1, 2)).contiguous())
    expected = torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)
    turned = RotaryPositions(d_head)(x, ids)
    torch.testing.assert_close(turned, torch.cat((expected.float(), x[..., whole:]), dim=-1), atol=1e-4, rtol=1e-4)

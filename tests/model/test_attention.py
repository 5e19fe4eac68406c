"""Attention and its masks against torch's own; and the size of a model, told before it is built."""

import math
import threading
from itertools import product

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from playground.config import MAX_POSITIONS, PAD, PRESETS, Experiment, ModelConfig, Refusal, limits, preset
from playground.features.diagnostics.query import counted_flops, counted_parameters
from playground.model.attention import MultiHeadAttention, scaled_dot_product_attention
from playground.model.costs import CHUNK, admit, flops, is_chunked, parameter_count, parameters, training_bytes
from playground.model.masks import causal_mask, padding_mask, target_mask
from playground.model.parts import Dropout, Embedding, Linear
from playground.model.positions import LearnedPositions, RotaryPositions, SinusoidalPositions, position_ids, sinusoids
from playground.model.transformer import Transformer
from tests.runs.tiny import refused
from tests.variants.varied import attention_pairs, draw


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


@pytest.mark.parametrize(("n_heads", "bias"), product((1, 2, 8), (True, False)))
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


def test_dropout_zeroes_a_share_keeps_the_mean_and_masks_are_ready_for_all_heads():
    x, before = torch.ones(200, 200, requires_grad=True), torch.get_rng_state()
    outs = [Dropout(0.25, torch.Generator().manual_seed(seed))(x) for seed in (3, 3, 4)]
    assert (Linear(3, 4).weight.shape, Embedding(3, 4).weight.shape) == ((4, 3), (3, 4))
    assert torch.equal(torch.get_rng_state(), before)
    assert (torch.equal(outs[0], outs[1]), torch.equal(outs[0], outs[2])) == (True, False)
    assert set(outs[0].unique().tolist()) == {0.0, torch.tensor(1 / 0.75).item()}
    assert abs((outs[0] == 0).float().mean().item() - 0.25) < 0.01
    assert torch.equal(torch.autograd.grad(outs[0].sum(), x)[0], outs[0].detach())
    assert Dropout(0.5, torch.Generator()).eval()(x) is x is Dropout(0.0, torch.Generator())(x)
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


def test_sinusoids_are_the_formula_of_section_3_5_the_same_for_every_sentence_and_neither_trained_nor_saved():
    for pos, row in enumerate(sinusoids(7, 8).tolist()):
        angles = [pos / 10000 ** (2 * i / 8) for i in range(4)]
        assert row == pytest.approx([turn(angle) for angle in angles for turn in (math.sin, math.cos)], abs=1e-6)
    x = torch.randn(3, 6, 8, generator=torch.Generator().manual_seed(0))
    learned = LearnedPositions(8)
    torch.nn.init.normal_(learned.table)
    torch.testing.assert_close(SinusoidalPositions(8)(x, position_ids(6)) - x, sinusoids(6, 8).expand(3, -1, -1))
    torch.testing.assert_close(learned(x, position_ids(6)) - x, learned.table[:6].expand(3, -1, -1))
    assert not any(list(module.parameters()) or module.state_dict() for module in (SinusoidalPositions(8), RotaryPositions(8)))


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


MEGABYTE = 2**20


@pytest.mark.parametrize(("d_model", "words", "peak", "most"), [
    (64, 50, 28, 1.55), (128, 50, 87, 1.55), (256, 50, 260, 1.55), (384, 50, 484, 1.55), (512, 50, 741, 1.55),
    (32, 4000, 67, 1.5), (256, 4000, 304, 1.5), (32, 8000, 86, 1.5), (256, 8000, 361, 1.5),
])  # fmt: skip
def test_a_wide_model_is_admitted_with_what_it_was_seen_to_take(d_model, words, peak, most):
    """Megabytes of a training of 64 pairs of up to 18 tokens, as measured in processes of their own."""
    experiment = Experiment().with_(d_model=d_model, d_ff=4 * d_model, batch_size=64, **{"threads": 1} if words > 50 else {})
    assert 1 <= training_bytes(experiment, words + 4, words + 4, 18) / (peak * MEGABYTE) <= most
    bugged, vocab = experiment.with_(variant="padding_in_loss"), 2 * words
    assert words == 50 or training_bytes(bugged, vocab, vocab, 18) > 1.05 * training_bytes(experiment, vocab, vocab, 18), "all at once"


@pytest.mark.parametrize(("knobs", "available", "name"), [
    ({"batch_size": 4096}, 500, "batch_size"),
    pytest.param({"batch_size": 16_000, "batch_unit": "tokens", "d_ff": 2048}, 250, "batch_size", marks=pytest.mark.night),
    ({"d_model": 512, "d_ff": 2048, "encoder_layers": 6, "decoder_layers": 6, "batch_size": 8}, 500, "d_model"),
])  # fmt: skip
def test_the_setting_that_is_proposed_fits_and_the_next_one_does_not(knobs, available, name):
    experiment = Experiment().with_(**knobs)
    with pytest.raises(Refusal) as caught:
        admit(experiment, 30, 30, 40, available * MEGABYTE)
    refusal = caught.value
    assert refusal.values["name"] == name
    proposed, step = refusal.values["value"], int(limits(name).step)
    admit(experiment.with_(**{name: proposed}), 30, 30, 40, available * MEGABYTE)
    with pytest.raises(Refusal):
        admit(experiment.with_(**{name: proposed + step}), 30, 30, 40, available * MEGABYTE)
    assert f"{available:,} MB" in str(refusal)


def test_a_batch_is_not_cut_down_below_eight_pairs_and_where_nothing_helps_it_says_so():
    with refused("model.nothing_to_turn"):  # a single number has no partner to be turned with
        admit(Experiment().with_(positions="rotary", d_k=1), 30, 30, 40, 3000 * MEGABYTE)
    for name in PRESETS:
        admit(preset(name), 40, 40, 20, 3000 * MEGABYTE)
    smallest = training_bytes(Experiment().with_(batch_size=8), 30, 30, 40)
    admit(Experiment().with_(batch_size=8), 30, 30, 40, smallest)
    refusals = []
    for experiment, words, longest, available in (
        (Experiment().with_(batch_size=64), 30, 40, smallest), (Experiment().with_(batch_size=64), 30, 40, smallest - 1),
        (Experiment(), 8000, 250, MEGABYTE),
    ):
        with pytest.raises(Refusal) as refusal:
            admit(experiment, words, words, longest, available)
        refusals.append(refusal.value)
    assert (refusals[0].values["name"], refusals[0].values["value"]) == ("batch_size", 8)
    assert refusals[1].values.get("name") != "batch_size"
    assert (refusals[2].key, "1 MB" in str(refusals[2])) == ("model.much_too_large", True)
    assert (is_chunked(1, CHUNK), is_chunked(1, CHUNK + 1)) == (False, True)


def small(**options) -> ModelConfig:
    return ModelConfig(**{"d_model": 24, "n_heads": 2, "d_ff": 40, "encoder_layers": 2, "decoder_layers": 1, **options})


KNOBS = {
    name: st.sampled_from(limits(name).choices)
    for name in ("positions", "norm", "activation", "share_embeddings", "memory_mode", "n_heads")
} | {"bias": st.booleans(), "residual": st.booleans(), "d_k": st.sampled_from([0, 1, 32]), "d_ff": st.sampled_from([8, 40])}


@pytest.mark.trust
@settings(max_examples=settings.default.max_examples // 3)
@given(st.fixed_dictionaries(KNOBS), st.integers(1, 3), st.integers(1, 3), st.integers(1, 12), st.integers(1, 12))
def test_the_formula_counts_what_torch_counts(knobs, encoder_layers, decoder_layers, s, t):
    words = 13 if knobs["share_embeddings"] == "all" else 17
    model = Transformer(small(**knobs, encoder_layers=encoder_layers, decoder_layers=decoder_layers), 13, words)
    formula, tokens = flops(model.config, words, s, t), (torch.full((1, s), 5), torch.full((1, t), 5))
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(*tokens)
    assert sum(formula.values()) == counter.get_total_flops()
    assert formula == counted_flops(model, *tokens), "each sublayer, as torch counts it; what is shown of the page's sentence"
    held = counted_parameters(model)
    assert held == parameters(model.config, 13, words)
    assert sum(held.values()) == parameter_count(model.config, 13, words) == sum(parameter.numel() for parameter in model.parameters())
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_what_others_compute_meanwhile_is_not_counted():
    model, tokens, busy = Transformer(small(), 13, 13), torch.full((1, 5), 5), threading.Event()
    alone = counted_flops(model, tokens, tokens)
    other = threading.Thread(target=lambda: [torch.ones(64, 64) @ torch.ones(64, 64) for _ in iter(busy.is_set, True)])
    other.start()
    try:
        assert counted_flops(model, tokens, tokens) == alone
    finally:
        busy.set()
        other.join()

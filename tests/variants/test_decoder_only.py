"""Decoder-only models: torch's own layers over the joined sequence, and four blocks of one attention matrix."""

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import nn

from playground.choices import ARCHITECTURES
from playground.config import PAD, Experiment, ModelConfig, Refusal, limits, read_query
from playground.lessons.labs.architectures import LAB
from playground.lessons.labs.nn_transformer.conversion import layer_pairs
from playground.model.costs import update_counts
from playground.model.masks import causal_mask, padding_mask
from playground.variants import build
from playground.variants.decoder_only import join_masks
from tests.model.shared_copies import disturb
from tests.training.corpora import training_of
from tests.variants.varied import SRC, TGT, VOCABULARY, altered, built, talkative

NAMES = [name for name, architecture in ARCHITECTURES.items() if architecture.decoder_only]
KNOBS = st.fixed_dictionaries(
    {"positions": st.sampled_from(limits("positions").choices), "norm": st.sampled_from(limits("norm").choices)}
    | {"bias": st.booleans(), "memory_mode": st.just("whole"), "encoder_layers": st.integers(1, 2)}
)


def joined_mask(src: torch.Tensor, tgt_in: torch.Tensor, causal: bool) -> torch.Tensor:
    """Where the tokens of "source target" may attend, (B, S + T, S + T)."""
    tokens, s = torch.cat((src, tgt_in), dim=1), src.shape[1]
    earlier = causal_mask(tokens.shape[1])[0, 0].clone()
    earlier[:s, :s] |= not causal
    return (padding_mask(tokens) & earlier)[:, 0]


@pytest.mark.trust
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("name", NAMES)
def test_it_is_torchs_own_stack_over_the_joined_sequence_with_its_gradients(name, norm):
    model = disturb(built(name, norm=norm, decoder_layers=2))
    config, causal = model.config, ARCHITECTURES[name].causal
    theirs = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(config.d_model, config.n_heads, config.d_ff, 0.0, norm_first=norm == "pre", batch_first=True),
        len(model.layers), nn.LayerNorm(config.d_model) if norm == "pre" else None, enable_nested_tensor=False,
    )  # fmt: skip
    with torch.no_grad():
        for own, their in zip(model.layers, theirs.layers, strict=True):
            for matrices, matrix in layer_pairs(own, their):
                matrix.copy_(torch.cat(matrices))
    if norm == "pre":
        theirs.norm.load_state_dict(model.decoder_norm.state_dict())
    lengths, scale = (SRC != PAD).sum(dim=1, keepdim=True), config.d_model**0.5
    places = lengths + torch.arange(TGT.shape[1])
    x = torch.cat((model.src_embedding(SRC), model.tgt_embedding(TGT)), dim=1) * scale
    x = x + model.src_positions.table[torch.cat((torch.arange(SRC.shape[1]).expand(len(SRC), -1), places), dim=1)]
    hidden = ~joined_mask(SRC, TGT, causal).repeat_interleave(config.n_heads, dim=0)
    expected = model.projection(theirs(x, mask=hidden)[:, SRC.shape[1] :])
    logits = model(SRC, TGT).logits
    real = TGT != PAD
    torch.testing.assert_close(logits[real], expected[real], atol=1e-5, rtol=1e-5)
    tables = [model.src_embedding.weight, model.tgt_embedding.weight]  # gradients that have passed through all of both
    ours, torchs = (torch.autograd.grad(output[real].square().sum(), tables) for output in (logits, expected))
    torch.testing.assert_close(ours, torchs, atol=1e-3, rtol=1e-3)


@pytest.mark.trust
@settings(max_examples=10)
@given(st.sampled_from(NAMES), KNOBS)
def test_a_row_sums_to_one_over_both_blocks_and_masked_cells_are_exactly_0(name, knobs):
    model = disturb(built(name, **knobs))
    output, s = model(SRC, TGT), SRC.shape[1]
    allowed = joined_mask(SRC, TGT, ARCHITECTURES[name].causal)[:, None]
    assert torch.equal(join_masks(SRC, TGT, ARCHITECTURES[name].causal), allowed)
    assert len(output.encoder) == len(output.decoder) == len(output.cross) == knobs["encoder_layers"] + model.config.decoder_layers
    for source, target, across in zip(output.encoder, output.decoder, output.cross, strict=True):
        rows = torch.cat((across, target), dim=-1).sum(dim=-1)
        torch.testing.assert_close(rows, torch.ones_like(rows))
        torch.testing.assert_close(source.sum(dim=-1), torch.ones(source.shape[:-1]))
        for weights, place in ((source, allowed[..., :s, :s]), (across, allowed[..., s:, :s]), (target, allowed[..., s:, s:])):
            assert torch.equal(weights > 0, place.expand_as(weights))


def test_a_prefix_sees_the_whole_source_and_a_causal_model_only_what_came_before():
    changed = SRC.clone()
    changed[:, 2] = 5
    for name, same in zip(NAMES, (False, True), strict=True):
        model = disturb(built(name))
        before, after = (model.encode(src)[0][:, :2] for src in (SRC, changed))
        assert torch.allclose(before, after) is same, name


def test_two_sides_of_the_longest_sentences_fit_and_the_target_counts_on():
    for positions in limits("positions").choices:
        model = disturb(built(NAMES[1], positions=positions))
        assert model(torch.full((1, 256), 5), torch.full((1, 256), 5)).logits.isfinite().all()
    model = talkative(NAMES[0])
    alone = model(SRC[:1, :3], TGT[:1]).logits
    padded = model(torch.cat((SRC[:1, :3], torch.full((1, 2), PAD)), dim=1), TGT[:1]).logits
    torch.testing.assert_close(alone, padded, atol=1e-5, rtol=1e-5)


def test_a_variant_of_the_papers_model_is_refused_and_a_link_keeps_the_architecture():
    with pytest.raises(Refusal, match="causal_decoder"):
        build(ModelConfig(architecture="causal_decoder", variant="gru"), VOCABULARY, VOCABULARY)
    experiment, ignored = read_query({"architecture": "causal_decoder"})
    assert (experiment, ignored) == (Experiment(ModelConfig(architecture="causal_decoder")), [])


def test_its_layers_are_what_muon_moves_and_what_the_formulas_count():
    for name in NAMES:
        training = training_of(**altered(name), optimiser="muon", encoder_layers=2)
        (_, hidden), (_, rest) = update_counts(training.experiment, training.model.src_vocab, training.model.tgt_vocab)
        moved = sum(p.numel() for p in training.model.layers.parameters() if p.ndim == 2)
        assert (hidden, rest) == (moved, sum(p.numel() for p in training.model.parameters()) - moved)
        before = [parameter.detach().clone() for parameter in training.model.parameters()]
        for _ in training.steps():
            pass
        assert not any(map(torch.equal, before, training.model.parameters()))
        owners = {id(p): rule for rule, _ in training.optimiser.parts for group in rule.param_groups for p in group["params"]}
        assert len({owners[id(p)] for p in training.model.layers.parameters() if p.ndim == 2}) == 1


def test_the_three_of_the_lab_have_as_many_parameters():
    sizes = [sum(p.numel() for p in build(LAB.experiment(arm, 1).model, 30, 30).parameters()) for arm in LAB.arms]
    assert 24_000 < min(sizes) < max(sizes) < 1.01 * min(sizes)  # as its words say

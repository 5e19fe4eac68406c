"""Building: what every variant keeps of the paper's model, and what copies of a changed model keep of the variant."""

from itertools import cycle, product

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import nn

from playground.choices import ALTERATIONS, ARCHITECTURES, VARIANTS
from playground.config import PAD, Experiment, ModelConfig, Refusal, limits, read_query
from playground.data.batches import split_batch
from playground.lessons.labs.nn_transformer.conversion import layer_pairs
from playground.model.copies import shadow_copy, shared_copy, trainable_copy
from playground.model.costs import parameter_count, update_counts
from playground.model.masks import causal_mask, padding_mask
from playground.runs.machine_speed import estimate_work
from playground.training.replicas import FastAttention, FastDropout, FastLinear, replica
from playground.training.step import cross_entropy
from playground.variants import ALL, Variant, alternatives, bugs, build, decoder_only, merge, recurrent, variant_of
from playground.variants.decoder_only import join_masks
from tests.variants import varied
from tests.variants.varied import SRC, STEADY, TGT, VOCABULARY, altered, attentions, built, disturb, paper_and_variant, training_of

EVERY, RECURRENT = list(ALL), list(recurrent.RECURRENT)
LESS = (  # lack parameters
    "identity_output", "no_feed_forward", "rms_norm", "shared_attention", "shared_query_key", "no_projections", "no_last_norm",
    *RECURRENT, *ARCHITECTURES,
)  # fmt: skip
OF_THE_LOSS = ("unshifted", "padding_in_loss", "softmax_in_loss")  # and of the batches
OF_ATTENTION = (
    "inverted_mask", "softmax_over_queries", "scale_twice", "scale_by_d_model", "tiny_fill", "additive", "bilinear", "cosine", "location",
)  # fmt: skip
FAST = (FastAttention, FastDropout, FastLinear)
EARLIER = torch.ones(2, 1, 4, 4, dtype=torch.bool).tril()  # where a query may look
KNOBS = st.fixed_dictionaries(
    {name: st.sampled_from(limits(name).choices) for name in ("norm", "positions", "share_embeddings")}
    | {"bias": st.booleans(), "n_heads": st.sampled_from([2, 4]), "d_k": st.sampled_from([0, 2]), "decoder_layers": st.integers(1, 2)}
)


def test_a_variant_that_is_missing_or_undeclared_is_refused():
    assert limits("variant").choices == tuple(VARIANTS) == tuple(ALL)[: len(VARIANTS)]
    assert tuple(ALL) == tuple(ALTERATIONS)
    assert all(variant_of(ModelConfig(**altered(name))) is variant for name, variant in ALL.items())
    groups = {"paper": {"none": Variant()}, "bug": dict(bugs.BUGS), "alternative": alternatives.ALTERNATIVES | recurrent.RECURRENT}
    groups["architecture"] = decoder_only.DECODER_ONLY
    assert merge(groups) == ALL
    more, less = groups["bug"] | {"upside_down": Variant()}, {name: bug for name, bug in groups["bug"].items() if name != "unshifted"}
    twice = groups["alternative"] | {"view_for_transpose": Variant()}
    for wrong, match in (
        ({"bug": less}, r"declared and not made.*unshifted"), ({"bug": more}, r"made and not declared.*upside_down"),
        ({"alternative": twice}, "view_for_transpose"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=match):
            merge(groups | wrong)


@pytest.mark.night
@settings(max_examples=3)
@given(KNOBS)
def test_what_it_shares_with_the_papers_model_is_the_same_and_its_size_is_known(knobs):
    paper = dict(built("none", seed=4, **knobs).named_parameters())
    for variant in EVERY:
        model = built(variant, seed=4, **knobs)
        changed = dict(model.named_parameters())
        drawn_anew = ("W_o.weight", "W_2.weight") if variant == "plain_xavier" else "none"
        same = () if variant in ARCHITECTURES else (name for name in paper.keys() & changed.keys() if not name.endswith(drawn_anew))
        assert all(torch.equal(paper[name], changed[name]) for name in same), variant
        assert paper.keys() <= changed.keys() or variant in LESS
        assert all(torch.equal(parameter, changed[name]) for name, parameter in built(variant, seed=4, **knobs).named_parameters()), variant
        expected = parameter_count(model.config, VOCABULARY, VOCABULARY) + variant_of(model.config).extra_parameters(model.config)
        assert sum(parameter.numel() for parameter in model.parameters()) == expected, variant


@pytest.mark.night
def test_every_variant_of_a_model_changes_what_it_computes_and_is_declared():
    for variant in EVERY:
        norm = "pre" if variant == "no_last_norm" else "post"
        paper, changed = paper_and_variant(variant, dropout=0.3, n_heads=4, decoder_layers=2, norm=norm)
        if variant == "bilinear":  # begins as the dot product
            paper, changed = built("none"), disturb(built(variant))
        for model in (paper, changed):
            model.generator.manual_seed(5)
            model.train(variant in ("no_attention_dropout", "dropout_twice"))
        alike = torch.allclose(paper(SRC, TGT).logits, changed(SRC, TGT).logits)
        assert alike == (variant in ("none", "plain_xavier", *OF_THE_LOSS)), variant
    assert (built("dropout_always", dropout=0.0).cacheable, built("dropout_always", dropout=0.1).cacheable) == (True, False)
    for variant in EVERY:
        model = built(variant, dropout=0.1, decoder_layers=2)
        assert variant_of(model.config).argmax_is_greedy(model) == (variant in STEADY and variant != "unshifted"), variant
        parts = len(training_of(**altered(variant), threads=2).replicas)
        assert (parts == 1) == (variant in ("padding_in_loss", "batch_norm")), variant
    first, two = (training_of(variant="batch_norm", threads=threads) for threads in (1, 2))
    assert estimate_work(first.experiment, first.corpus) == estimate_work(two.experiment, two.corpus), "the estimated work knows it too"
    assert [step.loss for step in first.steps()] == pytest.approx([step.loss for step in two.steps()], rel=1e-3)


def stock(kind: type) -> type:
    return kind.__mro__[1 if kind in FAST else 2] if issubclass(kind, FAST) else kind


@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.night) for first in (1, 2, 3))])
def test_copies_are_changed_too_and_share_the_parameters(first):
    copies = [lambda model: shared_copy(model, torch.Generator()), replica, shadow_copy, trainable_copy]
    for variant, copied in zip(EVERY, cycle(copies[first:] + copies[:first])):
        model = paper_and_variant(variant, dropout=0.2, share_embeddings="all")[1]
        copy = copied(model)
        kinds = [{stock(type(part)) for part in each.modules()} for each in (copy, model)]
        assert (kinds[0], copy.cacheable, copy.config) == (kinds[1], model.cacheable, model.config)
        assert copy.projection.weight is copy.src_embedding.weight
        assert [part.data_ptr() for part in copy.parameters()] == [part.data_ptr() for part in model.parameters()]
        assert not {id(part) for part in copy.modules()} & {id(part) for part in model.modules()}
        logits = []
        for each in (model, copy):
            for part in each.modules():
                if isinstance(part, FastDropout):
                    part.__class__ = stock(type(part))  # a training step draws other masks
            each.generator.manual_seed(3)
            logits.append(each(SRC, TGT).logits)
        torch.testing.assert_close(*logits, atol=1e-5, rtol=1e-5)
        logits[1].sum().backward()
        frozen = (parameter.grad is None for parameter in model.parameters())
        assert copied is not trainable_copy or all(frozen), "only the copy that learns gets gradients"


@pytest.mark.parametrize("packed", [(False, True), pytest.param((True, False), marks=pytest.mark.night)])
def test_a_replica_computes_the_same_logits_and_gradients(packed):
    """Where the variant left the attention alone, it is fused."""
    for variant, in_one_row in zip(EVERY, cycle(packed)):
        training = training_of(**altered(variant))
        model = disturb(training.model).train()
        (batch,) = split_batch(training.corpus.train[:8], 1, in_one_row)
        results = []
        for each in (model, replica(model)):
            logits = each(batch.src, batch.tgt_in, batch.packing).logits
            loss = (training.variant.loss or cross_entropy)(logits, batch.tgt_out, 0.1)
            results.append((logits, *torch.autograd.grad(loss, list(each.parameters()), allow_unused=True, materialize_grads=True)))
        torch.testing.assert_close(*results, rtol=1e-3, atol=2e-5)
        fused = [isinstance(attention, FastAttention) for attention in attentions(replica(built(variant)))]
        assert fused == [variant not in OF_ATTENTION] * (0 if variant in RECURRENT else 2 if variant in ARCHITECTURES else 3), variant


@pytest.mark.parametrize("norms", [("post", "pre"), pytest.param(("pre", "post"), marks=pytest.mark.night)])
def test_steady_is_what_does_not_change_while_the_sentence_grows(norms):
    for variant, norm in zip([*STEADY, *varied.UNSTEADY], cycle(norms)):
        model = paper_and_variant(variant, norm=norm)[1]
        whole = model(SRC, TGT[:, :3]).logits
        grown = [model(SRC, TGT[:, :length]).logits for length in (1, 2)]
        same = all(torch.allclose(part, whole[:, : part.shape[1]], atol=1e-5) for part in grown)
        assert same == model.cacheable == (variant in STEADY), variant


def test_weights_are_returned_before_dropout_and_mixed_after_it():
    for variant in EVERY:
        model, x = disturb(built(variant, dropout=0.5)).train(), torch.randn(2, 4, 16, generator=torch.Generator().manual_seed(1))
        for attention in attentions(model):
            model.generator.manual_seed(7)
            out, weights = attention(x, x, x, EARLIER)
            model.generator.manual_seed(7)
            dropped = attention.dropout(weights)
            assert torch.equal(dropped, weights) == (variant == "no_attention_dropout")
            torch.testing.assert_close(out, attention.W_o(attention.concat(dropped @ attention.split(attention.W_v(x)))))


NAMES = [name for name, architecture in ARCHITECTURES.items() if architecture.decoder_only]
CHOICES = st.fixed_dictionaries(
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
@pytest.mark.parametrize(("name", "norm"), product(NAMES, ("post", "pre")))
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
@given(st.sampled_from(NAMES), CHOICES)
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


@pytest.mark.trust
@pytest.mark.parametrize(("name", "packed"), product(NAMES, (False, True)))
def test_one_pass_over_both_sides_is_reading_and_then_writing(name, packed):
    training = training_of(**altered(name), positions="both")
    (batch,) = split_batch(training.corpus.train[:8], 1, packed)
    model, real = disturb(training.model), batch.tgt_in != PAD
    for ours, theirs in zip(*(run(batch.src, batch.tgt_in, batch.packing) for run in (model, model.forward_joined)), strict=True):
        if torch.is_tensor(ours):
            torch.testing.assert_close(ours[real], theirs[real], atol=1e-5, rtol=1e-5)
        else:
            torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_two_sides_of_the_longest_sentences_fit_the_target_counts_on_and_a_variant_beside_it_is_refused():
    for positions in limits("positions").choices:
        model = disturb(built(NAMES[1], positions=positions))
        assert model(torch.full((1, 256), 5), torch.full((1, 256), 5)).logits.isfinite().all()
    model = varied.talkative(NAMES[0])
    alone = model(SRC[:1, :3], TGT[:1]).logits
    padded = model(torch.cat((SRC[:1, :3], torch.full((1, 2), PAD)), dim=1), TGT[:1]).logits
    torch.testing.assert_close(alone, padded, atol=1e-5, rtol=1e-5)
    with pytest.raises(Refusal, match="causal_decoder"):
        build(ModelConfig(architecture="causal_decoder", variant="gru"), VOCABULARY, VOCABULARY)
    experiment, ignored = read_query({"architecture": "causal_decoder"})
    assert (experiment, ignored) == (Experiment(ModelConfig(architecture="causal_decoder")), [])


def test_its_layers_are_what_muon_moves_and_what_the_formulas_count():
    for name in NAMES:
        training = training_of(**altered(name), optimiser="muon", encoder_layers=2, steps=2)
        (_, hidden), (_, rest) = update_counts(training.experiment, training.model.src_vocab, training.model.tgt_vocab)
        moved = sum(p.numel() for p in training.model.layers.parameters() if p.ndim == 2)
        assert (hidden, rest) == (moved, sum(p.numel() for p in training.model.parameters()) - moved)
        before = [parameter.detach().clone() for parameter in training.model.parameters()]
        for _ in training.steps():
            pass
        assert not any(map(torch.equal, before, training.model.parameters()))
        owners = {id(p): rule for rule, _ in training.optimiser.parts for group in rule.param_groups for p in group["params"]}
        assert len({owners[id(p)] for p in training.model.layers.parameters() if p.ndim == 2}) == 1

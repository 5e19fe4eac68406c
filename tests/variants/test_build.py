"""Building: what every variant keeps of the paper's model, and what copies of a changed model keep of the variant."""

import pytest
import torch
from torch import nn

from playground.choices import VARIANTS
from playground.config import ModelConfig, limits
from playground.data.batches import split_batch
from playground.decoding import greedy
from playground.decoding.fast_decoder import is_stock_model
from playground.inspection.copies import shadow_copy, trainable_copy
from playground.model.parts import Dropout, drawn_multipliers
from playground.model.shared_copy import shared_copy
from playground.model.size import parameter_count
from playground.model.transformer import Transformer
from playground.training.attention import training_attention
from playground.training.loss import cross_entropy
from playground.training.replicas import replica
from playground.training.work import step_work
from playground.variants import ALL, Variant, alternatives, bugs, recurrent, variant_of
from playground.variants.build import joined
from tests.model.shared_copies import disturb
from tests.thoroughness import every_case
from tests.training.corpora import training_of
from tests.variants.varied import SRC, STEADY, TGT, UNSTEADY, VOCABULARY, attentions, beside, built, naive, talkative

EVERY, RECURRENT = list(ALL), list(recurrent.RECURRENT)
OF_THE_LOSS = ("unshifted", "padding_in_loss", "softmax_in_loss")  # and of the batches
EARLIER = torch.ones(2, 1, 4, 4, dtype=torch.bool).tril()  # where a query may look
# To whom it is nothing what else stands in a row.
APART = [name for name in STEADY if name not in ("batch_norm", "no_source_mask", "no_memory_mask", *RECURRENT)]


def test_the_knobs_choices_are_the_twists_in_the_order_of_the_config():
    assert limits("variant").choices == tuple(VARIANTS) == tuple(ALL)
    assert all(variant_of(ModelConfig(variant=name)) is variant for name, variant in ALL.items())


def test_a_variant_that_is_missing_or_that_nobody_declared_is_refused():
    """As soon as variants are imported."""
    made = {"paper": {"none": Variant()}, "bug": dict(bugs.BUGS), "alternative": alternatives.ALTERNATIVES | recurrent.RECURRENT}
    assert joined(made) == ALL
    for spoil, names in (
        (lambda: made["bug"].pop("unshifted"), "declared and not made.*unshifted"),
        (lambda: made["bug"].update(unshifted=Variant(), upside_down=Variant()), "made and not declared.*upside_down"),
        (
            lambda: made["alternative"].update(upside_down=made["bug"].pop("upside_down"), view_for_transpose=Variant()),
            "view_for_transpose",
        ),
    ):
        spoil()
        with pytest.raises(ValueError, match=names):
            joined(made)


def test_who_needs_the_whole_batch_gets_it():
    cut = {variant: len(training_of(variant=variant, threads=2).replicas) for variant in EVERY}
    assert {variant for variant, parts in cut.items() if parts == 1} == {"padding_in_loss", "batch_norm"}
    one, two = (
        step_work(training.experiment, training.corpus) for training in (training_of(variant="batch_norm", threads=n) for n in (1, 2))
    )
    assert one == two, "what is told beforehand knows it too"


@every_case("knobs", [{}, {"norm": "pre", "bias": False, "positions": "learned", "share_embeddings": "all"}])
@every_case("variant", EVERY)
def test_what_it_shares_with_the_papers_model_is_the_same_number_by_number(variant, knobs):
    paper, changed = (dict(built(name, seed=4, **knobs).named_parameters()) for name in ("none", variant))
    shared = paper.keys() & changed.keys()
    others = {name for name in shared if not torch.equal(paper[name], changed[name])}
    assert others == set()
    if variant not in ("identity_output", "no_feed_forward", "shared_attention", *RECURRENT):
        assert shared == paper.keys()
    assert all(torch.equal(one, changed[name]) for name, one in built(variant, seed=4, **knobs).named_parameters())


@every_case("knobs", [{}, {"norm": "pre", "bias": False, "n_heads": 4, "share_embeddings": "all"}, {"d_k": 2}])
@every_case("variant", EVERY)
def test_how_many_parameters_it_adds_is_known_before_it_is_built(variant, knobs):
    model = built(variant, **knobs)
    expected = parameter_count(model.config, VOCABULARY, VOCABULARY) + variant_of(model.config).extra_parameters(model.config)
    assert sum(parameter.numel() for parameter in model.parameters()) == expected


@pytest.mark.parametrize("variant", [name for name in EVERY if name not in ("none", *OF_THE_LOSS)])
def test_every_twist_of_a_model_changes_what_it_computes(variant):
    paper, changed = beside(variant, dropout=0.3, n_heads=4, decoder_layers=2)
    if variant == "bilinear":  # begins as the dot product
        paper, changed = built("none"), disturb(built(variant))
    for model in (paper, changed):
        model.generator.manual_seed(5)
        model.train(variant == "no_attention_dropout")
    assert not torch.allclose(paper(SRC, TGT).logits, changed(SRC, TGT).logits)


def another(model: Transformer) -> Transformer:
    return shared_copy(model, torch.Generator())


@pytest.mark.sample
@pytest.mark.parametrize("variant", EVERY)
@pytest.mark.parametrize("copied", [another, replica, shadow_copy, trainable_copy])
def test_copies_are_twisted_too_and_share_the_parameters(variant, copied):
    model = beside(variant, dropout=0.2, share_embeddings="all")[1]
    copy = copied(model)
    assert {type(part) for part in copy.modules()} == {type(part) for part in model.modules()}
    assert (copy.cacheable, copy.config) == (model.cacheable, model.config)
    assert copy.projection.weight is copy.src_embedding.weight
    theirs, mine = dict(copy.named_parameters()), dict(model.named_parameters())
    assert theirs.keys() == mine.keys()
    assert all(theirs[name].data_ptr() == parameter.data_ptr() for name, parameter in mine.items())
    assert not {id(part) for part in copy.modules()} & {id(part) for part in model.modules()}
    logits = []
    for one in (model, copy):
        for part in one.modules():
            if isinstance(part, Dropout):
                part.draw = drawn_multipliers  # a training step draws other masks
        one.generator.manual_seed(3)
        logits.append(one(SRC, TGT).logits)
    torch.testing.assert_close(*logits, atol=1e-5, rtol=1e-5)


@pytest.mark.sample
@pytest.mark.parametrize("variant", EVERY)
@pytest.mark.parametrize("packed", [False, True])
def test_a_learner_computes_the_same_logits_and_gradients(variant, packed):
    """Where the variant left the attention alone, it is fused."""
    training = training_of(variant=variant)
    model = disturb(training.model).train()
    (batch,) = split_batch(training.corpus.train[:8], 1, packed)
    found = []
    for one in (model, replica(model)):
        logits = one(batch.src, batch.tgt_in, batch.src_segment_ids, batch.tgt_segment_ids).logits
        loss = (training.variant.loss or cross_entropy)(logits, batch.tgt_out, 0.1)
        found.append((logits, *torch.autograd.grad(loss, list(one.parameters()), allow_unused=True, materialize_grads=True)))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=2e-5)


@pytest.mark.parametrize("variant", EVERY)
def test_whose_attention_is_fused(variant):
    changed = ("inverted_mask", "softmax_over_queries", "scale_twice", "tiny_fill", "additive", "bilinear", "cosine", "location")
    fused = [attention.attend is training_attention for attention in attentions(replica(built(variant)))]
    assert fused == [variant not in changed] * (0 if variant in RECURRENT else 3)


@pytest.mark.parametrize("variant", APART)
def test_pairs_that_share_a_row_stay_apart(variant):
    training = training_of(variant=variant)
    model, (packed,) = disturb(training.model), split_batch(training.corpus.train[:12], 1, packed=True)
    together = model(packed.src, packed.tgt_in, packed.src_segment_ids, packed.tgt_segment_ids).logits
    for row, n in {(row, int(n)) for row, numbers in enumerate(packed.tgt_segment_ids) for n in numbers if n}:
        src, tgt = packed.src[row][packed.src_segment_ids[row] == n], packed.tgt_in[row][packed.tgt_segment_ids[row] == n]
        torch.testing.assert_close(
            together[row][packed.tgt_segment_ids[row] == n], model(src[None], tgt[None]).logits[0], rtol=1e-4, atol=2e-5
        )


@pytest.mark.sample
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("variant", [*STEADY, *UNSTEADY])
def test_steady_is_what_does_not_change_while_the_sentence_grows(variant, norm):
    model = beside(variant, norm=norm)[1]
    whole = model(SRC, TGT[:, :3]).logits
    grown = [model(SRC, TGT[:, :length]).logits for length in (1, 2)]
    same = all(torch.allclose(part, whole[:, : part.shape[1]], atol=1e-5) for part in grown)
    assert same == model.cacheable == (variant in STEADY)


@pytest.mark.parametrize("variant", EVERY)
def test_what_is_dropped_in_training_are_looks(variant):
    """Whatever becomes of the weights, they are told before dropout and mixed after it."""
    model, x = disturb(built(variant, dropout=0.5)).train(), torch.randn(2, 4, 16, generator=torch.Generator().manual_seed(1))
    for attention in attentions(model):
        model.generator.manual_seed(7)
        out, weights = attention(x, x, x, EARLIER)
        model.generator.manual_seed(7)
        dropped = attention.dropout(weights)
        assert torch.equal(dropped, weights) == (variant == "no_attention_dropout")
        torch.testing.assert_close(out, attention.W_o(attention.concat(dropped @ attention.split(attention.W_v(x)))))


@pytest.mark.parametrize("variant", ["none", "inverted_mask", "softmax_over_queries"])
def test_without_the_scale_it_is_as_if_all_queries_were_longer(variant):
    """By the root of d_k, which is 9."""
    q, k, v = torch.randn(3, 2, 2, 4, 9, generator=torch.Generator().manual_seed(1))
    attention = attentions(built(variant))[0]
    asked = ((q, 0.0), (q, 0.5), (3 * q, 0.5))
    unscaled, scaled, longer = (attention.attend(asks, k, v, EARLIER, power, attention.dropout) for asks, power in asked)
    for one, other, same in zip(unscaled, scaled, longer, strict=True):
        torch.testing.assert_close(one, same)
        assert not torch.allclose(one, other)


@pytest.mark.sample(2)
@pytest.mark.parametrize("packing", [True, False])
@pytest.mark.parametrize("variant", ["batch_norm", "padding_in_loss"])
def test_what_sums_over_a_batch_is_the_same_however_many_threads_there_are(variant, packing):
    one, two = (training_of(variant=variant, threads=threads, packing=packing) for threads in (1, 2))
    for ours, theirs in zip(one.steps(), two.steps(), strict=True):
        assert ours.loss == pytest.approx(theirs.loss, rel=1e-3)


def test_with_nothing_to_drop_even_dropout_is_steady():
    assert (built("dropout_always", dropout=0.0).cacheable, built("dropout_always", dropout=0.1).cacheable) == (True, False)


@pytest.mark.parametrize("variant", EVERY)
def test_teacher_forcing_tells_what_is_written_by_who_is_steady_and_is_asked_for_what_comes_next(variant):
    greedy = variant_of(ModelConfig(variant=variant)).argmax_is_greedy(built(variant, dropout=0.1))
    assert greedy == (variant in STEADY and variant != "unshifted")


@pytest.mark.sample(6)
@pytest.mark.parametrize("variant", [*STEADY, *UNSTEADY])
def test_greedy_decoding_is_a_naive_loop_over_the_whole_model(variant):
    model = talkative(variant, positions="both")
    sources = [(4, 9, 7, 5, 6), (6, 8), (10, 4, 4), (5, 7, 9, 9)]
    src = nn.utils.rnn.pad_sequence([torch.tensor((*source, 2)) for source in sources], batch_first=True)
    expected = naive(model, src, 9)
    for cache, fast in ((True, True), (False, False)):
        assert [one.ids for one in greedy(model, sources, 9, cache=cache, fast=fast)] == expected


def test_lean_code_is_asked_only_where_nothing_it_computes_was_changed():
    """The others change a part that it would compute as the paper has it."""
    fast = {variant for variant in EVERY if is_stock_model(built(variant, dropout=0.1, decoder_layers=2))}
    assert fast == {"none", *OF_THE_LOSS, "shared_attention", "concatenated", "no_attention_dropout"}

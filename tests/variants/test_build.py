"""Building: what every twist keeps of the paper's model, and what copies of a twisted model keep of the twist."""

import pytest
import torch
from torch import nn

from playground.config import BUGS, VARIANTS, ModelConfig, limits
from playground.data.batches import cut
from playground.decoding import greedy
from playground.decoding.fast_decoder import unchanged
from playground.inspection.copies import learning, own
from playground.model.attention import fused_attention
from playground.model.shared_copy import twin
from playground.model.size import parameter_count
from playground.model.transformer import Transformer
from playground.training.loss import cross_entropy
from playground.training.replicas import learner
from playground.variants import TWISTS, alternatives, bugs, twist_of
from tests.model.shared_copies import disturb
from tests.training.corpora import training_of
from tests.variants.varied import SRC, STEADY, TGT, UNSTEADY, VOCABULARY, attentions, beside, built, naive, talkative

EVERY = list(TWISTS)
EARLIER = torch.ones(2, 1, 4, 4, dtype=torch.bool).tril()  # where a query may look
APART = [name for name in STEADY if name not in ("batch_norm", "no_source_mask", "no_memory_mask")]  # to whom padding is nothing


def test_the_knobs_choices_are_the_twists_in_the_order_of_the_config():
    assert limits("twist").choices == ("none", *BUGS, *VARIANTS)
    assert set(TWISTS) == {"none", *BUGS, *VARIANTS}
    assert (set(bugs.BUGS), set(alternatives.VARIANTS)) == (set(BUGS), set(VARIANTS))
    assert all(twist_of(ModelConfig(twist=name)) is twist for name, twist in TWISTS.items())


@pytest.mark.parametrize("knobs", [{}, {"norm": "pre", "bias": False, "positions": "learned", "share_embeddings": "all"}], ids=str)
@pytest.mark.parametrize("twist", EVERY)
def test_what_it_shares_with_the_papers_model_is_the_same_number_by_number(twist, knobs):
    paper, twisted = (dict(built(name, seed=4, **knobs).named_parameters()) for name in ("none", twist))
    shared = paper.keys() & twisted.keys()
    assert all(torch.equal(paper[name], twisted[name]) for name in shared)
    if twist not in ("identity_output", "no_feed_forward"):
        assert shared == paper.keys()
    assert all(torch.equal(one, twisted[name]) for name, one in built(twist, seed=4, **knobs).named_parameters())


@pytest.mark.parametrize("knobs", [{}, {"norm": "pre", "bias": False, "n_heads": 4, "share_embeddings": "all"}], ids=str)
@pytest.mark.parametrize("twist", EVERY)
def test_how_many_parameters_it_adds_is_known_before_it_is_built(twist, knobs):
    model = built(twist, **knobs)
    expected = parameter_count(model.config, VOCABULARY, VOCABULARY) + twist_of(model.config).adds(model.config)
    assert sum(parameter.numel() for parameter in model.parameters()) == expected


@pytest.mark.parametrize("twist", [name for name in EVERY if name not in ("none", "unshifted", "padding_in_loss")])
def test_every_twist_of_a_model_changes_what_it_computes(twist):
    paper, twisted = beside(twist, dropout=0.3, n_heads=4)
    if twist == "bilinear":  # begins as the dot product
        paper, twisted = built("none"), disturb(built(twist))
    for model in (paper, twisted):
        model.generator.manual_seed(5)
        model.train(twist == "no_attention_dropout")
    assert not torch.allclose(paper(SRC, TGT).logits, twisted(SRC, TGT).logits)


def another(model: Transformer) -> Transformer:
    return twin(model, torch.Generator())


@pytest.mark.parametrize("twist", EVERY)
@pytest.mark.parametrize("copied", [another, learner, own, learning])
def test_copies_are_twisted_too_and_share_the_parameters(twist, copied):
    model = beside(twist, dropout=0.2, share_embeddings="all")[1]
    copy = copied(model)
    assert {type(part) for part in copy.modules()} == {type(part) for part in model.modules()}
    assert (copy.steady, copy.config) == (model.steady, model.config)
    assert copy.projection.weight is copy.src_embedding.weight
    theirs, mine = dict(copy.named_parameters()), dict(model.named_parameters())
    assert theirs.keys() == mine.keys()
    assert all(theirs[name].data_ptr() == parameter.data_ptr() for name, parameter in mine.items())
    assert not {id(part) for part in copy.modules()} & {id(part) for part in model.modules()}
    logits = []
    for one in (model, copy):
        one.generator.manual_seed(3)
        logits.append(one(SRC, TGT).logits)
    torch.testing.assert_close(*logits, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("twist", EVERY)
@pytest.mark.parametrize("packed", [False, True])
def test_a_learner_computes_the_same_logits_and_gradients(twist, packed):
    """Where the twist left the attention alone, it is fused."""
    training = training_of(twist=twist)
    model = disturb(training.model).train()
    (batch,) = cut(training.corpus.train[:8], 1, packed)
    found = []
    for one in (model, learner(model)):
        logits = one(batch.src, batch.tgt_in, batch.src_pairs, batch.tgt_pairs).logits
        loss = (training.twist.loss or cross_entropy)(logits, batch.tgt_out, 0.1)
        found.append((logits, *torch.autograd.grad(loss, list(one.parameters()), allow_unused=True, materialize_grads=True)))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=2e-5)


@pytest.mark.parametrize("twist", EVERY)
def test_whose_attention_is_fused(twist):
    changed = ("inverted_mask", "softmax_over_queries", "additive", "bilinear", "cosine")
    fused = [attention.attend is fused_attention for attention in attentions(learner(built(twist)))]
    assert fused == [twist not in changed] * 3


@pytest.mark.parametrize("twist", APART)
def test_pairs_that_share_a_row_stay_apart(twist):
    training = training_of(twist=twist)
    model, (packed,) = disturb(training.model), cut(training.corpus.train[:12], 1, packed=True)
    together = model(packed.src, packed.tgt_in, packed.src_pairs, packed.tgt_pairs).logits
    for row, n in {(row, int(n)) for row, numbers in enumerate(packed.tgt_pairs) for n in numbers if n}:
        src, tgt = packed.src[row][packed.src_pairs[row] == n], packed.tgt_in[row][packed.tgt_pairs[row] == n]
        torch.testing.assert_close(together[row][packed.tgt_pairs[row] == n], model(src[None], tgt[None]).logits[0], rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("twist", [*STEADY, *UNSTEADY])
def test_steady_is_what_does_not_change_while_the_sentence_grows(twist, norm):
    model = beside(twist, norm=norm)[1]
    whole = model(SRC, TGT[:, :3]).logits
    grown = [model(SRC, TGT[:, :length]).logits for length in (1, 2)]
    same = all(torch.allclose(part, whole[:, : part.shape[1]], atol=1e-5) for part in grown)
    assert same == model.steady == (twist in STEADY)


@pytest.mark.parametrize("twist", EVERY)
def test_what_is_dropped_in_training_are_looks(twist):
    """Whatever becomes of the weights, they are told before dropout and mixed after it."""
    model, x = disturb(built(twist, dropout=0.5)).train(), torch.randn(2, 4, 16, generator=torch.Generator().manual_seed(1))
    for attention in attentions(model):
        model.generator.manual_seed(7)
        out, weights = attention(x, x, x, EARLIER)
        model.generator.manual_seed(7)
        dropped = attention.dropout(weights)
        assert torch.equal(dropped, weights) == (twist == "no_attention_dropout")
        torch.testing.assert_close(out, attention.W_o(attention.concat(dropped @ attention.split(attention.W_v(x)))))


@pytest.mark.parametrize("twist", ["none", "inverted_mask", "softmax_over_queries"])
def test_without_the_scale_it_is_as_if_all_queries_were_longer(twist):
    """By the root of d_k, which is 9."""
    q, k, v = torch.randn(3, 2, 2, 4, 9, generator=torch.Generator().manual_seed(1))
    attention = attentions(built(twist))[0]
    asked = ((q, False), (q, True), (3 * q, True))
    unscaled, scaled, longer = (attention.attend(asks, k, v, EARLIER, scale, attention.dropout) for asks, scale in asked)
    for one, other, same in zip(unscaled, scaled, longer, strict=True):
        torch.testing.assert_close(one, same)
        assert not torch.allclose(one, other)


@pytest.mark.parametrize("packing", [True, False])
@pytest.mark.parametrize("twist", ["batch_norm", "padding_in_loss"])
def test_what_sums_over_a_batch_is_the_same_however_many_threads_there_are(twist, packing):
    one, two = (training_of(twist=twist, threads=threads, packing=packing) for threads in (1, 2))
    for ours, theirs in zip(one.steps(), two.steps(), strict=True):
        assert ours.loss == pytest.approx(theirs.loss, rel=1e-3)


def test_with_nothing_to_drop_even_dropout_is_steady():
    assert (built("dropout_always", dropout=0.0).steady, built("dropout_always", dropout=0.1).steady) == (True, False)


@pytest.mark.parametrize("twist", EVERY)
def test_honest_is_who_is_steady_and_is_asked_for_what_comes_next(twist):
    assert twist_of(ModelConfig(twist=twist)).honest(built(twist, dropout=0.1)) == (twist in STEADY and twist != "unshifted")


@pytest.mark.parametrize("twist", [*STEADY, *UNSTEADY])
def test_greedy_decoding_is_a_naive_loop_over_the_whole_model(twist):
    model = talkative(twist, positions="both")
    sources = [(4, 9, 7, 5, 6), (6, 8), (10, 4, 4), (5, 7, 9, 9)]
    src = nn.utils.rnn.pad_sequence([torch.tensor((*source, 2)) for source in sources], batch_first=True)
    expected = naive(model, src, 9)
    for cache, lean in ((True, True), (False, False)):
        assert [one.ids for one in greedy(model, sources, 9, cache=cache, lean=lean)] == expected


def test_lean_code_is_asked_only_where_nothing_it_computes_was_changed():
    """The others change a part that it would compute as the paper has it."""
    lean = {twist for twist in EVERY if unchanged(built(twist, dropout=0.1))}
    assert lean == {"none", "unshifted", "padding_in_loss", "concatenated", "no_attention_dropout"}

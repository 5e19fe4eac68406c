"""Each variant and each bug is what its name says, and nothing else: torch's own where torch has it, loops by hand where not."""

import math
import re
from itertools import product

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import BOS, EOS, PAD, ModelConfig, limits
from playground.data.batches import batches, collate, split_batch
from playground.decoding import greedy
from playground.model.masks import padding_mask
from playground.model.parts import Dropout
from playground.model.positions import sinusoids
from playground.model.transformer import Transformer
from playground.training.step import cross_entropy
from playground.variants.alternatives import Additive, Bilinear, Location, cosine_attention
from playground.variants.bugs import scaled_by_d_model, scaled_twice, tiny_filled, unshifted, with_softmax
from playground.variants.recurrent import RECURRENT
from playground.variants.variant import replace_class
from tests.variants import varied
from tests.variants.varied import SRC, TGT, attentions, built, disturb, draw, paper_and_variant, their_logits, training_of

NORMS = pytest.mark.parametrize("norm", ["post", "pre"])
OFF = Dropout(0.0, torch.Generator())
PARTS = {
    "identity_output": ("W_o", torch.eye(16)), "no_feed_forward": ("W_2", torch.zeros(16, 24)),
    "no_projections": ("self_attention.W_[qkv]", torch.eye(16)),
}  # fmt: skip


def tensors() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """q (2, 3, 5, 4), k and v (2, 3, 7, 4), mask (2, 1, 5, 7) with one row that may look nowhere."""
    mask = draw(2, 1, 5, 7, seed=4) > -0.3
    mask[..., 2], mask[1, 0, 3] = True, False
    return draw(2, 3, 5, 4, seed=1), draw(2, 3, 7, 4, seed=2), draw(2, 3, 7, 4, seed=3), mask


def with_attend(model: Transformer, attend) -> Transformer:
    """The same model, its attention computed by this function of (q, k, v, mask), which returns what each query gets."""
    for attention in attentions(model):
        attention.attend_heads = lambda q, k, v, mask: (attend(q, k, v, mask), None)
    return model


def with_norms(model: Transformer, make) -> Transformer:
    """The same model with `make(norm)` in place of every LayerNorm."""
    for part in list(model.modules()):
        for name, child in part.named_children():
            if isinstance(child, nn.LayerNorm):
                setattr(part, name, make(child))
    return model


CONFIG = ModelConfig(d_model=12, n_heads=3)  # K = 4
ATTENTIONS = {"additive": Additive, "bilinear": Bilinear, "cosine": lambda *_: cosine_attention, "location": Location}


def scores(variant: str, attend, q: Tensor, k: Tensor, mask: Tensor, power: float) -> Tensor:
    """How well each query fits each key, by torch's own functions; positions are counted from the first that a query sees."""
    queries, keys = (x.expand(2, 3, 5, 7, 4) for x in (q[..., :, None, :], k[..., None, :, :]))
    if variant == "additive":
        return torch.einsum("hd,bhijd->bhij", attend.v, (queries + keys).tanh())
    if variant == "bilinear":
        heads = zip(queries.unbind(1), keys.unbind(1), attend.W.view(3, 1, 4, 4), strict=True)
        return torch.stack([F.bilinear(left.contiguous(), other.contiguous(), W)[..., 0] for left, other, W in heads], dim=1)
    if variant == "cosine":
        return F.cosine_similarity(queries, keys, dim=-1) * 4 / 4**power
    W, first, fits = attend.W.view(3, 4, -1), mask[:, 0].int().argmax(dim=-1), torch.zeros(2, 3, 5, 7)
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, fits.shape)).tolist():
        fits[b, h, i, j] = q[b, h, i] @ W[h, :, j - first[b, i]] if mask[b, 0, i, j] else 0
    return fits


@pytest.mark.parametrize("variant", ATTENTIONS)
def test_each_attention_is_the_softmax_of_its_scores_and_of_sharp_ones_gradients_are_numbers_too(variant):
    attend = ATTENTIONS[variant](CONFIG, torch.Generator().manual_seed(1))
    parameters = list(attend.parameters()) if isinstance(attend, nn.Module) else []
    for parameter in parameters:
        parameter.data.copy_(draw(*parameter.shape, seed=8))
    q, k, v, mask = (tensor.requires_grad_() if tensor.is_floating_point() else tensor for tensor in tensors())
    for power in (0.5, 0.0, 1.0):
        weights = scores(variant, attend, q, k, mask, power).masked_fill(~mask, -torch.inf).softmax(dim=-1).nan_to_num()
        out, given_weights = attend(q, k, v, mask, power, OFF)
        torch.testing.assert_close(given_weights, weights, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(out, weights @ v, atol=1e-5, rtol=1e-5)
        paper, changed = (built(name, attention_scale=power, n_heads=4) for name in ("none", variant))
        same = torch.allclose(changed(SRC, TGT).logits, paper(SRC, TGT).logits, atol=1e-6, rtol=1e-5)
        assert same == (variant == "bilinear"), "which begins as the dot product"
    out, weights = attend(q * 30, k * 30, v, mask, 1.0, OFF)
    torch.testing.assert_close(weights.sum(dim=-1), mask.any(dim=-1).float().expand(2, 3, 5))
    assert (weights.masked_select(~mask) == 0).all()
    out.square().sum().backward()
    assert all(tensor.grad.isfinite().all() for tensor in (q, v, *parameters, *([] if variant == "location" else [k])))


@pytest.mark.parametrize(("norm", "residual"), product(("post", "pre"), (True, False)))
def test_without_a_part_it_is_the_paper_with_the_identity_or_zeros_for_it(norm, residual):
    for variant, (part, weight) in PARTS.items():
        paper, changed = paper_and_variant(variant, norm=norm, residual=residual)
        for name, parameter in paper.named_parameters():
            if re.search(part, name):
                parameter.data.copy_(weight if parameter.dim() == 2 else torch.zeros(16))
        torch.testing.assert_close(changed(SRC, TGT).logits, paper(SRC, TGT).logits, atol=1e-5, rtol=1e-5)
        assert not [name for name, _ in changed.named_parameters() if re.search(part, name)]


def test_all_matrices_are_torchs_xavier_whatever_they_began_with_and_one_attention_object_has_the_same_for_both_jobs():
    for name, matrix in built("plain_xavier", zero_init=True, encoder_layers=3, d_model=64).named_parameters():
        if name.startswith(("encoder.", "decoder.")) and matrix.dim() == 2:
            bound = (6 / sum(matrix.shape)) ** 0.5
            assert 0.95 * bound < matrix.abs().max() <= bound, name
    for layer in paper_and_variant("shared_attention", decoder_layers=2)[1].decoder:
        assert all(getattr(layer.cross_attention, name) is getattr(layer.self_attention, name) for name in ("W_q", "W_k", "W_v", "W_o"))


def test_without_dropout_in_attention_it_is_everywhere_else_and_what_stays_on_is_that_of_training():
    paper, changed = (
        {(name, part.p) for name, part in model.named_modules(remove_duplicate=False) if isinstance(part, Dropout)}
        for model in paper_and_variant("no_attention_dropout", dropout=0.5)
    )
    assert changed == {(name, 0.0 if name.endswith("attention.dropout") else p) for name, p in paper}
    paper, model = paper_and_variant("dropout_always", dropout=0.3)
    assert len({greedy(model, [(4, 9, 7)], 9)[0].ids for _ in range(9)}) > 1
    logits = []
    for subject, mode in ((paper, True), (model, True), (model, False)):
        subject.train(mode).generator.manual_seed(7)
        logits.append(subject(SRC, TGT).logits)
    assert all(torch.equal(logits[0], other) for other in logits[1:])
    paper, model = paper_and_variant("dropout_always", dropout=0.0)
    assert torch.equal(paper(SRC, TGT).logits, model(SRC, TGT).logits)


class Theirs(nn.BatchNorm1d):
    """torch's, over all tokens."""

    def __init__(self, norm: nn.LayerNorm) -> None:
        super().__init__(norm.weight.shape[0])
        self.weight = norm.weight
        self.bias = nn.Parameter(torch.zeros_like(norm.weight)) if norm.bias is None else norm.bias

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.flatten(0, 1)).view(x.shape)


def torchs_rms(norm: nn.LayerNorm) -> nn.RMSNorm:
    rms = nn.RMSNorm(norm.weight.shape[0], eps=norm.eps)
    rms.weight = norm.weight
    return rms


@pytest.mark.trust
@pytest.mark.parametrize(("variant", "theirs", "near"), [("batch_norm", Theirs, (1e-4, 1e-3)), ("rms_norm", torchs_rms, (1e-5, 1e-5))])
@pytest.mark.parametrize(("norm", "bias"), product(("post", "pre"), (True, False)))
def test_a_model_with_another_norm_is_the_papers_with_torchs_in_every_place(variant, theirs, near, norm, bias):
    paper, changed = paper_and_variant(variant, norm=norm, bias=bias)
    with torch.no_grad():
        for name, parameter in changed.named_parameters():
            if name.endswith((".mean", ".variance")):
                parameter.fill_(float(name.endswith("variance")))
    models = changed, with_norms(paper, theirs)
    for mode in (True, True, False):
        both = [(model, model.train(mode)(SRC, TGT).logits) for model in models]
        torch.testing.assert_close(*(logits for _, logits in both), atol=near[0], rtol=near[1])
        for side in ("src_embedding", "tgt_embedding"):
            each = (torch.autograd.grad(logits.square().sum(), getattr(model, side).weight, retain_graph=True) for model, logits in both)
            torch.testing.assert_close(*each, atol=1e-3, rtol=1e-3)


@pytest.mark.trust
def test_swiglu_multiplies_each_hidden_unit_by_another_map_of_the_same_token():
    changed, x = paper_and_variant("swiglu")[1], draw(2, 3, 16)
    for layer in (*changed.encoder, *changed.decoder):
        W_1, W_2, W_3 = (getattr(layer.feed_forward, name) for name in ("W_1", "W_2", "W_3"))
        for row, out in zip(x.flatten(0, 1), layer.feed_forward(x).flatten(0, 1), strict=True):
            hidden, gate = (matrix.weight @ row + matrix.bias for matrix in (W_1, W_3))
            torch.testing.assert_close(out, W_2.weight @ (hidden / (1 + (-hidden).exp()) * gate) + W_2.bias)


@pytest.mark.parametrize("positions", limits("positions").choices)
def test_concatenated_positions_are_the_same_columns_in_another_order(positions):
    """And where there are no sinusoids nothing changes."""
    paper, changed = paper_and_variant("concatenated", positions=positions)
    order = torch.cat((torch.arange(0, 16, 2), torch.arange(1, 16, 2)))
    for side in ("src_positions", "tgt_positions") if positions in ("sinusoidal", "both") else ():
        assert torch.equal(getattr(changed, side).table, sinusoids(256, 16)[:, order])
        getattr(paper, side).table = getattr(paper, side).table[:, order]
    assert torch.equal(paper(SRC, TGT).logits, changed(SRC, TGT).logits)
    assert ("src_positions.table" in changed.state_dict()) == (positions == "learned")


@torch.inference_mode()
def test_the_decoder_computes_what_bahdanau_et_al_wrote_down():
    """Equations 4 to 6, one sentence and one step at a time, with torch's own cell for the unit."""
    model = paper_and_variant("gru_attention")[1]
    (decoder,), src, tgt = model.decoder, SRC[0], TGT[0]
    memory, _ = model.encode(src[None])
    _, _, (weights,) = model.decode(tgt[None], memory, torch.ones(1, 1, 1, len(src), dtype=torch.bool))
    cell = nn.GRUCell(decoder.gru.input_size, decoder.gru.hidden_size)
    cell.load_state_dict({name.removesuffix("_l0"): value for name, value in decoder.gru.state_dict().items()})
    h, s, expected = memory[0], torch.tanh(decoder.W_s(memory[0, -1])), []
    for token, row in zip(tgt, weights[0, 0], strict=True):
        y = model.tgt_embedding.weight[token] * model.config.d_model**0.5
        e = torch.stack([decoder.v_a.weight[0] @ torch.tanh(decoder.W_a.weight @ s + decoder.U_a.weight @ h_j) for h_j in h])
        alpha = e.exp() / e.exp().sum()
        torch.testing.assert_close(row, alpha)
        c = sum(weight * h_j for weight, h_j in zip(alpha, h, strict=True))
        s = cell(torch.cat((y, c)), s)
        expected.append(model.projection(torch.tanh(decoder.W_o(torch.cat((s, y, c))))))
    torch.testing.assert_close(model(src[None], tgt[None]).logits[0], torch.stack(expected), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("variant", RECURRENT)
@torch.inference_mode()
def test_only_attention_sees_more_of_a_source_than_its_last_state(variant):
    model = paper_and_variant(variant)[1]
    memory, _ = model.encode(SRC[:1])
    mask = torch.ones(1, 1, 1, memory.shape[1], dtype=torch.bool)
    other = torch.cat((memory[:, :-1].flip(1) + 1, memory[:, -1:]), dim=1)
    wider = torch.cat((SRC, torch.full((2, 3), PAD)), dim=1)
    torch.testing.assert_close(model(wider, TGT).logits, model(SRC, TGT).logits)  # padding behind a sentence changes nothing
    states, changed = (model.decode(TGT[:1], given_memory, mask)[0] for given_memory in (memory, other))
    assert torch.allclose(states, changed) == (variant == "gru")


FORGOTTEN = {"no_causal_mask": "tgt_mask", "no_source_mask": "src_key_padding_mask", "no_memory_mask": "memory_key_padding_mask"}


@NORMS
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("variant", FORGOTTEN)
def test_a_forgotten_mask_is_torchs_transformer_without_it(variant, norm):
    paper, changed = paper_and_variant(variant, norm=norm, encoder_layers=2, decoder_layers=2)
    expected = their_logits(paper, varied.as_nn_transformer(paper.train())[0], SRC, TGT, **{FORGOTTEN[variant]: None})
    torch.testing.assert_close(changed(SRC, TGT).logits, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("variant", ["no_source_mask", "no_memory_mask"])
def test_without_a_padding_mask_pairs_in_one_row_stay_apart(variant):
    (batch,) = split_batch(training_of().corpus.train[:12], 1, packed=True)
    paper, changed = (disturb(training_of(variant=name).model) for name in ("none", variant))
    real = batch.tgt_segment_ids > 0
    logits = [model(batch.src, batch.tgt_in, batch.packing).logits[real] for model in (paper, changed)]
    torch.testing.assert_close(*logits)


@NORMS
def test_inverted_masks_and_softmax_over_queries_are_torchs_attention_where_nobody_may_look_and_of_the_keys(norm):
    def wrong(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        expected = F.scaled_dot_product_attention(q, k, v, ~mask)
        return expected.masked_fill((mask.expand(-1, -1, q.shape[2], -1)).all(dim=-1, keepdim=True), 0.0)  # nowhere left to look

    paper, changed = paper_and_variant("inverted_mask", norm=norm)
    torch.testing.assert_close(changed(SRC, TGT).logits, with_attend(paper, wrong)(SRC, TGT).logits, atol=1e-5, rtol=0)
    def turned(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        mask = mask.expand(q.shape[0], 1, q.shape[2], -1)
        every = torch.eye(q.shape[2]).expand(*q.shape[:2], -1, -1)
        weights = F.scaled_dot_product_attention(k, q, every, mask.mT).mT.nan_to_num()  # (B, H, Q, K)
        return weights * mask.any(dim=2, keepdim=True) @ v  # a key that no query may see

    paper, changed = paper_and_variant("softmax_over_queries", norm=norm)
    expected = with_attend(paper, turned)(SRC, TGT).logits
    torch.testing.assert_close(changed(SRC, TGT).logits, expected, atol=1e-5, rtol=1e-4)


class AlongTheSentence(nn.LayerNorm):
    """torch's own layer norm on the transposed vectors."""

    def forward(self, x: Tensor) -> Tensor:
        x = F.layer_norm(x.transpose(1, 2), x.shape[1:2], eps=self.eps).transpose(1, 2) * self.weight
        return x if self.bias is None else x + self.bias


@pytest.mark.parametrize(("norm", "bias"), product(("post", "pre"), (True, False)))
def test_norm_over_positions_is_layer_norm_on_the_transposed_vectors(norm, bias):
    paper, changed = paper_and_variant("norm_over_positions", norm=norm, bias=bias)
    replace_class(paper, AlongTheSentence)
    torch.testing.assert_close(changed(SRC, TGT).logits, paper(SRC, TGT).logits, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize(("norm", "positions"), product(("post", "pre"), ("sinusoidal", "rotary")))
def test_a_view_instead_of_a_transpose_is_torchs_attention_of_views(norm, positions):
    """Only with one head is it the right model."""
    for heads in (1, 4):
        paper, changed = paper_and_variant("view_for_transpose", norm=norm, positions=positions, n_heads=heads)
        wrong, right = changed(SRC, TGT).logits, paper(SRC, TGT).logits
        assert torch.allclose(wrong, right, atol=1e-5) == (heads == 1)
        for attention in attentions(paper):
            attention.split = lambda x, heads=heads: x.contiguous().view(len(x), heads, -1, 16 // heads)
            attention.concat = lambda x: x.contiguous().view(len(x), -1, 16)
        torch.testing.assert_close(wrong, with_attend(paper, F.scaled_dot_product_attention)(SRC, TGT).logits, atol=2e-5, rtol=1e-4)


def test_unshifted_learns_to_repeat_what_it_is_given_and_writes_it_for_ever():
    training = training_of(variant="unshifted", steps=60, optimiser="adam", learning_rate=0.02, schedule="constant", warmup=0)
    batch = collate(training.corpus.train[:4])
    wrong = unshifted(batch)
    assert torch.equal(wrong.tgt_out, batch.tgt_in)
    assert all(part is other for name, part, other in zip(batch._fields, batch, wrong, strict=True) if name != "tgt_out")
    assert [step.loss for step in training.steps()][-1] < 0.05
    result = training.validate()
    assert (result.token_accuracy > 0.99, result.exact_match) == (True, 0)
    assert greedy(training.model, [training.corpus.heldout[0].src_ids], 6)[0].ids == (BOS,) * 6


@pytest.mark.parametrize(("threads", "packing"), product((1, 2), (True, False)))
def test_padding_in_the_loss_is_that_of_the_whole_batch(threads, packing):
    training, model = training_of(variant="padding_in_loss", threads=threads, packing=packing, label_smoothing=0.1), training_of().model
    (batch,) = split_batch(next(batches(training.corpus.train, 8, "sentences", 1)), 1, packing)
    logits = model(batch.src, batch.tgt_in, batch.packing).logits
    expected = F.cross_entropy(logits.permute(0, 2, 1), batch.tgt_out, label_smoothing=0.1)
    assert training.validate() == training_of(packing=packing, label_smoothing=0.1).validate(), "a validation does not count padding"
    assert next(training.steps()).loss == pytest.approx(expected.item(), rel=1e-5)


@torch.inference_mode()
def test_wrong_scales_fills_lengths_and_a_softmax_in_the_loss_are_torchs_with_that_very_mistake():
    (q, k, v), mask = draw(3, 2, 4, 5, 8), torch.ones(5, 5, dtype=torch.bool).tril()
    for attend, divisor in ((scaled_twice, 8), (scaled_by_d_model, 32**0.5)):
        expected = F.scaled_dot_product_attention(q, k, v, mask, scale=1 / divisor)
        torch.testing.assert_close(attend(q, k, v, mask, 0.5, OFF)[0], expected)
    scores = q @ k.mT / math.sqrt(8)
    weights = tiny_filled(q, k, v, mask, 0.5, OFF)[1]
    torch.testing.assert_close(weights, torch.where(mask, scores, torch.zeros(())).softmax(dim=-1))
    paper, changed = paper_and_variant("wrong_lengths")
    memory, _ = paper.encode(SRC)
    wrong = F.pad(padding_mask(TGT), (0, SRC.shape[1] - TGT.shape[1]), value=False)
    states, _, weights = changed.decode(TGT, memory, padding_mask(SRC))
    torch.testing.assert_close(states, paper.decode(TGT, memory, wrong)[0])
    assert weights[0][1, :, :, 3:].count_nonzero() == 0, "the second target has three tokens"
    src, tgt_in = torch.tensor([[4, 9, 7, EOS]]), torch.tensor([[BOS, 7, 9, 4]])
    for length, same in ((4, True), (1, False)):
        assert torch.allclose(changed(src, tgt_in[:, :length]).logits, paper(src, tgt_in[:, :length]).logits) == same
    logits, tgt_out = draw(2, 5, 11) * 50, TGT
    loss = with_softmax(logits, tgt_out, 0.0)
    torch.testing.assert_close(loss, cross_entropy(logits.softmax(dim=-1), tgt_out))
    perfect = with_softmax(1000.0 * F.one_hot(tgt_out, 11), tgt_out, 0.0)
    assert perfect.item() == pytest.approx(-math.log(math.e / (math.e + 10)), abs=1e-5)


@torch.no_grad()
def test_with_one_matrix_for_two_or_without_the_last_norm_it_is_the_paper_otherwise():
    paper, changed = paper_and_variant("shared_query_key")
    for layer in (*paper.encoder, *paper.decoder):
        layer.self_attention.W_k.load_state_dict(layer.self_attention.W_q.state_dict())
    torch.testing.assert_close(changed(SRC, TGT).logits, paper(SRC, TGT).logits)
    paper, changed = paper_and_variant("no_last_norm", norm="pre")
    torch.testing.assert_close(paper.encoder_norm(changed.encode(SRC)[0]), paper.encode(SRC)[0])
    s, h, W = draw(3, 8), draw(3, 8, seed=1), draw(16, 8, seed=2)
    torch.testing.assert_close(torch.cat((s, h), dim=-1) @ W, s @ W[:8] + h @ W[8:], msg="additive attention is one of a concatenation")


@NORMS
@torch.no_grad()
def test_unchained_layers_are_a_model_of_the_last_one(norm):
    paper, changed = paper_and_variant("unchained_layers", decoder_layers=3, norm=norm)
    with torch.enable_grad():
        changed(SRC, TGT).logits.square().sum().backward()
    reached = [any(parameter.grad.count_nonzero() for parameter in layer.parameters()) for layer in changed.decoder]
    assert reached == [False, False, True], "a layer that is not chained has a gradient of exactly 0"
    paper.decoder = paper.decoder[-1:]
    torch.testing.assert_close(changed(SRC, TGT).logits, paper(SRC, TGT).logits)


@NORMS
@torch.inference_mode()
def test_a_mask_that_is_missing_at_inference_is_there_in_training(norm):
    paper, changed = paper_and_variant("no_mask_at_inference", norm=norm)
    torch.testing.assert_close(changed(SRC, TGT).logits, paper_and_variant("no_causal_mask", norm=norm)[1](SRC, TGT).logits)
    for model in (paper, changed):
        model.train()
    torch.testing.assert_close(changed(SRC, TGT).logits, paper(SRC, TGT).logits)

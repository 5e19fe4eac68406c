"""Each variant is what its name says: torch's own where torch has it, loops by hand where not."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import PAD, ModelConfig, limits
from playground.model.parts import Dropout
from playground.model.positions import sinusoids
from playground.variants.alternatives import Additive, Bilinear, Location, cosine_attention
from playground.variants.recurrent import RECURRENT
from tests.variants.varied import NORMS, OFF, SRC, TGT, built, draw, paper_and_variant, with_norms

PARTS = {"identity_output": ("W_o", torch.eye(16)), "no_feed_forward": ("W_2", torch.zeros(16, 24))}


def tensors() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """q (2, 3, 5, 4), k and v (2, 3, 7, 4), mask (2, 1, 5, 7) with one row that may look nowhere."""
    mask = draw(2, 1, 5, 7, seed=4) > -0.3
    mask[..., 2], mask[1, 0, 3] = True, False
    return draw(2, 3, 5, 4, seed=1), draw(2, 3, 7, 4, seed=2), draw(2, 3, 7, 4, seed=3), mask


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


@NORMS
@pytest.mark.parametrize("residual", [True, False])
def test_without_a_part_it_is_the_paper_with_the_identity_or_zeros_for_it(norm, residual):
    for variant, (part, weight) in PARTS.items():
        paper, changed = paper_and_variant(variant, norm=norm, residual=residual)
        with torch.no_grad():
            for linear in (module.get_submodule(part) for module in paper.modules() if hasattr(module, part)):
                linear.weight.copy_(weight)
                linear.bias.zero_()
        torch.testing.assert_close(changed(SRC, TGT).logits, paper(SRC, TGT).logits, atol=1e-5, rtol=1e-5)
        assert not [name for name, _ in changed.named_parameters() if part in name]


def test_all_matrices_are_torchs_xavier_however_many_layers_there_are_and_whatever_they_began_with():
    for name, matrix in built("plain_xavier", zero_init=True, encoder_layers=3, d_model=64).named_parameters():
        if name.startswith(("encoder.", "decoder.")) and matrix.dim() == 2:
            bound = (6 / sum(matrix.shape)) ** 0.5
            assert 0.95 * bound < matrix.abs().max() <= bound, name


def test_without_dropout_in_attention_it_is_everywhere_else():
    paper, changed = (
        {(name, part.p) for name, part in model.named_modules(remove_duplicate=False) if isinstance(part, Dropout)}
        for model in paper_and_variant("no_attention_dropout", dropout=0.5)
    )
    assert changed == {(name, 0.0 if name.endswith("attention.dropout") else p) for name, p in paper}


class Theirs(nn.BatchNorm1d):
    """torch's, over all tokens."""

    def __init__(self, norm: nn.LayerNorm) -> None:
        super().__init__(norm.weight.shape[0])
        self.weight = norm.weight
        self.bias = nn.Parameter(torch.zeros_like(norm.weight)) if norm.bias is None else norm.bias

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.flatten(0, 1)).view(x.shape)


@NORMS
@pytest.mark.parametrize("bias", [True, False])
def test_a_model_with_batch_norm_is_the_papers_with_torchs_in_every_place(norm, bias):
    paper, changed = paper_and_variant("batch_norm", norm=norm, bias=bias)
    with torch.no_grad():
        for name, parameter in changed.named_parameters():
            if name.endswith((".mean", ".variance")):
                parameter.fill_(float(name.endswith("variance")))
    theirs = with_norms(paper, Theirs)
    assert not any(isinstance(part, nn.LayerNorm) for part in changed.modules())
    for mode in (True, True, False):
        both = [(model, model.train(mode)(SRC, TGT).logits) for model in (changed, theirs)]
        torch.testing.assert_close(*(logits for _, logits in both), atol=1e-4, rtol=1e-3)
        gradients = (torch.autograd.grad(logits.square().sum(), model.tgt_embedding.weight) for model, logits in both)
        torch.testing.assert_close(*gradients, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(changed.encoder[0].norm_1.mean.data, theirs.encoder[0].norm_1.running_mean)
    torch.testing.assert_close(changed.encoder[0].norm_1.variance.data, theirs.encoder[0].norm_1.running_var)


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

"""Each variant is what its name says: torch's own where torch has it, loops by hand where not."""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import ModelConfig
from playground.model.attention import scaled_dot_product_attention
from playground.model.parts import Dropout
from playground.model.positions import sinusoids
from playground.variants.alternatives import Additive, BatchNorm, Bilinear, Location, cosine_attention
from tests.model.shared_copies import disturb
from tests.variants.varied import SRC, TGT, attentions, beside, built, with_attend, with_norms

OFF = Dropout(0.0, torch.Generator())
CONFIG = ModelConfig(d_model=12, n_heads=3)  # K = 4
NORMS = pytest.mark.parametrize("norm", ["post", "pre"])


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def asked() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """q (2, 3, 5, 4), k and v (2, 3, 7, 4), mask (2, 1, 5, 7) with one row that may look nowhere."""
    mask = draw(2, 1, 5, 7, seed=4) > -0.3
    mask[..., 2], mask[1, 0, 3] = True, False
    return draw(2, 3, 5, 4, seed=1), draw(2, 3, 7, 4, seed=2), draw(2, 3, 7, 4, seed=3), mask


def mixed(score, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Attention in loops: `score(head, query, key)` is a number."""
    out, weights = torch.zeros_like(q), torch.zeros(*q.shape[:3], k.shape[2])
    for b, h, i in torch.cartesian_prod(*map(torch.arange, q.shape[:3])).tolist():
        strength = {j: math.exp(score(h, q[b, h, i], k[b, h, j])) for j in range(k.shape[2]) if mask[b, 0, i, j]}
        for j, value in strength.items():
            weights[b, h, i, j] = value / sum(strength.values())
            out[b, h, i] += weights[b, h, i, j] * v[b, h, j]
    return out, weights


# --- how well a query fits a key ---


def test_additive_attention_in_loops():
    attend = disturb(Additive(CONFIG, torch.Generator().manual_seed(1)))
    q, k, v, mask = asked()

    def score(head: int, query: Tensor, key: Tensor) -> float:
        return sum(attend.v[head, d].item() * math.tanh(query[d] + key[d]) for d in range(4))

    for ours, theirs in zip(attend(q, k, v, mask, 0.5, OFF), mixed(score, q, k, v, mask), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_additive_attention_by_hand():
    attend = Additive(ModelConfig(d_model=8, n_heads=8), torch.Generator())
    with torch.no_grad():
        attend.v.fill_(2.0)
    q, k = torch.full((1, 8, 1, 1), 0.5), torch.tensor([0.5, -0.5])[None, None, :, None].expand(1, 8, 2, 1)
    _, weights = attend(q, k, k, torch.ones(1, 1, 1, 2, dtype=torch.bool), 0.5, OFF)
    first = math.exp(2 * math.tanh(1)) / (math.exp(2 * math.tanh(1)) + 1)  # the other score is 2 tanh(0)
    assert weights[0, 0, 0].tolist() == pytest.approx([first, 1 - first])


@pytest.mark.parametrize("scale", [0.5, 0.0, 1.0])
def test_bilinear_attention_begins_as_the_dot_product(scale):
    paper, changed = (built(variant, attention_scale=scale, n_heads=4) for variant in ("none", "bilinear"))
    torch.testing.assert_close(changed(SRC, TGT).logits, paper(SRC, TGT).logits, atol=1e-6, rtol=1e-5)


def test_bilinear_attention_is_torchs_bilinear_form():
    attend = Bilinear(CONFIG, torch.Generator())
    with torch.no_grad():
        attend.W.copy_(draw(12, 4, seed=8))
    q, k, v, mask = asked()
    for head in range(3):
        queries, keys = q[:, head, :, None].expand(2, 5, 7, 4), k[:, head, None].expand(2, 5, 7, 4)
        scores = F.bilinear(queries.contiguous(), keys.contiguous(), attend.W.view(3, 4, 4)[head][None])[..., 0]
        weights = scores.masked_fill(~mask[:, 0], -torch.inf).softmax(dim=-1).nan_to_num()
        out, found = attend(q, k, v, mask, 0.5, OFF)
        torch.testing.assert_close(found[:, head], weights, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(out[:, head], weights @ v[:, head], atol=1e-5, rtol=1e-5)


def test_bilinear_attention_in_the_model_has_a_matrix_for_each_head():
    model = disturb(built("bilinear", n_heads=4))
    assert {attention.attend.W.shape for attention in attentions(model)} == {(16, 4)}
    assert len({id(attention.attend.W) for attention in attentions(model)}) == 3


@pytest.mark.parametrize("power", [0.5, 0.0, 1.0])
def test_cosine_attention_is_torchs_cosine(power):
    q, k, v, mask = asked()
    scores = F.cosine_similarity(q[..., :, None, :], k[..., None, :, :], dim=-1) * 4 / 4**power
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1).nan_to_num()
    out, found = cosine_attention(q, k, v, mask, power, OFF)
    torch.testing.assert_close(found, weights, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(out, weights @ v, atol=1e-6, rtol=1e-5)


def test_cosine_attention_does_not_know_how_long_a_vector_is():
    q, k, v, mask = asked()
    long = cosine_attention(q * 100, k * draw(2, 3, 7, 1).abs(), v, mask, 0.5, OFF)[1]
    torch.testing.assert_close(long, cosine_attention(q, k, v, mask, 0.5, OFF)[1])


def test_location_based_attention_in_loops():
    """Positions are counted from the first that a query sees."""
    attend = disturb(Location(CONFIG, torch.Generator().manual_seed(1)))
    q, k, v, mask = asked()
    W, first = attend.W.view(3, 4, -1), mask[:, 0].int().argmax(dim=-1)
    scores = torch.zeros(2, 3, 5, 7)
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, scores.shape)).tolist():
        if mask[b, 0, i, j]:
            scores[b, h, i, j] = sum(q[b, h, i, d] * W[h, d, j - first[b, i]] for d in range(4))
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1).nan_to_num()
    out, found = attend(q, k, v, mask, 0.5, OFF)
    torch.testing.assert_close(found, weights, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(out, weights @ v, atol=1e-5, rtol=1e-5)


def test_location_based_attention_does_not_look_at_keys():
    attend = Location(CONFIG, torch.Generator().manual_seed(1))
    q, k, v, mask = asked()
    assert torch.equal(attend(q, k, v, mask, 0.5, OFF)[1], attend(q, -3 * k, v, mask, 0.5, OFF)[1])
    assert not torch.allclose(attend(q, k, v, mask, 0.5, OFF)[1], attend(-q, k, v, mask, 0.5, OFF)[1])


@pytest.mark.parametrize("variant", ["additive", "bilinear", "cosine", "location"])
def test_rows_sum_to_one_masked_cells_are_zero_and_gradients_are_numbers(variant):
    attention = attentions(beside(variant, d_model=8, n_heads=2)[1])[0]
    q, k, v, mask = (tensor[:, :2].requires_grad_() if tensor.is_floating_point() else tensor for tensor in asked())
    out, weights = attention.attend(q * 30, k * 30, v, mask, True, attention.dropout)
    torch.testing.assert_close(weights.sum(dim=-1), mask.any(dim=-1).float().expand(2, 2, 5))
    assert (weights.masked_select(~mask) == 0).all()
    out.square().sum().backward()
    assert all(tensor.grad.isfinite().all() for tensor in ((q, v) if variant == "location" else (q, k, v)))
    assert all(parameter.grad.isfinite().all() for parameter in attention.attend.parameters()) if variant != "cosine" else True


@NORMS
@pytest.mark.parametrize("variant", ["additive", "bilinear", "cosine", "location"])
def test_with_the_dot_product_back_it_is_the_papers_model(variant, norm):
    paper, altered = beside(variant, norm=norm)
    changed = altered(SRC, TGT).logits
    for model in (paper, altered):
        for attention in attentions(model):
            attention._modules.pop("attend", None)
        with_attend(model, lambda q, k, v, mask: scaled_dot_product_attention(q, k, v, mask)[0])
    assert torch.equal(paper(SRC, TGT).logits, altered(SRC, TGT).logits)
    assert not torch.allclose(changed, paper(SRC, TGT).logits)


# --- parts left out ---


@NORMS
def test_without_w_o_is_the_paper_with_the_identity_for_it(norm):
    paper, changed = beside("identity_output", norm=norm)
    with torch.no_grad():
        for attention in attentions(paper):
            attention.W_o.weight.copy_(torch.eye(16))
            attention.W_o.bias.zero_()
    torch.testing.assert_close(changed(SRC, TGT).logits, paper(SRC, TGT).logits, atol=1e-5, rtol=1e-5)
    assert not [name for name, _ in changed.named_parameters() if "W_o" in name]


@NORMS
@pytest.mark.parametrize("residual", [True, False])
def test_without_feed_forward_is_the_paper_with_zeros_for_it(norm, residual):
    paper, changed = beside("no_feed_forward", norm=norm, residual=residual)
    with torch.no_grad():
        for layer in (*paper.encoder, *paper.decoder):
            layer.feed_forward.W_2.weight.zero_()
            layer.feed_forward.W_2.bias.zero_()
    torch.testing.assert_close(changed(SRC, TGT).logits, paper(SRC, TGT).logits)
    assert not [name for name, _ in changed.named_parameters() if "feed_forward" in name]


def test_without_dropout_in_attention_it_is_everywhere_else():
    paper, altered = (model.train() for model in beside("no_attention_dropout", dropout=0.5))
    drawn = {}
    for model in (paper, altered):
        for name, part in model.named_modules(remove_duplicate=False):
            if isinstance(part, Dropout):
                drawn.setdefault(name, []).append(part.p)
    changed = {name for name, (before, now) in drawn.items() if before != now}
    assert changed == {name for name in drawn if name.endswith("attention.dropout")}
    assert {now for _, now in drawn.values()} == {0.5, 0.0}
    assert not torch.equal(altered(SRC, TGT).logits, altered(SRC, TGT).logits)
    for attention in attentions(paper):
        attention.dropout = nn.Identity()
        attention.dropout.active = False
    logits = []
    for model in (paper, altered):
        model.generator.manual_seed(7)
        logits.append(model(SRC, TGT).logits)
    assert torch.equal(*logits)
    assert torch.equal(altered.eval()(SRC, TGT).logits, paper.eval()(SRC, TGT).logits)


# --- the norm and the positions ---


class Theirs(nn.BatchNorm1d):
    """torch's, over all tokens."""

    def __init__(self, norm: nn.LayerNorm) -> None:
        super().__init__(norm.weight.shape[0])
        self.weight = norm.weight
        self.bias = nn.Parameter(torch.zeros_like(norm.weight)) if norm.bias is None else norm.bias

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.flatten(0, 1)).view(x.shape)


@pytest.mark.parametrize("bias", [True, False])
def test_batch_norm_is_torchs_while_it_learns_and_when_it_is_asked(bias):
    norm = disturb(nn.LayerNorm(6, bias=bias))
    ours, theirs = BatchNorm(norm), Theirs(norm)
    for number in range(6):
        x, direction = 2 * draw(4, 5, 6, seed=number) + number, draw(4, 5, 6, seed=9)
        gradients = []
        for part in (ours.train(), theirs.train()):
            given = x.clone().requires_grad_()
            found = part(given)
            gradients.append((found, *torch.autograd.grad(found, [given, norm.weight], direction)))
        for one, other in zip(*gradients, strict=True):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(ours.mean.data, theirs.running_mean)
        torch.testing.assert_close(ours.variance.data, theirs.running_var)
    for part in (ours, theirs):
        part.eval()
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-5, rtol=1e-4)
    before = ours.mean.clone()
    ours(x + 100)
    assert torch.equal(ours.mean, before), "who is asked learns nothing"


@NORMS
@pytest.mark.parametrize("bias", [True, False])
def test_a_model_with_batch_norm_is_the_papers_with_torchs_in_every_place(norm, bias):
    paper, changed = beside("batch_norm", norm=norm, bias=bias)
    with torch.no_grad():
        for name, parameter in changed.named_parameters():
            if name.endswith((".mean", ".variance")):
                parameter.fill_(float(name.endswith("variance")))
    theirs = with_norms(paper, Theirs)
    assert not any(isinstance(part, nn.LayerNorm) for part in changed.modules())
    for mode in (True, True, False):
        logits = [model.train(mode)(SRC, TGT).logits for model in (changed, theirs)]
        torch.testing.assert_close(*logits, atol=1e-4, rtol=1e-3)


def test_batch_norm_by_hand():
    ours = BatchNorm(nn.LayerNorm(1))
    x = torch.tensor([[[1.0], [3.0]]])
    assert ours(x).flatten().tolist() == pytest.approx([-1, 1], abs=1e-4)
    assert (ours.mean.item(), ours.variance.item()) == pytest.approx((0.2, 1.1))  # 0.9 * 0 + 0.1 * 2, 0.9 * 1 + 0.1 * 2
    assert ours.eval()(x).flatten().tolist() == pytest.approx([0.8 / 1.1**0.5, 2.8 / 1.1**0.5], abs=1e-4)


@pytest.mark.parametrize("positions", ["sinusoidal", "both"])
def test_concatenated_positions_are_the_same_columns_in_another_order(positions):
    paper, changed = beside("concatenated", positions=positions)
    order = torch.cat((torch.arange(0, 16, 2), torch.arange(1, 16, 2)))
    for side in ("src_positions", "tgt_positions"):
        assert torch.equal(getattr(changed, side).table, sinusoids(256, 16)[:, order])
        getattr(paper, side).table = getattr(paper, side).table[:, order]
    assert torch.equal(paper(SRC, TGT).logits, changed(SRC, TGT).logits)
    assert "src_positions.table" not in changed.state_dict()


def test_concatenated_positions_by_hand():
    """Tensor2tensor's: the sines of all wavelengths, then their cosines."""
    table = built("concatenated").src_positions.table
    angles = [3 / 10000 ** (2 * i / 16) for i in range(8)]
    assert table[3].tolist() == pytest.approx([*map(math.sin, angles), *map(math.cos, angles)], abs=1e-6)


@pytest.mark.parametrize("positions", ["learned", "rotary", "none"])
def test_concatenated_changes_nothing_where_there_are_no_sinusoids(positions):
    paper, changed = beside("concatenated", positions=positions)
    assert torch.equal(paper(SRC, TGT).logits, changed(SRC, TGT).logits)

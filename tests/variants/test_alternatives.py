"""Each variant is what its name says: torch's own where torch has it, loops by hand where not."""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import ModelConfig, limits
from playground.model.attention import scaled_dot_product_attention
from playground.model.parts import Dropout
from playground.model.positions import sinusoids
from playground.variants.alternatives import Additive, BatchNorm, Bilinear, Location, cosine_attention
from tests.model.shared_copies import disturb
from tests.variants.varied import SRC, TGT, attentions, beside, built, with_attend, with_norms

OFF = Dropout(0.0, torch.Generator())
CONFIG = ModelConfig(d_model=12, n_heads=3)  # K = 4
PARTS = {"identity_output": "W_o", "no_feed_forward": "W_2"}
NORMS = pytest.mark.parametrize("norm", ["post", "pre"])


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def given() -> tuple[Tensor, Tensor, Tensor, Tensor]:
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
    q, k, v, mask = given()

    def score(head: int, query: Tensor, key: Tensor) -> float:
        return sum(attend.v[head, d].item() * math.tanh(query[d] + key[d]) for d in range(4))

    for ours, theirs in zip(attend(q, k, v, mask, 0.5, OFF), mixed(score, q, k, v, mask), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_bilinear_attention_is_torchs_bilinear_form_and_begins_as_the_dot_product():
    for scale in (0.5, 0.0, 1.0):
        paper, changed = (built(variant, attention_scale=scale, n_heads=4) for variant in ("none", "bilinear"))
        torch.testing.assert_close(changed(SRC, TGT).logits, paper(SRC, TGT).logits, atol=1e-6, rtol=1e-5)
    attend = Bilinear(CONFIG, torch.Generator())
    with torch.no_grad():
        attend.W.copy_(draw(12, 4, seed=8))
    q, k, v, mask = given()
    for head in range(3):
        queries, keys = q[:, head, :, None].expand(2, 5, 7, 4), k[:, head, None].expand(2, 5, 7, 4)
        scores = F.bilinear(queries.contiguous(), keys.contiguous(), attend.W.view(3, 4, 4)[head][None])[..., 0]
        weights = scores.masked_fill(~mask[:, 0], -torch.inf).softmax(dim=-1).nan_to_num()
        out, found = attend(q, k, v, mask, 0.5, OFF)
        torch.testing.assert_close(found[:, head], weights, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(out[:, head], weights @ v[:, head], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("power", [0.5, 0.0, 1.0])
def test_cosine_attention_is_torchs_cosine(power):
    q, k, v, mask = given()
    scores = F.cosine_similarity(q[..., :, None, :], k[..., None, :, :], dim=-1) * 4 / 4**power
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1).nan_to_num()
    out, found = cosine_attention(q, k, v, mask, power, OFF)
    torch.testing.assert_close(found, weights, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(out, weights @ v, atol=1e-6, rtol=1e-5)


def test_location_based_attention_in_loops():
    """Positions are counted from the first that a query sees."""
    attend = disturb(Location(CONFIG, torch.Generator().manual_seed(1)))
    q, k, v, mask = given()
    W, first = attend.W.view(3, 4, -1), mask[:, 0].int().argmax(dim=-1)
    scores = torch.zeros(2, 3, 5, 7)
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, scores.shape)).tolist():
        if mask[b, 0, i, j]:
            scores[b, h, i, j] = sum(q[b, h, i, d] * W[h, d, j - first[b, i]] for d in range(4))
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1).nan_to_num()
    out, found = attend(q, k, v, mask, 0.5, OFF)
    torch.testing.assert_close(found, weights, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(out, weights @ v, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("variant", ["additive", "bilinear", "cosine", "location"])
def test_rows_sum_to_one_masked_cells_are_zero_and_gradients_are_numbers(variant):
    attention = attentions(beside(variant, d_model=8, n_heads=2)[1])[0]
    q, k, v, mask = (tensor[:, :2].requires_grad_() if tensor.is_floating_point() else tensor for tensor in given())
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
@pytest.mark.parametrize("residual", [True, False])
def test_without_a_part_it_is_the_paper_with_the_identity_or_zeros_for_it(norm, residual):
    for variant in ("identity_output", "no_feed_forward"):
        paper, changed = beside(variant, norm=norm, residual=residual)
        left_out = [part.W_o if variant == "identity_output" else part.W_2 for part in paper.modules() if hasattr(part, PARTS[variant])]
        with torch.no_grad():
            for linear in left_out:
                linear.weight.copy_(torch.eye(16) if variant == "identity_output" else torch.zeros(16, 24))
                linear.bias.zero_()
        torch.testing.assert_close(changed(SRC, TGT).logits, paper(SRC, TGT).logits, atol=1e-5, rtol=1e-5)
        assert not [name for name, _ in changed.named_parameters() if PARTS[variant] in name]


def test_without_dropout_in_attention_it_is_everywhere_else():
    paper, altered = (model.train() for model in beside("no_attention_dropout", dropout=0.5))
    shares = [
        {(name, part.p) for name, part in model.named_modules(remove_duplicate=False) if isinstance(part, Dropout)}
        for model in (paper, altered)
    ]
    assert {p for _, p in shares[0]} == {0.5}
    assert shares[1] == {(name, 0.0 if name.endswith("attention.dropout") else 0.5) for name, _ in shares[0]}
    for attention in attentions(paper):
        attention.dropout = nn.Identity()
        attention.dropout.active = False
    logits = []
    for model in (paper, altered):
        model.generator.manual_seed(7)
        logits.append(model(SRC, TGT).logits)
    assert torch.equal(*logits)
    assert not torch.equal(altered(SRC, TGT).logits, logits[1])


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
            x_here = x.clone().requires_grad_()
            out = part(x_here)
            gradients.append((out, *torch.autograd.grad(out, [x_here, norm.weight], direction)))
        for one, other in zip(*gradients, strict=True):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(ours.mean.data, theirs.running_mean)
        torch.testing.assert_close(ours.variance.data, theirs.running_var)
    for part in (ours, theirs):
        part.eval()
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-5, rtol=1e-4)
    before = ours.mean.clone()
    ours(x + 100)
    assert torch.equal(ours.mean, before), "in eval mode nothing is learnt"


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


@pytest.mark.parametrize("positions", limits("positions").choices)
def test_concatenated_positions_are_the_same_columns_in_another_order(positions):
    """And where there are no sinusoids nothing changes."""
    paper, changed = beside("concatenated", positions=positions)
    order = torch.cat((torch.arange(0, 16, 2), torch.arange(1, 16, 2)))
    for side in ("src_positions", "tgt_positions") if positions in ("sinusoidal", "both") else ():
        assert torch.equal(getattr(changed, side).table, sinusoids(256, 16)[:, order])
        getattr(paper, side).table = getattr(paper, side).table[:, order]
    assert torch.equal(paper(SRC, TGT).logits, changed(SRC, TGT).logits)
    assert ("src_positions.table" in changed.state_dict()) == (positions == "learned")

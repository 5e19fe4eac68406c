"""The worked examples of tokens, masks and losses: what each computes is torch's or sentencepiece's. What they say holds: test_labs.py."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from playground.config import PAD
from playground.lessons.tensors import bpe, layouts, loss, masks, padding_sides, vocabulary
from playground.model.attention import scaled_dot_product_attention
from playground.model.masks import padding_mask
from playground.model.padding import padded
from playground.training.loss import cross_entropy


@given(st.lists(st.text("ab", min_size=1, max_size=6), min_size=1, max_size=5), st.integers(1, 6))
def test_pieces_are_always_the_word_again(words, most):
    merges = bpe.learn((" ".join(words),), most)
    assert bpe.learn(("aab ab",), 1) == [(("a", "b"), 2)], "as frequent as ▁a, and before it in the alphabet"
    assert [count for _, count in merges] == sorted((count for _, count in merges), reverse=True)
    for word in words:
        assert all("".join(stage) == bpe.BEGIN + word for stage in bpe.encode(word, merges))


def test_log_softmax_and_cross_entropy_are_torchs():
    logits = torch.randn(3, 6, dtype=torch.float64) * 10
    torch.testing.assert_close(vocabulary.log_softmax(logits), F.log_softmax(logits, dim=-1))
    right = torch.tensor([0, 5, 2])
    assert vocabulary.loss(logits, right) == pytest.approx(F.cross_entropy(logits, right).item())
    torch.testing.assert_close(vocabulary.repeated("log_softmax", logits, 2), vocabulary.repeated("log_softmax", logits, 1))
    twice = vocabulary.repeated("softmax", torch.tensor([0.0, 100.0]), 2).tolist()
    assert twice == pytest.approx([1 / (1 + math.e), math.e / (1 + math.e)])


def test_three_layouts_give_the_loss_and_a_refusal_is_torchs_own():
    logits, tgt_out = torch.randn(layouts.B, layouts.T, layouts.V, dtype=torch.float64), torch.randint(layouts.V, (layouts.B, layouts.T))
    for way in (layouts.flattened, layouts.transposed, layouts.one_hot):
        torch.testing.assert_close(way(logits, tgt_out), layouts.by_hand(logits, tgt_out))
    logits, tgt_out = torch.randn(layouts.B, 5, layouts.V), torch.randint(layouts.V, (layouts.B, 5))
    with pytest.raises((RuntimeError, ValueError)) as refused:
        layouts.untouched(logits, tgt_out)
    assert layouts.tried(layouts.untouched, logits, tgt_out) == str(refused.value).splitlines()[0]


@pytest.mark.parametrize("eps", [0.0, 0.1, 0.3])
def test_the_masked_loss_is_torchs_cell_by_cell_in_the_mean_and_smoothed(eps):
    logits, tgt_out = torch.randn(2, 6, len(loss.VOCABULARY)), loss.batch()[1]
    flat, right = logits.flatten(0, 1), tgt_out.flatten()
    torch.testing.assert_close(loss.cell_losses(logits, tgt_out), F.cross_entropy(flat, right, reduction="none").view_as(tgt_out))
    expected = F.cross_entropy(flat, right), F.cross_entropy(flat, right, ignore_index=PAD)
    assert loss.means(logits, tgt_out) == pytest.approx([mean.item() for mean in expected])
    assert [loss.renamed(logits, tgt_out, index) for index in (PAD, -100, 99)] == pytest.approx([expected[1].item()] * 3)
    theirs = F.cross_entropy(flat, right, ignore_index=PAD, label_smoothing=eps)
    torch.testing.assert_close(loss.by_hand(logits, tgt_out, eps), theirs)
    torch.testing.assert_close(cross_entropy(logits, tgt_out, eps), theirs)
    first = torch.randn(7, 7, generator=torch.Generator().manual_seed(1)) * 0.1
    for counted in (False, True):
        assert torch.equal(loss.learn(1, counted=counted)[1, -1], first[PAD]) != counted, "padding ignored teaches nothing about padding"


def test_the_fills_that_mask_are_torchs_masked_fill_and_the_typo_masks_nothing():
    scores, hidden, v = torch.randn(4, 4), masks.future(4), torch.randn(4, 4)
    for fill in (masks.LARGE, masks.INFINITE):
        expected = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
        torch.testing.assert_close(masks.filled(scores, hidden, float(fill)), expected)
    torch.testing.assert_close(masks.filled(scores, hidden, float(masks.TYPO)), scores.softmax(dim=-1))
    row, every = scores[:1], torch.ones(1, 4, dtype=torch.bool)
    assert masks.filled(row, every, float(masks.INFINITE)).isnan().all()
    assert masks.filled(row, every, float(masks.LARGE)).tolist() == [[0.25] * 4]
    assert scaled_dot_product_attention(row, v, v, ~every)[1].tolist() == [[0.0] * 4]


def test_the_steps_to_a_mask_by_hand():
    assert masks.outer(torch.tensor([True, True, False])).tolist() == [[True, True, False], [True, True, False], [False, False, False]]
    assert masks.future(3).tolist() == [[False, True, True], [False, False, True], [False, False, False]]
    rows = [[5, 6, 7], [4], [4, 5]]
    assert torch.equal(masks.valid(torch.tensor(list(map(len, rows))), 3), padding_mask(padded(rows))[:, 0, 0])
    weights, hidden = torch.tensor([[0.7, 0.3], [0.5, 0.5], [1.0, 0.0]]), torch.tensor([[False, True], [False, True], [True, True]])
    assert masks.share(weights, hidden, torch.tensor([True, True, False])) == pytest.approx(0.4)  # the third row is padding


def test_padding_gets_no_gradient_through_a_mask_and_padding_idx_hides_a_missing_one(monkeypatch):
    left, right = (padding_sides.padded((4, 5, 6), 2, side) for side in ("left", "right"))
    assert (left.tolist(), padding_sides.counted_from_the_edge(left).tolist()) == ([[PAD, PAD, 4, 5, 6]], [[0, 1, 2, 3, 4]])
    assert padding_sides.counted_from_the_first(left).tolist() == [[0, 0, 0, 1, 2]]
    assert padding_sides.counted_from_the_first(right)[0, :3].tolist() == [0, 1, 2]
    rows = torch.randn(padding_sides.SIZE, padding_sides.WIDTH)
    for masked, index, learns in ((True, None, False), (False, None, True), (False, PAD, False)):
        assert (padding_sides.gradient_of_padding(rows, masked=masked, padding_idx=index) > 0) == learns
    norms = padding_sides.norms_with_padding_idx(rows)
    assert (norms["pad_before"], norms["pad_after"]) == (0, 0), "the row of padding is zeros and stays so"
    assert abs(norms["token_after"] - norms["token_before"]) > 1e-3
    monkeypatch.setattr(padding_sides, "Embedding", lambda size, width, padding_idx: torch.nn.Embedding(size, width))
    norms = padding_sides.norms_with_padding_idx(rows)
    assert 0 < norms["pad_before"] != norms["pad_after"]

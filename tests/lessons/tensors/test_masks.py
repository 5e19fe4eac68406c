"""Truths about the lab of the masks."""

import pytest
import torch

from playground.inspection.masks import batch
from playground.lessons.tensors import masks as lab
from playground.model.attention import scaled_dot_product_attention
from playground.model.masks import padding_mask
from playground.model.padding import padded


def exhibit(outcome, name):
    return next(shown for shown in outcome.exhibits if shown.name == name)


def test_what_is_valid_is_what_is_no_padding():
    rows = [[5, 6, 7], [4], [4, 5]]
    found = lab.valid(torch.tensor([len(row) for row in rows]), 3)
    assert torch.equal(found, padding_mask(padded(rows))[:, 0, 0])


def test_the_steps_by_hand():
    """Two tokens and a PAD: of 9 cells 4 are between tokens, 3 in the future, one of these between tokens."""
    both = lab.outer(torch.tensor([True, True, False]))
    assert both.tolist() == [[True, True, False], [True, True, False], [False, False, False]]
    assert lab.future(3).tolist() == [[False, True, True], [False, False, True], [False, False, False]]
    assert (~both | lab.future(3)).sum() == 5 + 3 - 2


@pytest.mark.parametrize("fill", [lab.LARGE, lab.INFINITE])
def test_the_fills_that_mask_are_torchs_masked_fill(fill):
    scores, hidden = torch.randn(4, 4), lab.future(4)
    expected = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
    torch.testing.assert_close(lab.filled(scores, hidden, float(fill)), expected)


def test_the_fill_that_does_not():
    scores = torch.randn(4, 4)
    torch.testing.assert_close(lab.filled(scores, lab.future(4), float(lab.TYPO)), scores.softmax(dim=-1))


def test_a_row_in_which_everything_is_hidden():
    scores, hidden = torch.randn(1, 4), torch.ones(1, 4, dtype=torch.bool)
    assert lab.filled(scores, hidden, float(lab.INFINITE)).isnan().all()
    assert lab.filled(scores, hidden, float(lab.LARGE)).tolist() == [[0.25] * 4]
    assert scaled_dot_product_attention(scores, torch.randn(4, 4), torch.randn(4, 4), ~hidden)[1].tolist() == [[0.0] * 4]


def test_the_share_by_hand():
    """Rows give 0.3 and 0.5 to what is hidden; the third is padding and does not count."""
    weights = torch.tensor([[0.7, 0.3], [0.5, 0.5], [1.0, 0.0]])
    hidden = torch.tensor([[False, True], [False, True], [True, True]])
    assert lab.share(weights, hidden, torch.tensor([True, True, False])) == pytest.approx(0.4)


def test_the_union_is_the_models_mask_except_in_rows_of_padding():
    outcome, tokens = lab.run(1, lab.LARGE), len(lab.TARGETS[1])
    union, target = ~exhibit(outcome, "union").values.astype(bool), batch(lab.SOURCES, lab.TARGETS)["target"][1]
    assert (union[:tokens] == target[:tokens]).all()
    assert not union[tokens:].any()
    assert exhibit(outcome, "target").said["rows"] == len(union) - tokens == (union != target).any(axis=1).sum()


def test_what_the_prose_says():
    for seed in range(20):
        for fill in lab.FILLS:
            outcome = lab.run(seed, fill)
            assert outcome.answer == "nothing"
            assert outcome.numbers["typo"] == pytest.approx(outcome.numbers["before"], abs=1e-6)
            assert outcome.numbers["large"] == outcome.numbers["infinite"] == outcome.numbers["difference"] == 0
            none, large, infinite, typo = exhibit(outcome, "fills").values
            assert large.tolist() == infinite.tolist()
            assert typo.tolist() == pytest.approx(none.tolist())
            said = exhibit(outcome, "weights").said
            assert said["empty"] == (8 if fill == lab.INFINITE else 0)

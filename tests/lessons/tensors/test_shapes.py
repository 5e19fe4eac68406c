"""Truths about the lab of the shapes."""

import pytest
import torch
from torch.nn import functional as F

from playground.lessons.tensors import shapes as lab
from playground.model.attention import scaled_dot_product_attention
from playground.model.masks import causal_mask


def exhibit(outcome, name):
    return next(shown for shown in outcome.exhibits if shown.name == name)


def test_by_hand():
    """Two heads: the first of two tokens of four numbers goes to head 0 as a whole when there is only a view."""
    x = torch.tensor([[[0, 1, 2, 3], [100, 101, 102, 103]]])
    assert lab.viewed(x, 2).tolist() == [[[[0, 1], [2, 3]], [[100, 101], [102, 103]]]]


@pytest.mark.parametrize("heads", [2, 4])
def test_a_head_is_a_slice_of_dimensions(heads):
    outcome, width = lab.run(1, heads), lab.WIDTH // heads
    assert exhibit(outcome, "right").values.tolist() == lab.numbered()[0, :, :width].tolist()
    assert outcome.answer == "mixed"
    assert outcome.numbers["back"] == 0


def test_with_one_head_there_is_nothing_to_mix():
    assert lab.run(1, 1).answer == "same"


def test_the_loop_is_the_batched_product():
    q, k = torch.randn(2, 2, 3, 4, 5)
    torch.testing.assert_close(lab.by_loop(q, k), torch.einsum("bhqd,bhkd->bhqk", q, k))


def test_one_matrix_in_three_pieces_is_three_matrices():
    x, matrices = torch.randn(2, 3, 8), torch.randn(3, 8, 8)
    for found, matrix in zip(lab.chunked(x, *matrices), matrices, strict=True):
        torch.testing.assert_close(found, F.linear(x, matrix.T))


@pytest.mark.parametrize("heads", [2, 4])
def test_view_refuses_what_reshape_copies(heads):
    said = exhibit(lab.run(1, heads), "strides").said
    assert said["refusal"].startswith("view size is not compatible")
    assert said["copied"]
    assert said["head"] != said["needed"]
    assert lab.refusal(torch.zeros(2, 3, 4), (2, 12)) == ""


@pytest.mark.parametrize("heads", [2, 4])
def test_the_strides_by_hand(heads):
    """In memory a token is D numbers; after attention each head has L rows of K."""
    length, width = lab.LENGTH, lab.WIDTH // heads
    cut, split, attended, returned = exhibit(lab.run(1, heads), "strides").values[:, 1:].tolist()
    assert cut == [lab.WIDTH, width, 1]
    assert split == [width, lab.WIDTH, 1]
    assert attended == [length * width, width, 1]
    assert returned == [width, length * width, 1]


def test_broadcasting_is_the_outer_product():
    torch.testing.assert_close(lab.angles(6, 8), torch.outer(torch.arange(6.0), torch.tensor([1, 0.1, 0.01, 0.001])))


@pytest.mark.parametrize(("left", "right", "both"), exhibit(lab.run(1, 2), "fits").rows)
def test_shapes_fit_as_torch_multiplies_them(left, right, both):
    one, other = (torch.ones(*map(int, shape.strip("(,)").split(", "))) for shape in (left, right))
    if both == "refused":
        with pytest.raises(RuntimeError, match="must match"):
            one * other
    else:
        assert str(tuple((one * other).shape)) == both


@pytest.mark.parametrize("heads", [2, 4])
def test_a_mask_need_not_be_repeated_for_each_head(heads):
    """Torch's own function, given the repeated mask, returns what ours does with the broadcast one; another mask makes a difference."""
    outcome = lab.run(1, heads)
    assert outcome.numbers["mask"] == 0
    length = lab.LENGTH
    row = (f"(1, 1, {length}, {length})", f"(1, {heads}, {length}, {length})", f"(1, {heads}, {length}, {length})")
    assert exhibit(outcome, "fits").rows[-1] == row
    q, k, v = torch.randn(3, 1, heads, length, 4)
    assert lab.mask_apart(q, k, v) == 0
    repeated = causal_mask(length).repeat(1, heads, 1, 1)
    ours = scaled_dot_product_attention(q, k, v, causal_mask(length))[0]
    torch.testing.assert_close(ours, F.scaled_dot_product_attention(q, k, v, repeated))
    repeated[:, -1] = True
    assert (ours - F.scaled_dot_product_attention(q, k, v, repeated)).abs().max() > 0.1


def test_both_kinds_of_pairs_are_shown():
    found = {both for *_, both in exhibit(lab.run(1, 2), "fits").rows}
    assert {"refused", "(3, 2, 3)", "(5, 3)"} <= found


def test_what_the_prose_says():
    for seed in range(10):
        for heads in (2, 4):
            outcome = lab.run(seed, heads)
            assert outcome.numbers["loop"] < 1e-5
            assert outcome.numbers["chunk"] < 1e-5
            assert outcome.numbers["positions"] * heads == lab.LENGTH

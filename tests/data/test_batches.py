"""Truths about batches: what is in them, and in which order they come."""

from itertools import islice, pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.utils.rnn import pad_sequence

from playground.config import BOS, EOS, PAD
from playground.data.batches import batches, collate
from playground.data.corpus import Item

ids = st.lists(st.integers(3, 99), max_size=9).map(tuple)
some_items = st.lists(st.builds(Item, st.just(""), st.just(""), ids, ids), min_size=1, max_size=20)


def items_of(*lengths: tuple[int, int]) -> list[Item]:
    """Items of these source and target lengths; the first target token numbers them."""
    return [Item("", "", (9,) * src, (100 + n, *(8,) * (tgt - 1))) for n, (src, tgt) in enumerate(lengths)]


def order(batch) -> list[int]:
    return batch.tgt_out[:, 0].tolist()


def same(one, other) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_collate_by_hand():
    batch = collate([Item("", "", (5, 6, 7), (8,)), Item("", "", (5,), (8, 9))])
    assert batch.src.tolist() == [[5, 6, 7, EOS], [5, EOS, PAD, PAD]]
    assert batch.tgt_in.tolist() == [[BOS, 8, PAD], [BOS, 8, 9]]
    assert batch.tgt_out.tolist() == [[8, EOS, PAD], [8, 9, EOS]]


@given(some_items)
@settings(max_examples=50)
def test_collate_equals_pad_sequence(items):
    rows = [[(*i.src_ids, EOS) for i in items], [(BOS, *i.tgt_ids) for i in items], [(*i.tgt_ids, EOS) for i in items]]
    for got, expected in zip(collate(items), rows, strict=True):
        assert got.dtype == torch.long
        assert got.is_contiguous()
        assert torch.equal(got, pad_sequence([torch.tensor(row) for row in expected], batch_first=True, padding_value=PAD))


@pytest.mark.parametrize(("unit", "size"), [("sentences", 7), ("tokens", 40)])
def test_a_batch_is_a_function_of_its_number(unit, size):
    items = items_of(*[(1 + n % 5, 1 + n % 7) for n in range(50)])
    all_of_them = list(islice(batches(items, size, unit, seed=3), 30))
    for start in (0, 1, 11, 29):
        assert same(next(batches(items, size, unit, seed=3, start=start)), all_of_them[start])
    other_seed = list(islice(batches(items, size, unit, seed=4), 30))
    assert [order(batch) for batch in other_seed] != [order(batch) for batch in all_of_them]


def test_the_global_random_state_neither_matters_nor_changes():
    items = items_of(*[(2, 2)] * 20)
    state = torch.manual_seed(1).get_state()
    first = [order(batch) for batch in islice(batches(items, 4, "sentences", 1), 9)]
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(2)
    assert [order(batch) for batch in islice(batches(items, 4, "sentences", 1), 9)] == first


@pytest.mark.parametrize(("unit", "size"), [("sentences", 4), ("tokens", 30)])
def test_every_pass_shows_every_item_once_and_in_another_order(unit, size):
    items = items_of(*[(1 + n % 5, 2) for n in range(24)])
    seen = [number for batch in islice(batches(items, size, unit, 1), 60) for number in order(batch)]
    passes = [seen[start : start + 24] for start in (0, 24, 48)]
    assert all(sorted(one) == list(range(100, 124)) for one in passes)
    assert passes[0] != passes[1] != passes[2]


@given(some_items, st.integers(1, 60))
@settings(max_examples=50)
def test_token_batches_fill_their_size_and_never_pass_it(items, size):
    stream = list(islice(batches(items, size, "tokens", 1), 12))
    for batch, following in pairwise(stream):
        rows, cells = len(batch.src), batch.src.numel() + batch.tgt_out.numel()
        assert rows == 1 or cells <= size
        next_src, next_tgt = (int((row != PAD).sum()) for row in (following.src[0], following.tgt_out[0]))
        wider = max(batch.src.shape[1], next_src) + max(batch.tgt_out.shape[1], next_tgt)
        assert rows == len(items) or (rows + 1) * wider > size


def test_a_batch_is_never_larger_than_the_data():
    items = items_of((2, 2), (3, 3))
    assert [len(batch.src) for batch in islice(batches(items, 64, "sentences", 1), 3)] == [2, 2, 2]
    assert [len(batch.src) for batch in islice(batches(items, 1000, "tokens", 1), 3)] == [2, 2, 2]


def test_lengths_are_mixed():
    items = items_of(*[(1 + n % 8, 1) for n in range(800)])
    for batch in islice(batches(items, 64, "sentences", 1), 12):
        assert len(set((batch.src != PAD).sum(1).tolist())) > 4


@pytest.mark.parametrize(("items", "size", "unit"), [([], 4, "sentences"), (items_of((1, 1)), 0, "tokens"), (items_of((1, 1)), 4, "words")])
def test_wrong_arguments_are_refused_at_once(items, size, unit):
    with pytest.raises(ValueError):
        batches(items, size, unit, 1)


def test_an_empty_batch_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        collate([])

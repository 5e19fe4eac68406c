"""Truths about batches: what is in them, and in which order they come."""

from itertools import islice, pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.utils.rnn import pad_sequence

from playground.config import BOS, EOS, PAD
from playground.data.batches import ROW_WIDTHS, batches, collate, split_batch
from playground.data.corpus import Item
from tests.thoroughness import examples_at_night

ids = st.lists(st.integers(3, 99), max_size=9).map(tuple)
some_items = st.lists(st.builds(Item, st.just(""), st.just(""), ids, ids), min_size=1, max_size=20)


def items_of(*lengths: tuple[int, int]) -> list[Item]:
    """Items of these source and target lengths; the first target token numbers them."""
    return [Item("", "", (9,) * src, (100 + n, *(8,) * (tgt - 1))) for n, (src, tgt) in enumerate(lengths)]


def order(batch: list[Item]) -> list[int]:
    return [item.tgt_ids[0] for item in batch]


def test_collate_by_hand():
    batch = collate([Item("", "", (5, 6, 7), (8,)), Item("", "", (5,), (8, 9))])
    assert batch.src.tolist() == [[5, 6, 7, EOS], [5, EOS, PAD, PAD]]
    assert batch.tgt_in.tolist() == [[BOS, 8, PAD], [BOS, 8, 9]]
    assert batch.tgt_out.tolist() == [[8, EOS, PAD], [8, 9, EOS]]


@given(some_items)
@examples_at_night(50)
def test_collate_equals_pad_sequence(items):
    rows = [[(*i.src_ids, EOS) for i in items], [(BOS, *i.tgt_ids) for i in items], [(*i.tgt_ids, EOS) for i in items]]
    for got, expected in zip(collate(items)[:3], rows, strict=True):
        assert got.dtype == torch.long
        assert got.is_contiguous()
        assert torch.equal(got, pad_sequence([torch.tensor(row) for row in expected], batch_first=True, padding_value=PAD))


@pytest.mark.parametrize(("unit", "size"), [("sentences", 7), ("tokens", 40)])
def test_a_batch_is_a_function_of_its_number(unit, size):
    items = items_of(*[(1 + n % 5, 1 + n % 7) for n in range(50)])
    all_of_them = list(islice(batches(items, size, unit, seed=3), 30))
    for start in (0, 1, 11, 29):
        assert next(batches(items, size, unit, seed=3, start=start)) == all_of_them[start]
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
@examples_at_night(50)
def test_token_batches_fill_their_size_and_never_pass_it(items, size):
    stream = [collate(batch) for batch in islice(batches(items, size, "tokens", 1), 12)]
    for batch, following in pairwise(stream):
        rows, cells = len(batch.src), batch.src.numel() + batch.tgt_out.numel()
        assert rows == 1 or cells <= size
        next_src, next_tgt = (int((row != PAD).sum()) for row in (following.src[0], following.tgt_out[0]))
        wider = max(batch.src.shape[1], next_src) + max(batch.tgt_out.shape[1], next_tgt)
        assert rows == len(items) or (rows + 1) * wider > size


def test_a_batch_is_never_larger_than_the_data():
    items = items_of((2, 2), (3, 3))
    assert [len(batch) for batch in islice(batches(items, 64, "sentences", 1), 3)] == [2, 2, 2]
    assert [len(batch) for batch in islice(batches(items, 1000, "tokens", 1), 3)] == [2, 2, 2]


def test_lengths_are_mixed():
    items = items_of(*[(1 + n % 8, 1) for n in range(800)])
    for batch in islice(batches(items, 64, "sentences", 1), 12):
        assert len({len(item.src_ids) for item in batch}) > 4


@pytest.mark.parametrize(("items", "size", "unit"), [([], 4, "sentences"), (items_of((1, 1)), 0, "tokens"), (items_of((1, 1)), 4, "words")])
def test_wrong_arguments_are_refused_at_once(items, size, unit):
    with pytest.raises(ValueError):
        batches(items, size, unit, 1)


def test_an_empty_batch_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        collate([])


def test_packed_by_hand():
    long, short, other = Item("", "", (5, 6, 7, 8), (9, 8, 7)), Item("", "", (5,), (8,)), Item("", "", (6, 7, 8), (9, 9))
    (batch,) = split_batch([short, other, long], 1, packed=True)  # the longest, and then the longest that fits
    assert batch.src.tolist() == [[5, 6, 7, 8, EOS, 6, 7, 8, EOS, 5, EOS]]
    assert batch.tgt_in.tolist() == [[BOS, 9, 8, 7, BOS, 9, 9, BOS, 8]]
    assert batch.tgt_out.tolist() == [[9, 8, 7, EOS, 9, 9, EOS, 8, EOS]]
    assert batch.src_segment_ids.tolist() == [[1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3]]
    assert batch.tgt_segment_ids.tolist() == [[1, 1, 1, 1, 2, 2, 2, 3, 3]]


def test_what_does_not_fit_gets_a_row_of_its_own_filled_up_with_padding():
    long, short = Item("", "", (5, 6, 7, 8, 9), (9,) * 5), Item("", "", (5,), (8,))
    (batch,) = split_batch([long, long, short, short, short], 1, packed=True)
    assert batch.src.tolist() == [*[[5, 6, 7, 8, 9, EOS, 5, EOS]] * 2, [5, EOS, *[PAD] * 6]]
    assert batch.src_segment_ids.tolist() == [*[[*[1] * 6, 2, 2]] * 2, [1, 1, *[0] * 6]]


def unpacked(batch) -> list[tuple[tuple[int, ...], ...]]:
    """The pairs of a batch, as (source, decoder input, wanted output), special tokens included."""
    if batch.src_segment_ids is None:
        rows = [[row[row != PAD].tolist() for row in rows] for rows in zip(*batch[:3], strict=True)]
        return [tuple(map(tuple, row)) for row in rows]
    found = []
    for src, tgt_in, tgt_out, src_segment_ids, tgt_segment_ids in zip(*batch, strict=True):
        for n in range(1, int(src_segment_ids.max()) + 1):
            asked = tgt_segment_ids == n
            found.append((tuple(src[src_segment_ids == n].tolist()), tuple(tgt_in[asked].tolist()), tuple(tgt_out[asked].tolist())))
    return found


@given(some_items, st.integers(1, 4), st.booleans())
@examples_at_night(100)
def test_every_pair_is_in_one_part_once_and_whole(items, parts, packed):
    found = split_batch(items, parts, packed)
    assert 1 <= len(found) <= parts
    wanted = [((*item.src_ids, EOS), (BOS, *item.tgt_ids), (*item.tgt_ids, EOS)) for item in items]
    assert sorted(pair for batch in found for pair in unpacked(batch)) == sorted(wanted)


@given(some_items)
@examples_at_night(100)
def test_packed_rows_are_not_much_wider_than_the_longest_pair(items):
    (batch,) = split_batch(items, 1, packed=True)
    assert batch.src.shape[1] <= ROW_WIDTHS[-1] * max(len(item.src_ids) + 1 for item in items)
    assert batch.tgt_in.shape[1] <= ROW_WIDTHS[-1] * max(len(item.tgt_ids) + 1 for item in items)
    assert ((batch.src_segment_ids == 0) == (batch.src == PAD)).all()
    assert ((batch.tgt_segment_ids == 0) == (batch.tgt_out == PAD)).all()


def test_packing_leaves_little_empty():
    """Reversals of 4 to 16 letters: a third of the padded cells are padding, of the packed ones almost none."""
    items = items_of(*[(4 + n % 13, 4 + n % 13) for n in range(65)])
    real = sum(len(item.src_ids) + 1 for item in items)
    packed, padded = (sum(batch.src.numel() for batch in split_batch(items, 2, kind)) for kind in (True, False))
    assert packed < 1.1 * real < 1.5 * real < padded

"""The contents of batches, and their order."""

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice, pairwise

import pytest
import torch
from hypothesis import given, strategies as st
from torch.nn.utils.rnn import pad_sequence

from playground.config import BOS, EOS, PAD
from playground.data.batches import ROW_WIDTHS, batches, collate, pad_to_multiple, part_sizes, split_batch
from playground.data.corpus import Item, LazySequence

ids = st.lists(st.integers(3, 99), max_size=9).map(tuple)
some_items = st.lists(st.builds(Item, st.just(""), st.just(""), ids, ids), min_size=1, max_size=20)
sized = st.sampled_from([("sentences", 4), ("sentences", 7), ("tokens", 30), ("tokens", 40)])


def items_of(*lengths: tuple[int, int]) -> list[Item]:
    """Items of these source and target lengths; the first target token numbers them."""
    return [Item("", "", (9,) * src, (100 + n, *(8,) * (tgt - 1))) for n, (src, tgt) in enumerate(lengths)]


def rows_of(items: list[Item]) -> list[tuple[tuple[int, ...], ...]]:
    return [((*item.src_ids, EOS), (BOS, *item.tgt_ids), (*item.tgt_ids, EOS)) for item in items]


def stream(*arguments, count: int = 30, **options) -> list[list[int]]:
    """The numbers of the items in the first batches."""
    return [[item.tgt_ids[0] for item in batch] for batch in islice(batches(*arguments, **options), count)]


@given(some_items)
def test_collate_equals_pad_sequence(items):
    for tensor, rows in zip(collate(items)[:3], zip(*rows_of(items), strict=True), strict=True):
        assert tensor.dtype == torch.long
        assert torch.equal(tensor, pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD))


@given(sized, st.integers(0, 29), st.integers(1, 99))
def test_a_batch_is_a_function_of_its_number_and_the_seed(sizes, start, seed):
    (unit, size), items = sizes, items_of(*[(1 + n % 5, 1 + n % 7) for n in range(50)])
    state = torch.get_rng_state()
    whole = stream(items, size, unit, seed=seed)
    assert torch.equal(torch.get_rng_state(), state), "the global dice are left alone"
    torch.manual_seed(seed)
    assert stream(items, size, unit, seed=seed, start=start, count=30 - start) == whole[start:]
    assert stream(items, size, unit, seed=seed + 1) != whole


@given(sized)
def test_every_pass_shows_every_item_once_and_in_another_order(sizes):
    unit, size = sizes
    numbers = [number for batch in stream(items_of(*[(1 + n % 5, 2) for n in range(28)]), size, unit, 1, count=60) for number in batch]
    passes = [numbers[start : start + 28] for start in (0, 28, 56)]
    assert all(sorted(order) == list(range(100, 128)) for order in passes)
    assert passes[0] != passes[1] != passes[2]


@given(some_items, st.integers(1, 60))
def test_token_batches_fill_their_size_and_never_pass_it(items, size):
    collated = [collate(batch) for batch in islice(batches(items, size, "tokens", 1), 12)]
    for batch, following in pairwise(collated):
        rows, cells = len(batch.src), batch.src.numel() + batch.tgt_out.numel()
        assert rows == 1 or cells <= size
        next_src, next_tgt = (int((row != PAD).sum()) for row in (following.src[0], following.tgt_out[0]))
        wider = max(batch.src.shape[1], next_src) + max(batch.tgt_out.shape[1], next_tgt)
        assert rows == len(items) or (rows + 1) * wider > size


def test_a_batch_is_never_larger_than_the_data_mixes_lengths_and_is_packed_with_little_left_empty():
    for size, unit in ((64, "sentences"), (1000, "tokens")):
        assert [len(batch) for batch in stream(items_of((2, 2), (3, 3)), size, unit, 1, count=3)] == [2] * 3
    many = items_of(*[(1 + n % 8, 1) for n in range(800)])
    assert all(len({number % 8 for number in batch}) > 4 for batch in stream(many, 64, "sentences", 1, count=12))
    items = items_of(*[(4 + n % 13, 4 + n % 13) for n in range(65)])  # reversals of 4 to 16 letters
    real = sum(len(item.src_ids) + 1 for item in items)
    packed, padded = (sum(batch.src.numel() for batch in split_batch(items, 2, kind)) for kind in (True, False))
    assert packed < 1.1 * real < 1.5 * real < padded


def test_wrong_arguments_are_refused_at_once():
    for items, size, unit in (([], 4, "sentences"), (items_of((1, 1)), 0, "tokens"), (items_of((1, 1)), 4, "words")):
        with pytest.raises(ValueError):
            batches(items, size, unit, 1)
    with pytest.raises(ValueError, match="at least one"):
        collate([])


def test_packed_by_hand():
    long, short, other = Item("", "", (5, 6, 7, 8), (9, 8, 7)), Item("", "", (5,), (8,)), Item("", "", (6, 7, 8), (9, 9))
    (batch,) = split_batch([short, other, long], 1, packed=True)  # the longest, and then the longest that fits
    assert [tensor.tolist() for tensor in batch] == [
        [[5, 6, 7, 8, EOS, 6, 7, 8, EOS, 5, EOS]], [[BOS, 9, 8, 7, BOS, 9, 9, BOS, 8]], [[9, 8, 7, EOS, 9, 9, EOS, 8, EOS]],
        [[1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3]], [[1, 1, 1, 1, 2, 2, 2, 3, 3]],
    ]  # fmt: skip
    long = Item("", "", (5, 6, 7, 8, 9), (9,) * 5)  # what does not fit gets a row of its own
    (batch,) = split_batch([long, long, short, short, short], 1, packed=True)
    assert batch.src.tolist() == [*[[5, 6, 7, 8, 9, EOS, 5, EOS]] * 2, [5, EOS, *[PAD] * 6]]
    assert batch.src_segment_ids.tolist() == [*[[*[1] * 6, 2, 2]] * 2, [1, 1, *[0] * 6]]


def unpacked(batch) -> list[tuple[tuple[int, ...], ...]]:
    """The pairs of a batch, as (source, decoder input, wanted output), special tokens included."""
    if batch.src_segment_ids is None:
        return [tuple(tuple(row[row != PAD].tolist()) for row in rows) for rows in zip(*batch[:3], strict=True)]
    pairs = []
    for *rows, src_segment, tgt_segment in zip(*batch, strict=True):
        for n in range(1, int(src_segment.max()) + 1):
            pairs.append(tuple(tuple(row[of == n].tolist()) for row, of in zip(rows, (src_segment, tgt_segment, tgt_segment), strict=True)))
    return pairs


@given(some_items, st.integers(1, 4), st.booleans())
def test_every_pair_is_in_one_part_once_and_whole_in_rows_not_much_wider_than_the_longest(items, parts, packed):
    split = split_batch(items, parts, packed)
    assert 1 <= len(split) <= parts
    assert sorted(pair for batch in split for pair in unpacked(batch)) == sorted(rows_of(items))
    tokens = [int((batch.src != PAD).sum() + (batch.tgt_out != PAD).sum()) for batch in split]
    sizes = [(*batch.src.shape, batch.tgt_in.shape[1], count) for batch, count in zip(split, tokens, strict=True)]
    assert part_sizes(items, parts, packed) == sizes
    for batch in split if packed else ():
        assert batch.src.shape[1] <= ROW_WIDTHS[-1] * max(len(item.src_ids) + 1 for item in items)
        assert batch.tgt_in.shape[1] <= ROW_WIDTHS[-1] * max(len(item.tgt_ids) + 1 for item in items)
        assert ((batch.src_segment_ids == 0) == (batch.src == PAD)).all()
        assert ((batch.tgt_segment_ids == 0) == (batch.tgt_out == PAD)).all()


@given(some_items, st.booleans(), st.sampled_from([2, 8]))
def test_a_batch_in_few_shapes_asks_for_the_same(items, packed, multiple):
    (batch,) = split_batch(items, 1, packed)
    wide = pad_to_multiple(batch, multiple)
    assert not [size for tensor in wide if tensor is not None for size in tensor.shape if size % multiple]
    added = len(wide.src) - len(batch.src)
    assert added < multiple
    assert sorted(unpacked(wide)) == sorted([*unpacked(batch), *[((EOS,), (BOS,), (PAD,) if packed else ())] * added])


def test_entries_are_made_when_they_are_read_and_once():
    drawn = []
    lazy = LazySequence((drawn.append(n) or n * n for n in count()), 100)
    assert (len(lazy), drawn) == (100, [])
    assert (lazy[3], drawn) == (9, [0, 1, 2, 3])
    assert lazy[2:5] == [4, 9, 16]
    assert lazy[-1] == 99 * 99
    assert lazy == [n * n for n in range(100)]
    assert lazy != "abc"
    assert drawn == list(range(100))
    for place in (5, -6):
        with pytest.raises(IndexError):
            LazySequence(count(), 5)[place]
    with pytest.raises(ValueError, match="5 were promised, 2 came"):
        LazySequence(iter("ab"), 5)[3]


def test_many_threads_see_the_same():
    lazy, start = LazySequence((n for n in count()), 5000), threading.Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: (start.wait(), list(lazy))[1], range(4))) == [list(range(5000))] * 4

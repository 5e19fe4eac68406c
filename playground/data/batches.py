"""Batches: pairs of unequal length become rectangles of token ids, in an order that a seed decides.

The decoder reads `tgt_in` and is asked for `tgt_out`, the same sentence one place further on (section 3.1: outputs shifted right).
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, count, islice
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch.nn import functional

from playground.config import BOS, EOS, PAD
from playground.data.lazy_sequence import LazySequence

if TYPE_CHECKING:
    from playground.data.corpus import Item


# How wide a packed row may be, in longest sentences of the batch. The first is tried, and where it leaves too much empty (all sentences
# are about as long), the others: a wide row makes attention dearer.
ROW_WIDTHS, MIN_FILL = (1.5, 2.0, 2.5), 0.9


class Batch(NamedTuple):
    """Long tensors, short rows filled with PAD at the end. Several pairs share a row where the last two are there."""

    src: torch.Tensor  # (B, S) the source, then EOS
    tgt_in: torch.Tensor  # (B, T) BOS, then the target
    tgt_out: torch.Tensor  # (B, T) the target, then EOS
    src_segment_ids: torch.Tensor | None = None  # (B, S) the number of each token's pair in its row, from 1; 0 is padding
    tgt_segment_ids: torch.Tensor | None = None  # (B, T)

    def to(self, device: torch.device | str) -> Batch:
        return Batch(*(None if tensor is None else tensor.to(device) for tensor in self))


def pad_to_multiple(batch: Batch, multiple: int = 8) -> Batch:
    """The same batch with rows and columns added until their numbers are multiples of this, so that few shapes occur. An added row has
    an empty source and nothing to be asked for."""
    rows = -batch.src.shape[0] % multiple
    filled = [None if tensor is None else functional.pad(tensor, (0, -tensor.shape[1] % multiple, 0, rows), value=PAD) for tensor in batch]
    for tensor, first in zip(filled, (EOS, BOS, PAD, 1, 1), strict=True):
        if tensor is not None and rows:
            tensor[-rows:, 0] = first
    return Batch(*filled)


def collate(items: Sequence[Item]) -> Batch:
    """One batch of these items, in this order. Raises ValueError when there are none."""
    if not items:
        raise ValueError("a batch needs at least one item")
    return Batch(
        src=_rectangle([(*item.src_ids, EOS) for item in items]),
        tgt_in=_rectangle([(BOS, *item.tgt_ids) for item in items]),
        tgt_out=_rectangle([(*item.tgt_ids, EOS) for item in items]),
    )


def split_batch(items: Sequence[Item], parts: int, packed: bool) -> list[Batch]:
    """One batch in so many parts, as equal as can be; fewer when there are too few rows. They can be computed side by side.

    `packed`: short pairs share a row, so that little is computed for padding. Otherwise each has a row of its own.
    """
    if not packed:
        return [collate(items[part::parts]) for part in range(min(parts, len(items)))]
    rows = _packed_rows(items)
    return [_collate_packed(rows[part::parts]) for part in range(min(parts, len(rows)))]


def part_sizes(items: Sequence[Item], parts: int, packed: bool) -> list[tuple[int, int, int, int]]:
    """(rows, source width, target width, tokens without padding) of each part that `split_batch` makes of the same, without making it."""
    lengths = _lengths(_packed_rows(items) if packed else [[item] for item in items])
    sizes = []
    for part in (lengths[number::parts] for number in range(min(parts, len(lengths)))):
        src, tgt = map(max, zip(*part, strict=True))
        sizes.append((len(part), src, tgt, sum(map(sum, part))))
    return sizes


def batches(items: Sequence[Item], size: int, unit: str, seed: int, start: int = 0) -> Iterator[list[Item]]:
    """Endless batches, from number `start` on; number n depends on the arguments only, so a resumed run goes on exactly.

    `size` counts pairs (unit "sentences") or the cells of the padded source and target rectangles together (unit "tokens"; a pair that is
    larger than `size` travels alone). Every pass takes the items in a fresh order and mixes all lengths: batches of one exact length
    would need no padding, but a model fed with them forgets the other lengths. Items that are drawn at random are taken as they come in
    the first pass, so that only those that are needed are drawn.
    """
    if unit not in ("sentences", "tokens"):
        raise ValueError(f"unit must be 'sentences' or 'tokens', not {unit!r}")
    if not items or size < 1:
        raise ValueError("batches need at least one item and a size of at least 1")
    order = _orders(len(items), seed, as_they_come=isinstance(items, LazySequence))
    groups = _by_count(order, min(size, len(items))) if unit == "sentences" else _by_cells(items, order, size)
    return ([items[index] for index in group] for group in islice(groups, start, None))


def _packed_rows(items: Sequence[Item]) -> list[list[Item]]:
    rows = _pack(items, ROW_WIDTHS[0])
    if _fill(rows) < MIN_FILL:
        rows = max((rows, *(_pack(items, width) for width in ROW_WIDTHS[1:])), key=_fill)
    return rows


def _lengths(rows: list[list[Item]]) -> list[list[int]]:
    """[source tokens, target tokens] of each row, every sentence with its EOS or BOS."""
    return [[sum(len(side) + 1 for side in sides) for sides in zip(*((i.src_ids, i.tgt_ids) for i in row), strict=True)] for row in rows]


def _fill(rows: list[list[Item]]) -> float:
    """The share of the two rectangles that is no padding."""
    lengths = _lengths(rows)
    return sum(map(sum, lengths)) / (len(rows) * sum(map(max, zip(*lengths, strict=True))))


def _pack(items: Sequence[Item], width: float) -> list[list[Item]]:
    """Rows of items, `width` longest sentences wide: each begins with the longest item that is left and takes the longest that still fits,
    as long as one does."""
    lengths = [(len(item.src_ids) + 1, len(item.tgt_ids) + 1) for item in items]
    left = sorted(range(len(items)), key=lambda n: max(lengths[n]))
    longer_sides = [max(lengths[n]) for n in left]
    src_room, tgt_room = (width * max(side) for side in zip(*lengths, strict=True))
    rows: list[list[Item]] = []
    while left:
        row, src, tgt, fits = [], src_room, tgt_room, len(left)
        while fits:
            chosen = left.pop(fits - 1)
            longer_sides.pop(fits - 1)
            row.append(items[chosen])
            src, tgt = src - lengths[chosen][0], tgt - lengths[chosen][1]
            fits = bisect_right(longer_sides, min(src, tgt))
        rows.append(row)
    return rows


def _collate_packed(rows: list[list[Item]]) -> Batch:
    """One batch of these rows of items."""

    def joined(ids: Callable[[Item], tuple[int, ...]]) -> torch.Tensor:
        return _rectangle([tuple(chain.from_iterable(map(ids, row))) for row in rows])

    def numbers(side: Callable[[Item], tuple[int, ...]]) -> torch.Tensor:
        return _rectangle([tuple(n for n, item in enumerate(row, 1) for _ in range(len(side(item)) + 1)) for row in rows])

    return Batch(
        src=joined(lambda item: (*item.src_ids, EOS)),
        tgt_in=joined(lambda item: (BOS, *item.tgt_ids)),
        tgt_out=joined(lambda item: (*item.tgt_ids, EOS)),
        src_segment_ids=numbers(lambda item: item.src_ids),
        tgt_segment_ids=numbers(lambda item: item.tgt_ids),
    )


def _orders(length: int, seed: int, as_they_come: bool) -> Iterator[int]:
    """The indices 0..length-1 without end: pass after pass, each in an order of its own."""
    for epoch in count():
        generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
        yield from range(length) if as_they_come and epoch == 0 else torch.randperm(length, generator=generator).tolist()


def _by_count(order: Iterator[int], size: int) -> Iterator[list[int]]:
    while True:
        yield list(islice(order, size))


def _by_cells(items: Sequence[Item], order: Iterator[int], size: int) -> Iterator[list[int]]:
    """As many as fit: rows times (longest source + longest target), each with its EOS or BOS, stay within `size`."""
    group: list[int] = []
    widest_src = widest_tgt = 0
    for index in order:
        src, tgt = len(items[index].src_ids) + 1, len(items[index].tgt_ids) + 1
        wider_src, wider_tgt = max(src, widest_src), max(tgt, widest_tgt)
        if group and ((len(group) + 1) * (wider_src + wider_tgt) > size or len(group) == len(items)):
            yield group
            group, wider_src, wider_tgt = [], src, tgt
        group.append(index)
        widest_src, widest_tgt = wider_src, wider_tgt


def _rectangle(rows: list[tuple[int, ...]]) -> torch.Tensor:
    """Rows of unequal length -> (B, longest), filled up with PAD. By way of an array: five times as fast as torch.tensor(lists)."""
    longest = max(map(len, rows))
    cells = array("q", [token for row in rows for token in row + (PAD,) * (longest - len(row))])
    return torch.frombuffer(cells, dtype=torch.long).view(len(rows), longest)

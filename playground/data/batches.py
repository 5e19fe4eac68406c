"""Batches: pairs of unequal length padded to rectangles of token ids, in an order decided by a seed.

The decoder reads `tgt_in` and predicts `tgt_out`, the same sentence shifted by one (section 3.1: outputs shifted right).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, count, islice
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch.nn import functional

from playground.config import BOS, EOS, PAD
from playground.data.corpus import LazySequence
from playground.model.masks import Packing, pack_pairs, padded

if TYPE_CHECKING:
    from playground.data.corpus import Item


# Widths of a packed row, in longest sentences of the batch. The wider ones are tried only where the first leaves too much padding (when
# all sentences are about as long), because wide rows make attention more expensive.
ROW_WIDTHS, MIN_FILL = (1.5, 2.0, 2.5), 0.9


class Batch(NamedTuple):
    """Long tensors, padded with PAD. With segment ids, several pairs share a row (packing)."""

    src: torch.Tensor  # (B, S) the source, then EOS
    tgt_in: torch.Tensor  # (B, T) BOS, then the target
    tgt_out: torch.Tensor  # (B, T) the target, then EOS
    src_segment_ids: torch.Tensor | None = None  # (B, S) the number of each token's pair in its row, from 1; 0 is padding
    tgt_segment_ids: torch.Tensor | None = None  # (B, T)

    @property
    def packing(self) -> Packing | None:
        """The model's argument for a packed batch; None when each pair has its own row."""
        return None if self.src_segment_ids is None else pack_pairs(self.tgt_in, self.src_segment_ids, self.tgt_segment_ids)

    def to(self, device: torch.device | str) -> Batch:
        return Batch(*(None if tensor is None else tensor.to(device) for tensor in self))


def pad_to_multiple(batch: Batch, multiple: int = 8) -> Batch:
    """Adds rows and columns until their numbers are multiples of this, so that few shapes occur. An added row has an empty source and no
    target tokens."""
    rows = -batch.src.shape[0] % multiple
    padded = [None if tensor is None else functional.pad(tensor, (0, -tensor.shape[1] % multiple, 0, rows), value=PAD) for tensor in batch]
    for tensor, first in zip(padded, (EOS, BOS, PAD, 1, 1), strict=True):
        if tensor is not None and rows:
            tensor[-rows:, 0] = first
    return Batch(*padded)


def collate(items: Sequence[Item]) -> Batch:
    """Returns a batch of these items, in this order. Raises ValueError when there are none."""
    if not items:
        raise ValueError("a batch needs at least one item")
    return Batch(
        src=padded([(*item.src_ids, EOS) for item in items]),
        tgt_in=padded([(BOS, *item.tgt_ids) for item in items]),
        tgt_out=padded([(*item.tgt_ids, EOS) for item in items]),
    )


def split_batch(items: Sequence[Item], parts: int, packed: bool) -> list[Batch]:
    """Splits a batch into `parts` of equal size, for parallel computation; fewer when there are too few rows.

    `packed`: short pairs share a row, which saves padding. Otherwise each has its own row.
    """
    if not packed:
        return [collate(items[part::parts]) for part in range(min(parts, len(items)))]
    rows = _pack_rows(items)
    return [_collate_packed(rows[part::parts]) for part in range(min(parts, len(rows)))]


def part_sizes(items: Sequence[Item], parts: int, packed: bool) -> list[tuple[int, int, int, int]]:
    """Returns (rows, source width, target width, tokens without padding) of each part of `split_batch`, without creating it."""
    lengths = _lengths(_pack_rows(items) if packed else [[item] for item in items])
    sizes = []
    for part in (lengths[number::parts] for number in range(min(parts, len(lengths)))):
        src, tgt = map(max, zip(*part, strict=True))
        sizes.append((len(part), src, tgt, sum(map(sum, part))))
    return sizes


def batches(items: Sequence[Item], size: int, unit: str, seed: int, start: int = 0) -> Iterator[list[Item]]:
    """Yields endless batches, from number `start` on; number n depends on the arguments only, so a resumed run continues exactly.

    `size` counts pairs (unit "sentences") or the cells of the padded source and target rectangles together (unit "tokens"; a pair larger
    than `size` is its own batch). Every epoch shuffles the items anew and mixes all lengths: batches of one exact length would need no
    padding, but a model trained on them forgets the other lengths. Lazily generated items are taken in order in the first epoch, so that
    only as many as needed are generated.
    """
    if unit not in ("sentences", "tokens"):
        raise ValueError(f"unit must be 'sentences' or 'tokens', not {unit!r}")
    if not items or size < 1:
        raise ValueError("batches need at least one item and a size of at least 1")
    order = _orders(len(items), seed, in_order=isinstance(items, LazySequence))
    each = min(size, len(items))
    groups = iter(lambda: list(islice(order, each)), []) if unit == "sentences" else _by_cells(items, order, size)
    return ([items[index] for index in group] for group in islice(groups, start, None))


def _pack_rows(items: Sequence[Item]) -> list[list[Item]]:
    rows = _pack(items, ROW_WIDTHS[0])
    if _fill(rows) < MIN_FILL:
        rows = max((rows, *(_pack(items, width) for width in ROW_WIDTHS[1:])), key=_fill)
    return rows


def _lengths(rows: list[list[Item]]) -> list[list[int]]:
    """Returns [source tokens, target tokens] of each row, every sentence with its EOS or BOS."""
    return [[sum(len(side) + 1 for side in sides) for sides in zip(*((i.src_ids, i.tgt_ids) for i in row), strict=True)] for row in rows]


def _fill(rows: list[list[Item]]) -> float:
    """Returns the fraction of the two rectangles that is not padding."""
    lengths = _lengths(rows)
    return sum(map(sum, lengths)) / (len(rows) * sum(map(max, zip(*lengths, strict=True))))


def _pack(items: Sequence[Item], width: float) -> list[list[Item]]:
    """Packs items greedily into rows, `width` longest sentences wide: each row takes the longest remaining item that fits, until none
    does."""
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
    """Returns a batch of these rows of items."""

    def concatenate(ids: Callable[[Item], tuple[int, ...]]) -> torch.Tensor:
        return padded([tuple(chain.from_iterable(map(ids, row))) for row in rows])

    def segment_ids(side: Callable[[Item], tuple[int, ...]]) -> torch.Tensor:
        return padded([tuple(n for n, item in enumerate(row, 1) for _ in range(len(side(item)) + 1)) for row in rows])

    return Batch(
        src=concatenate(lambda item: (*item.src_ids, EOS)),
        tgt_in=concatenate(lambda item: (BOS, *item.tgt_ids)),
        tgt_out=concatenate(lambda item: (*item.tgt_ids, EOS)),
        src_segment_ids=segment_ids(lambda item: item.src_ids),
        tgt_segment_ids=segment_ids(lambda item: item.tgt_ids),
    )


def _orders(length: int, seed: int, in_order: bool) -> Iterator[int]:
    """Yields the indices 0..length-1 endlessly: epoch after epoch, each shuffled anew."""
    for epoch in count():
        generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
        yield from range(length) if in_order and epoch == 0 else torch.randperm(length, generator=generator).tolist()


def _by_cells(items: Sequence[Item], order: Iterator[int], size: int) -> Iterator[list[int]]:
    """Fills each batch up to `size` cells: rows times (longest source + longest target), each with its EOS or BOS."""
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

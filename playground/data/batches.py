"""Batches: pairs of unequal length become rectangles of token ids, in an order that a seed decides.

The decoder reads `tgt_in` and is asked for `tgt_out`, the same sentence one place further on (section 3.1: outputs shifted right).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import TYPE_CHECKING, NamedTuple

import torch

from playground.config import BOS, EOS, PAD

if TYPE_CHECKING:
    from playground.data.corpus import Item


class Batch(NamedTuple):
    """Three long tensors, short rows filled with PAD at the end."""

    src: torch.Tensor  # (B, S) the source, then EOS
    tgt_in: torch.Tensor  # (B, T) BOS, then the target
    tgt_out: torch.Tensor  # (B, T) the target, then EOS


def collate(items: Sequence[Item]) -> Batch:
    """One batch of these items, in this order. Raises ValueError when there are none."""
    if not items:
        raise ValueError("a batch needs at least one item")
    return Batch(
        src=_rectangle([(*item.src_ids, EOS) for item in items]),
        tgt_in=_rectangle([(BOS, *item.tgt_ids) for item in items]),
        tgt_out=_rectangle([(*item.tgt_ids, EOS) for item in items]),
    )


def batches(items: Sequence[Item], size: int, unit: str, seed: int, start: int = 0) -> Iterator[Batch]:
    """Endless batches, from number `start` on; number n depends on the arguments only, so a resumed run goes on exactly.

    `size` counts pairs (unit "sentences") or the cells of the padded source and target rectangles together (unit "tokens"; a pair that is
    larger than `size` travels alone). Every pass takes the items in a fresh order and mixes all lengths: batches of one exact length
    would need no padding, but a model fed with them forgets the other lengths.
    """
    if unit not in ("sentences", "tokens"):
        raise ValueError(f"unit must be 'sentences' or 'tokens', not {unit!r}")
    if not items or size < 1:
        raise ValueError("batches need at least one item and a size of at least 1")
    groups = _by_count(len(items), min(size, len(items)), seed) if unit == "sentences" else _by_cells(items, size, seed)
    return (collate([items[index] for index in group]) for group in islice(groups, start, None))


def _shuffled(length: int, seed: int) -> Iterator[int]:
    """The indices 0..length-1 without end: pass after pass, each in an order of its own."""
    for epoch in count():
        generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
        yield from torch.randperm(length, generator=generator).tolist()


def _by_count(length: int, size: int, seed: int) -> Iterator[list[int]]:
    stream = _shuffled(length, seed)
    while True:
        yield list(islice(stream, size))


def _by_cells(items: Sequence[Item], size: int, seed: int) -> Iterator[list[int]]:
    """As many as fit: rows times (longest source + longest target), each with its EOS or BOS, stay within `size`."""
    lengths = [(len(item.src_ids) + 1, len(item.tgt_ids) + 1) for item in items]
    group: list[int] = []
    widest_src = widest_tgt = 0
    for index in _shuffled(len(items), seed):
        src, tgt = lengths[index]
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

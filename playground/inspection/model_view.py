"""All heads of a model side by side: the sharpest, the most diagonal, and those that attend to a single key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from playground.inspection import attention

Stacks = Mapping[str, np.ndarray]  # kind of attention -> weights (L, H, Q, K)


class HeadAt(NamedTuple):
    """One head of one kind, counted from 0."""

    kind: str
    layer: int
    head: int


@dataclass(frozen=True)
class Overview:
    """`effective`: the mean number of tokens that a query attends to, 2 to the entropy; `diagonal`: mean weight on the diagonal;
    `on_one_key`: the heads with most of their weight on a single column. All over the rows with a choice."""

    effective: dict[HeadAt, float]
    diagonal: dict[HeadAt, float]
    on_one_key: tuple[HeadAt, ...]

    @property
    def sharpest(self) -> HeadAt:
        return min(self.effective, key=self.effective.__getitem__)

    @property
    def widest(self) -> HeadAt:
        return max(self.effective, key=self.effective.__getitem__)

    @property
    def most_diagonal(self) -> HeadAt:
        return max(self.diagonal, key=self.diagonal.__getitem__)


def overview(stacks: Stacks, masks: Mapping[str, np.ndarray]) -> Overview:
    """Compares all heads in one sentence. Masks are (Q, K), True where a query can attend. Ignores a kind in which no row has a choice."""
    effective, diagonal, on_one_key = {}, {}, []
    for at, weights in each(stacks):
        free = np.asarray(masks[at.kind]).sum(axis=-1) >= 2
        if not free.any():
            continue
        rows = np.asarray(weights, dtype=np.float64)[free]
        effective[at] = float(np.mean(2 ** attention.entropy(rows)))
        diagonal[at] = attention.mass(rows, attention.offset(*weights.shape, 0)[free])
        if rows.mean(axis=0).max() > attention.HALF and len(rows) >= attention.MIN_ROWS:
            on_one_key.append(at)
    return Overview(effective, diagonal, tuple(on_one_key))


def each(stacks: Stacks) -> Iterator[tuple[HeadAt, np.ndarray]]:
    """Yields every head with its weights (Q, K), kind by kind, layer by layer."""
    for kind, stack in stacks.items():
        for layer, heads in enumerate(stack):
            for head, weights in enumerate(heads):
                yield HeadAt(kind, layer, head), weights

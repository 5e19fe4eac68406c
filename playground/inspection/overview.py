"""All attention of a model: its heads side by side (the sharpest, the most diagonal, those that attend to a single key), and rollout.

Attention rollout (Abnar & Zuidema 2020, https://aclanthology.org/2020.acl-main.385) multiplies raw weights through the layers. In the
second layer a place no longer holds its token but a mixture of tokens. Rollout mixes the mixtures: the mean of a layer's heads, half and
half with the identity for the residual connection, multiplied through the layers. It treats all heads alike and ignores values, norms and
feed-forward networks: it shows where information could have come from, not what mattered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from playground.inspection import attention
from playground.inspection.fact import Fact, percent

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


# --- attention rollout ---


def layer(weights: np.ndarray, residual: bool = True) -> np.ndarray:
    """Averages one layer (H, Q, Q) -> (Q, Q) over its heads and, with a residual connection, half of that and half the token itself."""
    mean = np.asarray(weights, dtype=np.float64).mean(axis=0)
    return (mean + np.eye(len(mean))) / 2 if residual else mean


def rollout(stack: np.ndarray, residual: bool = True) -> np.ndarray:
    """Multiplies a stack of self-attention (L, H, Q, Q), first layer first -> (Q, Q): the shares of the input tokens in the last layer's
    rows, which sum to 1."""
    flow = np.eye(np.shape(stack)[-1])
    for weights in stack:
        flow = layer(weights, residual) @ flow
    return flow


def cross(encoder: np.ndarray, decoder: np.ndarray, cross: np.ndarray, residual: bool = True) -> tuple[np.ndarray, float]:
    """(L, H, S, S), (L, H, T, T) and (L, H, T, S) -> (T, S), and a row's share from the source.

    Each decoder layer mixes its rows by self-attention, then adds the memory through cross-attention, half and half. The other share comes
    from the tokens fed so far; it is the same in every row, and the returned rows are divided by the source's share, so that they sum to 1.
    """
    memory = rollout(encoder, residual)
    flow, share = np.zeros(np.shape(cross)[-2:]), 0.0
    for own, over in zip(decoder, cross, strict=True):
        flow, from_memory = layer(own, residual) @ flow, np.asarray(over, dtype=np.float64).mean(axis=0) @ memory
        flow, share = ((flow + from_memory) / 2, (share + 1) / 2) if residual else (from_memory, 1.0)
    return flow / share, share


def own(flow: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> Fact:
    """States the mean share of a place's own token in self-attention (Q, Q), {own}, and the largest share of another, as in `strongest`;
    for a single token, only that."""
    if len(flow) == 1:
        return strongest(flow, rows, columns)
    fact = strongest(np.where(np.eye(len(flow), dtype=bool), 0.0, flow), rows, columns)
    return Fact("heads.rollout_own", fact.values | {"own": percent(float(np.trace(flow)) / len(flow))})


def strongest(flow: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> Fact:
    """States the largest share: {query_token} in {row} and {key_token} in {column}, counted from 1, and {percent}."""
    q, k = np.unravel_index(int(np.argmax(flow)), flow.shape)
    tokens = {"query_token": rows[q], "row": int(q) + 1, "key_token": columns[k], "column": int(k) + 1}
    return Fact("heads.rollout_strongest", tokens | {"percent": percent(float(flow[q, k]))})

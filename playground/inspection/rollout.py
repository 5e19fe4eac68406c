"""Attention rollout (Abnar & Zuidema 2020, https://aclanthology.org/2020.acl-main.385): raw weights multiplied through the layers.

In the second layer a place no longer holds its token but a mixture of tokens. Rollout mixes the mixtures: the mean of a layer's heads, half
and half with the identity for the residual connection, multiplied through the layers. It treats all heads alike and ignores values, norms
and feed-forward networks: it shows where information could have come from, not what mattered.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playground.inspection.fact import Fact, percent


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

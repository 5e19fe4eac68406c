"""Inside of the sublayers of a training step that was taken apart: gradients of attention scores and of the residual stream, and what makes
each of their numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from playground.inspection.backward_sublayer import NormBefore, Reader, Row
from playground.model.attention import MASKED
from playground.model.sublayers import NORMS
from playground.queries.training_rows import part_of
from playground.training.slow_step import SlowStep

READERS = {"self_attention": ("W_q", "W_k", "W_v"), "cross_attention": ("W_q",), "feed_forward": ("W_1",)}  # what reads the stream


@dataclass(frozen=True)
class ScoreGradients:
    """Of one head and one row of the batch, (Q, L) each: what autograd makes of scores and weights; `mask` is True where a query attends.
    `rows` are the queries with what their gradients are made of."""

    scores: np.ndarray
    weights: np.ndarray
    mask: np.ndarray
    rows: tuple[Row, ...]


def score_gradients(slow: SlowStep, name: str, row: int, head: int) -> ScoreGradients:
    """Of the attention sublayer `name`; `head` counts from 0. From the queries, keys and values of the step and the gradient that came
    back to the head; the scores are those that the softmax is given."""
    part, at = part_of(slow, row)
    found = slow.attentions[name][part]
    q, k, v, delta = (tensor[at, head].float() if tensor.dtype == torch.bfloat16 else tensor[at, head]
                      for tensor in (found.q, found.k, found.v, found.gradient))  # fmt: skip
    mask, kept = found.mask[at, 0], None if found.multipliers is None else found.multipliers[at, head]
    with torch.enable_grad():
        scores = (q @ k.T / q.shape[-1] ** found.power + torch.where(mask, 0.0, MASKED)).requires_grad_()
        weights = scores.softmax(dim=-1) * mask
        heads = (weights if kept is None else weights * kept) @ v
        of_scores, of_weights = torch.autograd.grad(heads, (scores, weights), delta)
    seen, values = weights.detach().numpy(), v.numpy()
    rows = tuple(
        Row(seen[query], None if kept is None else kept[query].numpy(), delta[query].numpy(), values) for query in range(len(seen))
    )
    return ScoreGradients(of_scores.numpy(), of_weights.numpy(), mask.numpy(), rows)


def stream_gradient(slow: SlowStep, name: str, row: int) -> np.ndarray:
    """(L, D) of what the sublayer `name` was given, at every token of a row of the batch."""
    part, at = part_of(slow, row)
    return _array(slow.sums[name][part].of_x[at])


def around(slow: SlowStep, name: str, row: int, place: int) -> np.ndarray:
    """(D,) of the sum behind that sublayer, which a residual connection hands on."""
    part, at = part_of(slow, row)
    return _array(slow.sums[name][part].of_sum[at, place])


def readers(slow: SlowStep, name: str, row: int, place: int, dim: int) -> list[Reader]:
    """The matrices of a sublayer that read the number `dim` of a token, which no norm stands before."""
    part, at = part_of(slow, row)
    found = []
    for symbol in READERS[name.rpartition(".")[2]]:
        weight = slow.before[f"{name}.{symbol}.weight"]
        found.append(Reader(symbol, dim, _array(weight[:, dim]), _array(slow.flows[f"{name}.{symbol}"][part].gradient[at, place])))
    return found


def norm_before(slow: SlowStep, name: str, row: int, place: int) -> NormBefore:
    """The norm that stands between the stream and a sublayer."""
    layer, _, sublayer = name.rpartition(".")
    norm = next(f"{layer}.{norm}" for norm, of in NORMS[layer.partition(".")[0]].items() if of == sublayer)
    part, at = part_of(slow, row)
    x, error = (_array(tensor[at, place]).astype(np.float64) for tensor in slow.flows[norm][part])
    deviation = float(np.sqrt(x.var() + slow.eps[norm]))
    return NormBefore((x - x.mean()) / deviation, deviation, error * _array(slow.before[f"{norm}.weight"]))


def _array(tensor: torch.Tensor) -> np.ndarray:
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()

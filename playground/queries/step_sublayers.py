"""Gradients inside the sublayers of a training step that was taken apart: of attention scores and of the residual stream, with the terms
of each number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from playground.inspection.backward_sublayer import NormBefore, Reader, Row
from playground.model.attention import MASKED
from playground.model.costs import NORMS
from playground.queries.training_rows import part_of, to_array
from playground.training.slow_step import SlowStep

READERS = {"self_attention": ("W_q", "W_k", "W_v"), "cross_attention": ("W_q",), "feed_forward": ("W_1",)}  # matrices that read the stream


@dataclass(frozen=True)
class ScoreGradients:
    """Autograd's gradients of the scores and weights of one head and one row of the batch, (Q, L) each; `mask` is True where a query
    attends. `rows` hold the factors of each query's gradients."""

    scores: np.ndarray
    weights: np.ndarray
    mask: np.ndarray
    rows: tuple[Row, ...]


def score_gradients(slow: SlowStep, name: str, row: int, head: int) -> ScoreGradients:
    """Recomputes the gradients of the attention sublayer `name`, `head` from 0, from the step's queries, keys and values and the gradient
    at the head's output; the scores are the softmax's input."""
    part, at = part_of(slow, row)
    attention = slow.attentions[name][part]
    q, k, v, delta = (tensor[at, head].float() if tensor.dtype == torch.bfloat16 else tensor[at, head]
                      for tensor in (attention.q, attention.k, attention.v, attention.gradient))  # fmt: skip
    mask, dropout = attention.mask[at, 0], None if attention.multipliers is None else attention.multipliers[at, head]
    with torch.enable_grad():
        scores = (q @ k.T / q.shape[-1] ** attention.power + torch.where(mask, 0.0, MASKED)).requires_grad_()
        weights = scores.softmax(dim=-1) * mask
        heads = (weights if dropout is None else weights * dropout) @ v
        of_scores, of_weights = torch.autograd.grad(heads, (scores, weights), delta)
    array, values = weights.detach().numpy(), v.numpy()
    rows = tuple(
        Row(array[query], None if dropout is None else dropout[query].numpy(), delta[query].numpy(), values) for query in range(len(array))
    )
    return ScoreGradients(of_scores.numpy(), of_weights.numpy(), mask.numpy(), rows)


def stream_gradient(slow: SlowStep, name: str, row: int) -> np.ndarray:
    """Returns the gradient (L, D) of the input of sublayer `name`, at every token of a row of the batch."""
    part, at = part_of(slow, row)
    return to_array(slow.sums[name][part].of_x[at])


def residual_gradient(slow: SlowStep, name: str, row: int, place: int) -> np.ndarray:
    """Returns the gradient (D,) of the sum after that sublayer, which a residual connection passes back unchanged."""
    part, at = part_of(slow, row)
    return to_array(slow.sums[name][part].of_sum[at, place])


def readers(slow: SlowStep, name: str, row: int, place: int, dim: int) -> list[Reader]:
    """Returns the matrices of a sublayer without a norm before it that read the number `dim` of a token."""
    part, at = part_of(slow, row)
    matrices = []
    for symbol in READERS[name.rpartition(".")[2]]:
        weight = slow.before[f"{name}.{symbol}.weight"]
        matrices.append(Reader(symbol, dim, to_array(weight[:, dim]), to_array(slow.flows[f"{name}.{symbol}"][part].gradient[at, place])))
    return matrices


def norm_before(slow: SlowStep, name: str, row: int, place: int) -> NormBefore:
    """Returns the norm between the stream and a sublayer."""
    layer, _, sublayer = name.rpartition(".")
    norm = next(f"{layer}.{norm}" for norm, of in NORMS[layer.partition(".")[0]].items() if of == sublayer)
    part, at = part_of(slow, row)
    x, error = (to_array(tensor[at, place]).astype(np.float64) for tensor in slow.flows[norm][part])
    deviation = float(np.sqrt(x.var() + slow.eps[norm]))
    return NormBefore((x - x.mean()) / deviation, deviation, error * to_array(slow.before[f"{norm}.weight"]))

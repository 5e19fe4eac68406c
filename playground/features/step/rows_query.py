"""One training step's batch, row by row, and the way of its gradient through a sublayer."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from playground.config import PAD
from playground.inspection.backward_sublayer import NormBefore, Reader, Row
from playground.model.attention import MASKED
from playground.model.costs import NORMS
from playground.training.slow_step import SlowStep

READERS = {"self_attention": ("W_q", "W_k", "W_v"), "cross_attention": ("W_q",), "feed_forward": ("W_1",)}  # matrices that read the stream


@dataclass(frozen=True)
class BatchRows:
    """R rows in the order of packing or drawing. Token ids, PAD at the end; losses (R, T) are NaN for padding."""

    src: np.ndarray  # (R, S)
    tgt_in: np.ndarray  # (R, T)
    tgt_out: np.ndarray  # (R, T)
    segments: np.ndarray  # (R, T) the number of each target token's pair in its row, from 1; 0 is padding
    losses: np.ndarray  # (R, T)
    losses_after: np.ndarray  # (R, T)
    probabilities: np.ndarray  # (R, T) of the target tokens
    widths: tuple[int, ...]  # of the source, in each part of the batch: row n is in part n % parts

    def source_width(self, row: int) -> int:
        """Returns the place of the first target token in this row of a decoder-only model: each part of a batch has its padding."""
        return self.widths[row % len(self.widths)]

    @property
    def real(self) -> np.ndarray:
        """Returns (R, T) True for target tokens, False for padding."""
        return self.tgt_out != PAD

    @property
    def pairs(self) -> int:
        return int(self.segments.max(axis=1).sum())


def batch_rows(slow: SlowStep) -> BatchRows:
    """Rejoins the parts: row n of the batch is row n // parts of part n % parts, as split_batch deals them out."""
    targets = [part.tgt_out for part in slow.parts]
    right = [logits.softmax(dim=-1).gather(-1, out[..., None]).squeeze(-1) for logits, out in zip(slow.logits, targets, strict=True)]
    segments = [(part.tgt_out != PAD).long() if part.tgt_segment_ids is None else part.tgt_segment_ids for part in slow.parts]
    tgt_out = _join(targets)
    padding = tgt_out == PAD

    def join_masked(tensors: tuple[Tensor, ...] | list[Tensor]) -> np.ndarray:
        return np.where(padding, np.nan, _join(tensors))

    return BatchRows(
        src=_join([part.src for part in slow.parts]),
        tgt_in=_join([part.tgt_in for part in slow.parts]),
        tgt_out=tgt_out,
        segments=_join(segments),
        losses=join_masked(slow.losses),
        losses_after=join_masked(slow.losses_after),
        probabilities=join_masked(right),
        widths=tuple(part.src.shape[1] for part in slow.parts),
    )


def part_of(slow: SlowStep, row: int) -> tuple[int, int]:
    """Returns (the part of the batch that holds a row, the row's index there)."""
    return row % len(slow.parts), row // len(slow.parts)


def _join(tensors: tuple[Tensor, ...] | list[Tensor]) -> np.ndarray:
    """Joins tensors (B, L) of all parts -> (R, longest), padded with 0."""
    longest, parts = max(tensor.shape[1] for tensor in tensors), len(tensors)
    rows = torch.zeros(sum(len(tensor) for tensor in tensors), longest, dtype=tensors[0].dtype)
    for part, tensor in enumerate(tensors):
        rows[part::parts] = functional.pad(tensor, (0, longest - tensor.shape[1]))
    return rows.numpy()


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
    q, k, v, delta = (tensor[at, head] for tensor in (attention.q, attention.k, attention.v, attention.gradient))
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
    return slow.sums[name][part].of_x[at].numpy()


def residual_gradient(slow: SlowStep, name: str, row: int, place: int) -> np.ndarray:
    """Returns the gradient (D,) of the sum after that sublayer, which a residual connection passes back unchanged."""
    part, at = part_of(slow, row)
    return slow.sums[name][part].of_sum[at, place].numpy()


def readers(slow: SlowStep, name: str, row: int, place: int, dim: int) -> list[Reader]:
    """Returns the matrices of a sublayer without a norm before it that read the number `dim` of a token."""
    part, at = part_of(slow, row)
    matrices = []
    for symbol in READERS[name.rpartition(".")[2]]:
        weight = slow.before[f"{name}.{symbol}.weight"]
        matrices.append(Reader(symbol, dim, weight[:, dim].numpy(), slow.flows[f"{name}.{symbol}"][part].gradient[at, place].numpy()))
    return matrices


def norm_before(slow: SlowStep, name: str, row: int, place: int) -> NormBefore:
    """Returns the norm between the stream and a sublayer."""
    layer, _, sublayer = name.rpartition(".")
    norm = next(f"{layer}.{norm}" for norm, of in NORMS[layer.partition(".")[0]].items() if of == sublayer)
    part, at = part_of(slow, row)
    x, error = (tensor[at, place].double().numpy() for tensor in slow.flows[norm][part])
    deviation = float(np.sqrt(x.var() + slow.eps[norm]))
    return NormBefore((x - x.mean()) / deviation, deviation, error * slow.before[f"{norm}.weight"].numpy())

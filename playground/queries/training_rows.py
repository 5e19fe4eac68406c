"""The batch of a training step that was taken apart, as readable rows: its parts rejoined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from playground.config import PAD
from playground.training.slow_step import SlowStep


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
    )


def to_array(tensor: Tensor) -> np.ndarray:
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


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

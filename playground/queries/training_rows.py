"""The batch of a training step that was taken apart, as the rows that a person reads: its parts put together again."""

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
    """R rows, in the order in which they were packed or drawn. Ids of tokens, PAD at the end; losses (R, T) are NaN for padding."""

    src: np.ndarray  # (R, S)
    tgt_in: np.ndarray  # (R, T)
    tgt_out: np.ndarray  # (R, T)
    segments: np.ndarray  # (R, T) the number of each target token's pair in its row, from 1; 0 is padding
    losses: np.ndarray  # (R, T)
    losses_after: np.ndarray  # (R, T)
    probabilities: np.ndarray  # (R, T) of the target tokens

    @property
    def real(self) -> np.ndarray:
        """(R, T) True for target tokens, False for padding."""
        return self.tgt_out != PAD

    @property
    def pairs(self) -> int:
        return int(self.segments.max(axis=1).sum())


def batch_rows(slow: SlowStep) -> BatchRows:
    """Row n of the batch is the row n // parts of its part n % parts, as split_batch deals them out."""
    targets = [part.tgt_out for part in slow.parts]
    right = [logits.softmax(dim=-1).gather(-1, out[..., None]).squeeze(-1) for logits, out in zip(slow.logits, targets, strict=True)]
    segments = [(part.tgt_out != PAD).long() if part.tgt_segment_ids is None else part.tgt_segment_ids for part in slow.parts]
    tgt_out = _together(targets)
    padding = tgt_out == PAD

    def seen(tensors: tuple[Tensor, ...] | list[Tensor]) -> np.ndarray:
        return np.where(padding, np.nan, _together(tensors))

    return BatchRows(
        src=_together([part.src for part in slow.parts]),
        tgt_in=_together([part.tgt_in for part in slow.parts]),
        tgt_out=tgt_out,
        segments=_together(segments),
        losses=seen(slow.losses),
        losses_after=seen(slow.losses_after),
        probabilities=seen(right),
    )


def part_of(slow: SlowStep, row: int) -> tuple[int, int]:
    """In which part of the batch a row stands, and the how-manieth it is there."""
    return row % len(slow.parts), row // len(slow.parts)


def _together(tensors: tuple[Tensor, ...] | list[Tensor]) -> np.ndarray:
    """Tensors (B, L) of all parts -> (R, longest), filled up with 0."""
    longest, parts = max(tensor.shape[1] for tensor in tensors), len(tensors)
    rows = torch.zeros(sum(len(tensor) for tensor in tensors), longest, dtype=tensors[0].dtype)
    for part, tensor in enumerate(tensors):
        rows[part::parts] = functional.pad(tensor, (0, longest - tensor.shape[1]))
    return rows.numpy()

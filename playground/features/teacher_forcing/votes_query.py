"""Direct logit attribution: how much each part of the decoder adds to the difference between two logits at one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from playground.features.shared.queries.reader import Reader
from playground.inspection.attribution import Part, attribute
from playground.model.transformer import Transformer
from playground.runs.run import Run


@dataclass(frozen=True)
class Votes:
    """`votes` (C,): each part's contribution to logit(token) - logit(other). `path` (C, 2): the stream after it on the two axes."""

    parts: tuple[Part, ...]
    votes: np.ndarray
    path: np.ndarray

    @property
    def difference(self) -> float:
        """logit(token) - logit(other)."""
        return float(self.votes.sum())


def votes(reader: Reader, run: Run, step: int | None, text: str, written: Sequence[int], at: int, token: int, other: int) -> Votes:
    """Attributes the target at `at` while the ids `written` are forced. Raises Refusal for text that is empty or too long."""
    text, ids = reader.read(run, text)

    def work(model: Transformer, actual: int) -> Votes:
        attribution = attribute(model, ids, written)
        return Votes(attribution.parts, attribution.votes(at, token, other), attribution.path(at, token, other))

    return reader.work(run, step, (text, tuple(written), at, token, other, "votes"), work)

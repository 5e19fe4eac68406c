"""Who voted for a token: what each part of the decoder adds to the difference between two logits at one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from playground.inspection.attribution import Part, attribute
from playground.model.transformer import Transformer
from playground.queries.reader import Reader
from playground.runs.run import Run


@dataclass(frozen=True)
class Votes:
    """Of each part what it adds to logit(token) - logit(other), (C,), and where the stream stands after it on the two axes, (C, 2)."""

    parts: tuple[Part, ...]
    votes: np.ndarray
    path: np.ndarray

    @property
    def difference(self) -> float:
        """logit(token) - logit(other)."""
        return float(self.votes.sum())


def votes(reader: Reader, run: Run, step: int | None, text: str, written: Sequence[int], at: int, token: int, other: int) -> Votes:
    """While the target ids `written` are forced, at their place `at`. Raises Refusal for text that is empty or too long."""
    text, ids = reader.read(run, text)

    def work(model: Transformer, actual: int) -> Votes:
        found = attribute(model, ids, written)
        return Votes(found.parts, found.votes(at, token, other), found.path(at, token, other))

    return reader.work(run, step, (text, tuple(written), at, token, other, "votes"), work)

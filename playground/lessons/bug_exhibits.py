"""What bug labs show beside the metrics: what each way of dividing makes of scores that nobody has trained."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from playground.lessons.controlled import ControlledExperiment, Result
from playground.lessons.lab import Lines, TextTable
from playground.model.attention import head_widths

SENTENCES, TOKENS = 64, 16  # whose queries and keys are drawn from N(0, 1)


def divisors(d_k: int, heads: int) -> dict[str, float]:
    """What scores of d_k products are divided by: as in the paper; twice; and where `scale = (d_k // heads) ** -0.5` is written after the
    split, when d_k is already the width of one head."""
    return {"√d_k": d_k**0.5, "√d_k · √d_k": d_k**0.5 * d_k**0.5, "√(d_k / H)": (d_k // heads) ** 0.5}


class DividedScores(ControlledExperiment):
    def exhibits(self, results: Sequence[Sequence[Result]]) -> tuple[Lines | TextTable, ...]:
        return (*super().exhibits(results), self.divided(results[0][0]))

    def divided(self, result: Result) -> TextTable:
        """Queries and keys as they might be before training, their scores divided in each way."""
        config = result.run.experiment.model
        d_k, heads = head_widths(config)[0], config.n_heads
        dice = torch.Generator().manual_seed(result.seed)
        q, k = torch.randn(2, SENTENCES, TOKENS, d_k, generator=dice)
        found, rows = divisors(d_k, heads), []
        for formula, divisor in found.items():
            scores = q @ k.mT / divisor
            largest = scores.softmax(dim=-1).amax(dim=-1).mean()
            rows.append((formula, f"{divisor:.2f}", f"{scores.std():.2f}", f"{largest:.2f}"))
        right, _, split = found.values()
        said = {"sentences": SENTENCES, "tokens": TOKENS, "d_k": d_k, "heads": heads, "times": right / split}
        return TextTable("divided", ("divisor", "value", "deviation", "largest"), tuple(rows), said)

"""What bug labs show beside the metrics: what each way of dividing makes of scores that nobody has trained; and of trained models what no
metric tells, how many parameters there are and whether every layer of the decoder gets a gradient."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from playground.data.batches import collate
from playground.data.corpus import Corpus
from playground.inspection.copies import trainable_copy
from playground.lessons.controlled import ControlledExperiment, Measured, Result
from playground.lessons.lab import Lines, TextTable
from playground.model.attention import head_widths
from playground.model.transformer import Transformer
from playground.training.loss import cross_entropy
from playground.variants import variant_of

SENTENCES, TOKENS = 64, 16  # whose queries and keys are drawn from N(0, 1)
HELDOUT = 64  # sentences at which a gradient is taken, at most


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


def inside(model: Transformer, corpus: Corpus) -> Measured:
    """How many parameters it has, and of each decoder layer the norm of the gradient of the very loss that it is trained with."""
    mine, variant = trainable_copy(model), variant_of(model.config)
    batch = collate(corpus.heldout[:HELDOUT])
    batch = variant.batch(batch) if variant.batch else batch
    loss = (variant.loss or cross_entropy)(mine(batch.src, batch.tgt_in).logits, batch.tgt_out, 0.0)
    loss.backward()
    squares = [sum(float(p.grad.square().sum()) for p in layer.parameters() if p.grad is not None) for layer in mine.decoder]
    return {"parameters": [sum(p.numel() for p in mine.parameters())], "gradients": [square**0.5 for square in squares]}


class InsideTable(ControlledExperiment):
    """Its `more` measures what `inside` does."""

    def exhibits(self, results: Sequence[Sequence[Result]]) -> tuple[Lines | TextTable, ...]:
        """With what was measured, once all are trained."""
        done = all("gradients" in result.profiles for found in results for result in found)
        return (*super().exhibits(results), *((self.inside(results),) if done else ()))

    def inside(self, results: Sequence[Sequence[Result]]) -> TextTable:
        """One row for each arm and seed."""
        every = [result for found in results for result in found]
        rows = tuple(
            (
                result.arm,
                str(result.seed),
                f"{result.profiles['parameters'][0]:,}",
                *(f"{norm:.3g}" for norm in result.profiles["gradients"]),
            )
            for result in every
        )
        layers = (f"layer_{number}" for number, _ in enumerate(every[0].profiles["gradients"], 1))
        return TextTable("inside", ("arm", "seed", "parameters", *layers), rows, {"most": HELDOUT})

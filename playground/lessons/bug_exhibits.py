"""Exhibits of bug labs beyond the metrics: attention scores under each divisor before training; after it the number of parameters, and the
gradient of each decoder layer."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from playground.data.batches import collate
from playground.data.corpus import Corpus
from playground.lessons.controlled import ControlledExperiment, Measured, Result
from playground.lessons.lab import Lines, TextTable
from playground.model.attention import head_widths
from playground.model.copies import trainable_copy
from playground.model.transformer import Transformer
from playground.training.step import cross_entropy
from playground.variants import variant_of

SENTENCES, TOKENS = 64, 16  # with queries and keys from N(0, 1)
HELDOUT = 64  # maximum number of sentences for the gradient


def divisors(d_k: int, heads: int) -> dict[str, float]:
    """Returns the divisors of scores of d_k products: the paper's; applied twice; and `scale = (d_k // heads) ** -0.5` written after the
    split, when d_k is already the width of one head."""
    return {"√d_k": d_k**0.5, "√d_k · √d_k": d_k**0.5 * d_k**0.5, "√(d_k / H)": (d_k // heads) ** 0.5}


class DividedScores(ControlledExperiment):
    def exhibits(self, results: Sequence[Sequence[Result]]) -> tuple[Lines | TextTable, ...]:
        return (*super().exhibits(results), self.divided(results[0][0]))

    def divided(self, result: Result) -> TextTable:
        """Tabulates random queries and keys as before training, their scores divided by each divisor."""
        config = result.run.experiment.model
        d_k, heads = head_widths(config)[0], config.n_heads
        dice = torch.Generator().manual_seed(result.seed)
        q, k = torch.randn(2, SENTENCES, TOKENS, d_k, generator=dice)
        divided_by, rows = divisors(d_k, heads), []
        for formula, divisor in divided_by.items():
            scores = q @ k.mT / divisor
            largest = scores.softmax(dim=-1).amax(dim=-1).mean()
            rows.append((formula, f"{divisor:.2f}", f"{scores.std():.2f}", f"{largest:.2f}"))
        right, _, split = divided_by.values()
        caption = {"sentences": SENTENCES, "tokens": TOKENS, "d_k": d_k, "heads": heads, "times": right / split}
        return TextTable("divided", ("divisor", "value", "deviation", "largest"), tuple(rows), caption)


def inside(model: Transformer, corpus: Corpus) -> Measured:
    """Measures the number of parameters, and each decoder layer's gradient norm of the loss that it is trained with."""
    copy, variant = trainable_copy(model), variant_of(model.config)
    batch = collate(corpus.heldout[:HELDOUT])
    batch = variant.batch(batch) if variant.batch else batch
    loss = (variant.loss or cross_entropy)(copy(batch.src, batch.tgt_in).logits, batch.tgt_out, 0.0)
    loss.backward()
    squares = [sum(float(p.grad.square().sum()) for p in layer.parameters() if p.grad is not None) for layer in copy.decoder]
    return {"parameters": [sum(p.numel() for p in copy.parameters())], "gradients": [square**0.5 for square in squares]}


class InsideTable(ControlledExperiment):
    """An experiment whose `more` is `inside`."""

    def exhibits(self, results: Sequence[Sequence[Result]]) -> tuple[Lines | TextTable, ...]:
        """Adds the measurements, once all arms are trained."""
        done = all("gradients" in result.profiles for arm_results in results for result in arm_results)
        return (*super().exhibits(results), *((self.inside(results),) if done else ()))

    def inside(self, results: Sequence[Sequence[Result]]) -> TextTable:
        """Tabulates each arm and seed."""
        every = [result for arm_results in results for result in arm_results]
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

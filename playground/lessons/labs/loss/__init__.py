"""Masked loss (sections 3.4 and 5.4): the effect of padding on the mean, ignore_index, and the target of label smoothing."""

import inspect

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from playground.config import BOS, EOS, PAD, SPECIAL_TOKENS
from playground.lessons.lab import Control, Grid, Lab, Outcome, number_labels
from playground.model.masks import padded
from playground.training.step import cross_entropy

VOCABULARY = (*SPECIAL_TOKENS, "a", "b", "c")
SENTENCES = ((4, 5, 4, 6, 4), (5,))  # "a b a c a": the token after an a is unpredictable; and "b"
STEPS, RATE = 20, 2.0
TORCHS_OWN = inspect.signature(F.cross_entropy).parameters["ignore_index"].default
INDICES = (PAD, TORCHS_OWN, 99)


def cell_losses(logits: Tensor, tgt_out: Tensor) -> Tensor:
    """-ln of the probability that each right token got: logits (B, T, V), tgt_out (B, T) -> (B, T), in nats."""
    return -logits.log_softmax(dim=-1).gather(-1, tgt_out[..., None]).squeeze(-1)


def learn(seed: int, counted: bool) -> Tensor:
    """Returns the logits (B, T, V) of a bigram table, the smallest model, after a few steps of gradient descent.

    `counted`: with padding in the loss, an omitted mask.
    """
    tgt_in, tgt_out = batch()
    table = torch.randn(len(VOCABULARY), len(VOCABULARY), generator=torch.Generator().manual_seed(seed)) * 0.1
    for _ in range(STEPS):
        table.requires_grad_()
        loss = cell_losses(table[tgt_in], tgt_out).mean() if counted else cross_entropy(table[tgt_in], tgt_out)
        (gradient,) = torch.autograd.grad(loss, table)
        table = (table - RATE * gradient).detach()
    return table[tgt_in]


def means(logits: Tensor, tgt_out: Tensor) -> tuple[float, float]:
    """Returns the mean loss over all cells, and over those with a token."""
    losses = cell_losses(logits, tgt_out)
    return losses.mean().item(), losses[tgt_out != PAD].mean().item()


def renamed(logits: Tensor, tgt_out: Tensor, index: int) -> float:
    """Returns torch's loss with padding renamed to `index` in the targets and in ignore_index."""
    targets = tgt_out.masked_fill(tgt_out == PAD, index)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=index).item()


def smoothed(tgt_out: Tensor, vocabulary: int, eps: float) -> Tensor:
    """Returns the smoothed target distribution: (B, T) -> (B, T, V), 1 - eps + eps / V at the right token, eps / V elsewhere."""
    return F.one_hot(tgt_out, vocabulary) * (1 - eps) + eps / vocabulary


def by_hand(logits: Tensor, tgt_out: Tensor, eps: float) -> Tensor:
    """Returns the mean over tokens of -sum of target times ln of probability: a scalar."""
    target = smoothed(tgt_out, logits.shape[-1], eps)
    return -(target * logits.log_softmax(dim=-1)).sum(dim=-1)[tgt_out != PAD].mean()


def batch() -> tuple[Tensor, Tensor]:
    """Returns the decoder's inputs and targets: (B, T) each."""
    return padded([(BOS, *ids) for ids in SENTENCES]), padded([(*ids, EOS) for ids in SENTENCES])


def run(seed: int, eps: float) -> Outcome:
    tgt_out = batch()[1]
    forgotten, correct = learn(seed, counted=True), learn(seed, counted=False)
    (all_cells, tokens), (all_cells_correct, tokens_correct) = means(forgotten, tgt_out), means(correct, tgt_out)
    losses = _losses(correct, tgt_out, eps)
    numbers = {
        "all_cells": all_cells, "tokens": tokens, "all_cells_correct": all_cells_correct, "tokens_correct": tokens_correct,
        "padding": cell_losses(forgotten, tgt_out)[tgt_out == PAD].mean().item(),
        "padding_correct": cell_losses(correct, tgt_out)[tgt_out == PAD].mean().item(), "difference": max(losses) - min(losses),
    }  # fmt: skip
    return Outcome(
        "smaller" if all_cells < 0.99 * tokens else "larger" if all_cells > 1.01 * tokens else "same",
        numbers,
        (*_cells(forgotten, correct, tgt_out, numbers), _ignored(correct, tgt_out), *_smoothing(tgt_out, eps, losses)),
    )


def _cells(forgotten: Tensor, correct: Tensor, tgt_out: Tensor, numbers: dict[str, float]) -> tuple[Grid, ...]:
    """Shows the batch, the loss of each cell after either training, and the four means."""
    places, both = number_labels(tgt_out.shape[1]), ("counted", "ignored")
    caption = {"pad": PAD, "pads": int((tgt_out == PAD).sum()), "cells": tgt_out.numel(), "real": int((tgt_out != PAD).sum()), **numbers}
    table = np.array([[numbers["all_cells"], numbers["tokens"]], [numbers["all_cells_correct"], numbers["tokens_correct"]]])
    return (
        Grid("targets", tgt_out.numpy(), ("1", "2"), places, "plain", "decoder", caption=caption),
        Grid("forgotten", cell_losses(forgotten, tgt_out).numpy(), ("1", "2"), places, hue="decoder", caption=caption),
        Grid("correct", cell_losses(correct, tgt_out).numpy(), ("1", "2"), places, hue="decoder", caption=caption),
        Grid("means", table, both, ("all_cells", "tokens"), hue="decoder", caption=caption),
    )


def _ignored(logits: Tensor, tgt_out: Tensor) -> Grid:
    """Shows that the loss is independent of the number that represents padding."""
    losses = np.array([[renamed(logits, tgt_out, index)] for index in INDICES])
    caption = {"own": TORCHS_OWN, "pad": PAD, "other": INDICES[-1], "spread": float(np.ptp(losses))}
    return Grid("ignored", losses, tuple(map(str, INDICES)), ("loss",), hue="decoder", digits=4, caption=caption)


def _losses(logits: Tensor, tgt_out: Tensor, eps: float) -> tuple[float, float, float]:
    """Returns the smoothed loss by hand, of this program, and of torch."""
    ours = cross_entropy(logits, tgt_out, eps)
    torchs = F.cross_entropy(logits.flatten(0, 1), tgt_out.flatten(), ignore_index=PAD, label_smoothing=eps)
    return by_hand(logits, tgt_out, eps).item(), ours.item(), torchs.item()


def _smoothing(tgt_out: Tensor, eps: float, losses: tuple[float, ...]) -> tuple[Grid, ...]:
    """Shows the target distribution of the first sentence, and its three losses."""
    target = smoothed(tgt_out[:1], len(VOCABULARY), eps)[0]
    rows = tuple(VOCABULARY[token] for token in tgt_out[0].tolist())
    caption = {
        "eps": eps, "right": target[0].max().item(), "wrong": target[0].min().item(), "size": len(VOCABULARY),
        "least": torch.special.entr(target[0]).sum().item(), "difference": max(losses) - min(losses),
    }  # fmt: skip
    return (
        Grid("smoothed", target.numpy(), rows, VOCABULARY, "probability", "decoder", digits=3, caption=caption),
        Grid("equal", np.array(losses)[:, None], ("hand", "ours", "torch"), ("loss",), hue="decoder", digits=4, caption=caption),
    )


LAB = Lab(
    "loss", ("larger", "same", "smaller"), run, (cell_losses, learn, means, renamed, smoothed, by_hand, cross_entropy),
    (Control("eps", (0.0, 0.1, 0.3), 0.1),), first="targets", expects="smaller", order=170, next=("vocabulary", "masks"),
)  # fmt: skip

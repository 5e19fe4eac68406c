"""The loss: cross-entropy with the target token (sections 3.4 and 5.4)."""

from __future__ import annotations

from torch import Tensor

from playground.config import PAD


def cross_entropy(logits: Tensor, tgt_out: Tensor, label_smoothing: float = 0.0) -> Tensor:
    """Returns the mean cross-entropy in nats over all tokens but padding. logits (B, T, V), tgt_out (B, T) -> a scalar."""
    return token_losses(logits, tgt_out, label_smoothing).sum() / (tgt_out != PAD).sum()


def token_losses(logits: Tensor, tgt_out: Tensor, label_smoothing: float = 0.0) -> Tensor:
    """Returns the cross-entropy of each token, 0 for padding. logits (B, T, V), tgt_out (B, T) -> (B, T).

    Label smoothing e: the target distribution is 1 - e for the target token, plus e spread evenly over the whole vocabulary, it included.
    """
    log_probabilities = logits.log_softmax(dim=-1)
    losses = -log_probabilities.gather(-1, tgt_out[..., None]).squeeze(-1)  # (B, T)
    if label_smoothing:
        losses = (1 - label_smoothing) * losses - label_smoothing * log_probabilities.mean(dim=-1)
    padding = tgt_out == PAD
    return losses.masked_fill(padding, 0.0)

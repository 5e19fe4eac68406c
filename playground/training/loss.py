"""The loss: how surprised the model is by the right token (sections 3.4 and 5.4)."""

from __future__ import annotations

from torch import Tensor

from playground.config import PAD


def cross_entropy(logits: Tensor, tgt_out: Tensor, label_smoothing: float = 0.0) -> Tensor:
    """Mean surprise in nats over all tokens but padding. logits (B, T, V), tgt_out (B, T) -> a scalar.

    Label smoothing e: the right token is to get 1 - e of the probability and e is spread evenly over the whole vocabulary.
    """
    log_probabilities = logits.log_softmax(dim=-1)
    surprise = -log_probabilities.gather(-1, tgt_out[..., None]).squeeze(-1)  # (B, T)
    if label_smoothing:
        surprise = (1 - label_smoothing) * surprise - label_smoothing * log_probabilities.mean(dim=-1)
    padding = tgt_out == PAD
    return surprise.masked_fill(padding, 0.0).sum() / (~padding).sum()

"""One update of the parameters (section 5), as plain as it can be: the training loop does the same, but faster."""

import math

from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from playground.config import PAD
from playground.data.batches import Batch
from playground.model.transformer import Transformer
from playground.training.optimisers import Optimiser


def training_step(
    model: Transformer, optimiser: Optimiser, batch: Batch, learning_rate: float, label_smoothing: float = 0.0, max_grad_norm: float = 0.0
) -> tuple[float, float]:
    """Moves the parameters once, and returns the loss in nats and the gradient norm before clipping; `max_grad_norm` 0 clips nothing."""
    logits = model(batch.src, batch.tgt_in, batch.packing).logits  # forward: (B, T, V)
    loss = cross_entropy(logits, batch.tgt_out, label_smoothing)
    loss.backward()  # every parameter gets its gradient
    grad_norm = clip_grad_norm_(model.parameters(), max_grad_norm or math.inf)
    optimiser.step(learning_rate)  # and clears the gradients
    return loss.item(), grad_norm.item()


def cross_entropy(logits: Tensor, tgt_out: Tensor, label_smoothing: float = 0.0) -> Tensor:
    """Returns the mean cross-entropy with the target tokens (sections 3.4 and 5.4) in nats, over all but padding. logits (B, T, V),
    tgt_out (B, T) -> a scalar."""
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

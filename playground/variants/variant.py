"""A variant: what it does to a model, to its batches or to its loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

from playground.config import ModelConfig
from playground.model.attention import MultiHeadAttention
from playground.model.transformer import Transformer

if TYPE_CHECKING:
    from playground.data.batches import Batch


def nothing(model: Transformer) -> None:
    """Leaves a model as it is."""


def none(config: ModelConfig) -> int:
    return 0


@dataclass(frozen=True)
class Variant:
    """How a variant of playground/choices.py is made.

    `change` is done to a model that was just made, by exchanging modules or methods of its own; all parameters it adds are drawn from
    the model's generator. `batch` changes what is learnt from and asked for, `loss` (logits, tgt_out, label smoothing) replaces the
    cross-entropy."""

    change: Callable[[Transformer], None] = nothing
    batch: Callable[[Batch], Batch] | None = None
    loss: Callable[[Tensor, Tensor, float], Tensor] | None = None
    extra_parameters: Callable[[ModelConfig], int] = none  # more than the paper's model has; below 0 where some are left out

    def argmax_is_greedy(self, model: Transformer) -> bool:
        """Whether the likeliest token after each of the right ones is what greedy decoding would write there, so that teacher forcing is
        enough to tell which sentences come out right."""
        return model.cacheable and self.batch is None


def attention_count(config: ModelConfig) -> int:
    return config.encoder_layers + 2 * config.decoder_layers


def attentions(model: Transformer) -> Iterator[MultiHeadAttention]:
    return (module for module in model.modules() if isinstance(module, MultiHeadAttention))

"""A variant: changes of a model, its batches or its loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from playground.config import ModelConfig
from playground.model.attention import MultiHeadAttention
from playground.model.transformer import Transformer

if TYPE_CHECKING:
    from playground.data.batches import Batch


@dataclass(frozen=True)
class Variant:
    """The implementation of a variant of playground/choices.py.

    `change` replaces modules or methods of a new model, by `part` where it takes one: a class or a function. All parameters it adds are
    drawn from the model's generator. `batch` changes inputs and targets, `loss` (logits, tgt_out, label smoothing) replaces the
    cross-entropy."""

    change: Callable[..., None] | None = None
    part: Callable[..., Any] | None = None
    batch: Callable[[Batch], Batch] | None = None
    loss: Callable[[Tensor, Tensor, float], Tensor] | None = None
    extra_parameters: Callable[[ModelConfig], int] = lambda config: 0  # beyond the paper's model; negative where some are missing
    cacheable: bool = True  # see Transformer

    def apply(self, model: Transformer) -> None:
        """Changes a new model."""
        if self.change:
            self.change(model, *([self.part] if self.part else []))
        if not self.cacheable:
            model.cacheable = False

    def argmax_is_greedy(self, model: Transformer) -> bool:
        """Tests whether greedy decoding writes the likeliest token of teacher forcing after right tokens, so that one pass suffices
        for exact match."""
        return model.cacheable and self.batch is None


class OtherAttention(MultiHeadAttention):
    """Attention by another function than the paper's, called as `scaled_dot_product_attention` is."""

    attend: Callable[..., tuple[Tensor, Tensor]]

    def attend_heads(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        return self.attend(q, k, v, mask, self.power, self.dropout)


def replace_functions(model: Transformer, attend: Callable[..., Any]) -> None:
    """Makes every attention compute its heads by `attend`, or by a module of this class, with parameters of its own."""
    for attention in attentions(model):
        attention.__class__ = OtherAttention
        attention.attend = attend(model.config, model.generator) if isinstance(attend, type) else attend


def replace_class(model: Transformer, kind: type[nn.Module]) -> None:
    """Makes all modules of the class that `kind` derives from modules of `kind`."""
    for module in model.modules():
        if type(module) is kind.__base__:
            module.__class__ = kind


def attentions(model: Transformer) -> Iterator[MultiHeadAttention]:
    return (module for module in model.modules() if isinstance(module, MultiHeadAttention))

"""Bugs that people really write, each as small as it is in life."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.model.attention import MASKED, MultiHeadAttention, scaled_dot_product_attention
from playground.model.parts import Dropout
from playground.model.transformer import Transformer
from playground.variants.variant import Variant, attentions

if TYPE_CHECKING:
    from playground.data.batches import Batch


# --- masks ---


class LooksAhead(MultiHeadAttention):
    """No causal mask: who may look at an earlier token may look at it from everywhere."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, *others: Any, **more: Any) -> tuple[Tensor, Tensor]:
        real = mask.diagonal(dim1=-2, dim2=-1).unsqueeze(-2)  # (B, 1, 1, T): a token that is no padding may look at itself
        return super().forward(query, key, value, (mask | mask.mT) & real, *others, **more)


def no_causal_mask(model: Transformer) -> None:
    """The decoder's mask is the padding mask alone: each token sees the one that it is to predict."""
    for layer in model.decoder:
        layer.self_attention.__class__ = LooksAhead
    model.cacheable = False


class Unmasked(MultiHeadAttention):
    """Every query looks everywhere, at padding too. The mask that keeps pairs of one row apart is another, and stays: it has a row for each
    query, a padding mask one for all."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, *others: Any, **more: Any) -> tuple[Tensor, Tensor]:
        return super().forward(query, key, value, None if mask.shape[-2] == 1 else mask, *others, **more)


def no_source_mask(model: Transformer) -> None:
    """`src_key_padding_mask` was forgotten."""
    for layer in model.encoder:
        layer.self_attention.__class__ = Unmasked


def no_memory_mask(model: Transformer) -> None:
    """`memory_key_padding_mask` was forgotten."""
    for layer in model.decoder:
        layer.cross_attention.__class__ = Unmasked


def inverted(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, scale: bool, dropout: Dropout) -> tuple[Tensor, Tensor]:
    """A mask that says True where nobody may look, given to a function that takes it the other way."""
    return scaled_dot_product_attention(q, k, v, ~mask, scale, dropout)


def inverted_mask(model: Transformer) -> None:
    for attention in attentions(model):
        attention.attend = inverted
    model.cacheable = False


# --- the wrong axis ---


def over_queries(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, scale: bool, dropout: Dropout) -> tuple[Tensor, Tensor]:
    """`softmax(dim=-2)`: what a key gives to all who ask sums to 1, instead of what one who asks gets."""
    scores = q @ k.mT / (q.shape[-1] ** 0.5 if scale else 1.0) + torch.where(mask, 0.0, MASKED)
    weights = scores.softmax(dim=-2) * mask
    return dropout(weights) @ v, weights


def softmax_over_queries(model: Transformer) -> None:
    for attention in attentions(model):
        attention.attend = over_queries
    model.cacheable = False


class OverPositions(nn.LayerNorm):
    """Each number of the vectors is normalised over the positions of its sentence, padding and future included."""

    def forward(self, x: Tensor) -> Tensor:
        x = (x - x.mean(dim=1, keepdim=True)) * torch.rsqrt(x.var(dim=1, keepdim=True, correction=0) + self.eps)
        return x * self.weight + (0.0 if self.bias is None else self.bias)


def norm_over_positions(model: Transformer) -> None:
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.__class__ = OverPositions
    model.cacheable = False


class Viewed(MultiHeadAttention):
    """(B, L, D) is read as (B, H, L, K) without the transpose: a "head" is a stretch of the sentence, not a part of every token."""

    def split(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], self.n_heads, x.shape[1], -1)

    def concat(self, heads: Tensor) -> Tensor:
        return heads.reshape(heads.shape[0], heads.shape[2], -1)


def view_for_transpose(model: Transformer) -> None:
    for attention in attentions(model):
        attention.__class__ = Viewed
    model.cacheable = False


# --- training and evaluation ---


def unshifted(batch: Batch) -> Batch:
    """The decoder is asked for the token it has just been given: `loss(model(src, tgt), tgt)`."""
    return batch._replace(tgt_out=batch.tgt_in)


def with_padding(logits: Tensor, tgt_out: Tensor, label_smoothing: float) -> Tensor:
    """No `ignore_index`: predicting PAD after the end counts as much as predicting a word."""
    return F.cross_entropy(logits.flatten(0, 1), tgt_out.flatten(), label_smoothing=label_smoothing)


class Always(Dropout):
    """`model.eval()` was forgotten."""

    @property
    def active(self) -> bool:
        return self.p > 0


def dropout_always(model: Transformer) -> None:
    model.dropout.__class__ = Always
    model.cacheable = model.dropout.p == 0


BUGS = {
    "no_causal_mask": Variant(no_causal_mask),
    "no_source_mask": Variant(no_source_mask),
    "no_memory_mask": Variant(no_memory_mask),
    "unshifted": Variant(batch=unshifted),
    "softmax_over_queries": Variant(softmax_over_queries),
    "norm_over_positions": Variant(norm_over_positions),
    "view_for_transpose": Variant(view_for_transpose),
    "padding_in_loss": Variant(loss=with_padding),
    "dropout_always": Variant(dropout_always),
    "inverted_mask": Variant(inverted_mask),
}

"""Bugs in masks: one that is missing, turned round, of the wrong side, or hides nothing."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.nn import functional as F

from playground.model.attention import MultiHeadAttention, scaled_dot_product_attention
from playground.model.layers import DecoderLayer
from playground.model.parts import Dropout
from playground.model.transformer import Transformer
from playground.variants.variant import Variant, attentions


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


def inverted(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor]:
    """A mask that says True where nobody may look, given to a function that takes it the other way."""
    return scaled_dot_product_attention(q, k, v, ~mask, power, dropout)


def inverted_mask(model: Transformer) -> None:
    for attention in attentions(model):
        attention.attend = inverted
    model.cacheable = False


TINY = -1e-9  # a slip for -1e9


def tiny_filled(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor]:
    """`masked_fill(mask == 0, -1e-9)`: a masked score becomes 0, which hides nothing; it is even in the middle of the others."""
    scores = q @ k.mT / q.shape[-1] ** power
    weights = scores.masked_fill(~mask, TINY).softmax(dim=-1)
    return dropout(weights) @ v, weights


def tiny_fill(model: Transformer) -> None:
    for attention in attentions(model):
        attention.attend = tiny_filled
    model.cacheable = False


class OfTheTarget(DecoderLayer):
    """The mask of the memory is made of the lengths of the target: as many of its places are seen as the target has tokens so far."""

    def forward(
        self, x: Tensor, mask: Tensor, position_ids: Tensor, memory: Tensor, memory_mask: Tensor, *others: Any, **more: Any
    ) -> tuple[Tensor, Tensor, Tensor]:
        if memory_mask.shape[-2] == 1:  # a padding mask; pairs that share a row are told apart by another
            tokens = mask[:, :, -1:, :]  # (B, 1, 1, T): what the last token sees is all that there is
            missing = max(0, memory.shape[1] - tokens.shape[-1])
            memory_mask = F.pad(tokens, (0, missing), value=False)[..., : memory.shape[1]]
        return super().forward(x, mask, position_ids, memory, memory_mask, *others, **more)


def wrong_lengths(model: Transformer) -> None:
    """Two arguments swapped: `src_mask` and `tgt_mask`, or `valid_lens` of the wrong side."""
    for layer in model.decoder:
        layer.__class__ = OfTheTarget
    model.cacheable = False


class LooksAheadWhenAsked(LooksAhead):
    """The causal mask is there while the model trains, and left out when it is asked."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, *others: Any, **more: Any) -> tuple[Tensor, Tensor]:
        if self.training:
            return MultiHeadAttention.forward(self, query, key, value, mask, *others, **more)
        return super().forward(query, key, value, mask, *others, **more)


def no_mask_at_inference(model: Transformer) -> None:
    """`tgt_mask=None` at inference: what is still to be written can't be seen anyway."""
    for layer in model.decoder:
        layer.self_attention.__class__ = LooksAheadWhenAsked
    model.cacheable = False


MASK_BUGS = {
    "no_causal_mask": Variant(no_causal_mask),
    "no_source_mask": Variant(no_source_mask),
    "no_memory_mask": Variant(no_memory_mask),
    "inverted_mask": Variant(inverted_mask),
    "wrong_lengths": Variant(wrong_lengths),
    "tiny_fill": Variant(tiny_fill),
    "no_mask_at_inference": Variant(no_mask_at_inference),
}

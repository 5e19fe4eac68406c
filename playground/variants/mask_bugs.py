"""Bugs in masks: one that is missing, inverted, of the wrong side, or hides nothing."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.nn import functional as F

from playground.model.attention import MultiHeadAttention, scaled_dot_product_attention
from playground.model.layers import DecoderLayer
from playground.model.parts import Dropout
from playground.model.transformer import Transformer
from playground.variants.variant import Variant, attentions


class NonCausal(MultiHeadAttention):
    """Attention without a causal mask: queries attend to later tokens too."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, *rest: Any, **more: Any) -> tuple[Tensor, Tensor]:
        real = mask.diagonal(dim1=-2, dim2=-1).unsqueeze(-2)  # (B, 1, 1, T): tokens other than padding attend to themselves
        return super().forward(query, key, value, (mask | mask.mT) & real, *rest, **more)


def no_causal_mask(model: Transformer) -> None:
    """Gives the decoder the padding mask only: each token attends to the one that it must predict."""
    for layer in model.decoder:
        layer.self_attention.__class__ = NonCausal
    model.cacheable = False


class UnmaskedAttention(MultiHeadAttention):
    """Attention to padding too. The mask that separates the pairs of one row stays: it has a row for each query, a padding mask one for
    all."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, *rest: Any, **more: Any) -> tuple[Tensor, Tensor]:
        return super().forward(query, key, value, None if mask.shape[-2] == 1 else mask, *rest, **more)


def no_source_mask(model: Transformer) -> None:
    """Lacks `src_key_padding_mask`."""
    for layer in model.encoder:
        layer.self_attention.__class__ = UnmaskedAttention


def no_memory_mask(model: Transformer) -> None:
    """Lacks `memory_key_padding_mask`."""
    for layer in model.decoder:
        layer.cross_attention.__class__ = UnmaskedAttention


def inverted(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor]:
    """Passes a mask that is True for hidden cells to a function that expects the opposite."""
    return scaled_dot_product_attention(q, k, v, ~mask, power, dropout)


def inverted_mask(model: Transformer) -> None:
    for attention in attentions(model):
        attention.attend = inverted
    model.cacheable = False


TINY = -1e-9  # a typo of -1e9


def tiny_filled(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor]:
    """`masked_fill(mask == 0, -1e-9)`: a masked score becomes about 0, an average one, which hides nothing."""
    scores = q @ k.mT / q.shape[-1] ** power
    weights = scores.masked_fill(~mask, TINY).softmax(dim=-1)
    return dropout(weights) @ v, weights


def tiny_fill(model: Transformer) -> None:
    for attention in attentions(model):
        attention.attend = tiny_filled
    model.cacheable = False


class WrongLengthsLayer(DecoderLayer):
    """Masks the memory by the target's lengths: only its first T tokens are visible, for T target tokens so far."""

    def forward(
        self, x: Tensor, mask: Tensor, position_ids: Tensor, memory: Tensor, memory_mask: Tensor, *rest: Any, **more: Any
    ) -> tuple[Tensor, Tensor, Tensor]:
        if memory_mask.shape[-2] == 1:  # a padding mask; pairs that share a row have another mask
            tokens = mask[:, :, -1:, :]  # (B, 1, 1, T): the last token attends to all
            missing = max(0, memory.shape[1] - tokens.shape[-1])
            memory_mask = F.pad(tokens, (0, missing), value=False)[..., : memory.shape[1]]
        return super().forward(x, mask, position_ids, memory, memory_mask, *rest, **more)


def wrong_lengths(model: Transformer) -> None:
    """Swaps two arguments: `src_mask` and `tgt_mask`, or `valid_lens` of the wrong side."""
    for layer in model.decoder:
        layer.__class__ = WrongLengthsLayer
    model.cacheable = False


class TrainingOnlyCausalAttention(NonCausal):
    """Attention with a causal mask in training, and without one in eval mode."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, *rest: Any, **more: Any) -> tuple[Tensor, Tensor]:
        if self.training:
            return MultiHeadAttention.forward(self, query, key, value, mask, *rest, **more)
        return super().forward(query, key, value, mask, *rest, **more)


def no_mask_at_inference(model: Transformer) -> None:
    """Passes `tgt_mask=None` at inference, as if unwritten tokens made a mask needless."""
    for layer in model.decoder:
        layer.self_attention.__class__ = TrainingOnlyCausalAttention
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

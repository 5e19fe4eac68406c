"""Common bugs in Transformer code, each as small as in practice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import PAD
from playground.model.attention import MASKED, MultiHeadAttention, scaled_dot_product_attention
from playground.model.costs import attention_parameters
from playground.model.layers import DecoderLayer, Residual
from playground.model.parts import Dropout
from playground.model.transformer import Transformer
from playground.variants.variant import Variant, replace_class, replace_functions

if TYPE_CHECKING:
    from playground.data.batches import Batch


# --- masks: missing, inverted, of the wrong side, or hiding nothing ---


class NonCausal(MultiHeadAttention):
    """Attention without a causal mask: queries attend to later tokens too."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, *rest: Any, **more: Any) -> tuple[Tensor, Tensor]:
        real = mask.diagonal(dim1=-2, dim2=-1).unsqueeze(-2)  # (B, 1, 1, T): tokens other than padding attend to themselves
        return super().forward(query, key, value, (mask | mask.mT) & real, *rest, **more)


def no_causal_mask(model: Transformer) -> None:
    """Gives the decoder the padding mask only: each token attends to the one that it must predict."""
    for layer in model.decoder:
        layer.self_attention.__class__ = NonCausal


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


TINY = -1e-9  # a typo of -1e9


def tiny_filled(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor]:
    """`masked_fill(mask == 0, -1e-9)`: a masked score becomes about 0, an average one, which hides nothing."""
    scores = q @ k.mT / q.shape[-1] ** power
    weights = scores.masked_fill(~mask, TINY).softmax(dim=-1)
    return dropout(weights) @ v, weights


class WrongLengthsLayer(DecoderLayer):
    """Masks the memory by the target's lengths, as where `src_mask` and `tgt_mask` are swapped, or `valid_lens` is of the wrong side: only
    its first T tokens are visible, for T target tokens so far."""

    def forward(
        self, x: Tensor, mask: Tensor, position_ids: Tensor, memory: Tensor, memory_mask: Tensor, *rest: Any, **more: Any
    ) -> tuple[Tensor, Tensor, Tensor]:
        if memory_mask.shape[-2] == 1:  # a padding mask; pairs that share a row have another mask
            tokens = mask[:, :, -1:, :]  # (B, 1, 1, T): the last token attends to all
            missing = max(0, memory.shape[1] - tokens.shape[-1])
            memory_mask = F.pad(tokens, (0, missing), value=False)[..., : memory.shape[1]]
        return super().forward(x, mask, position_ids, memory, memory_mask, *rest, **more)


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


# --- wiring of parts ---


def scaled_twice(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor]:
    """Divides the queries by sqrt(d_k), and then the scores once more."""
    return scaled_dot_product_attention(q / q.shape[-1] ** 0.5, k, v, mask, power, dropout)


def scaled_by_d_model(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor]:
    """Divides the scores by sqrt(d_model), the width of all heads together, instead of sqrt(d_k)."""
    d_k, d_model = q.shape[-1], v.shape[1] * v.shape[-1]
    return scaled_dot_product_attention(q * (d_k / d_model) ** power, k, v, mask, power, dropout)


def no_last_norm(model: Transformer) -> None:
    """Creates the norms at the end of both pre-norm stacks and never applies them."""
    model.encoder_norm, model.decoder_norm = nn.Identity(), nn.Identity()


def shared_attention(model: Transformer) -> None:
    """Creates `self.attention` once in a decoder layer, for self-attention and cross-attention."""
    for layer in model.decoder:
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(layer.cross_attention, name, getattr(layer.self_attention, name))


class UnchainedLayer(DecoderLayer):
    """`for layer in layers: y = layer(x)`: the next layer reads x again. `0 * y` keeps this layer's gradient at 0 instead of None."""

    def forward(self, x: Tensor, *rest: Any, **more: Any) -> tuple[Tensor, Tensor, Tensor]:
        y, weights, cross_weights = super().forward(x, *rest, **more)
        return x + 0 * y, weights, cross_weights


def unchained_layers(model: Transformer) -> None:
    """Feeds every decoder layer the embeddings, so that only the last one counts."""
    for layer in model.decoder[:-1]:
        layer.__class__ = UnchainedLayer


# --- the wrong axis ---


def over_queries(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor]:
    """`softmax(dim=-2)`: the weights of a key over all queries sum to 1, instead of those of a query over all keys."""
    scores = q @ k.mT / q.shape[-1] ** power + torch.where(mask, 0.0, MASKED)
    weights = scores.softmax(dim=-2) * mask
    return dropout(weights) @ v, weights


class PositionNorm(nn.LayerNorm):
    """Normalises each number of the vectors over the positions of its sentence, padding and future included."""

    def forward(self, x: Tensor) -> Tensor:
        x = (x - x.mean(dim=1, keepdim=True)) * torch.rsqrt(x.var(dim=1, keepdim=True, correction=0) + self.eps)
        return x * self.weight + (0.0 if self.bias is None else self.bias)


class ViewedAttention(MultiHeadAttention):
    """Views (B, L, D) as (B, H, L, K) without the transpose: a "head" is a stretch of the sentence, not a part of every token."""

    def split(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], self.n_heads, x.shape[1], -1)

    def concat(self, heads: Tensor) -> Tensor:
        return heads.reshape(heads.shape[0], heads.shape[2], -1)


# --- training and evaluation ---


def unshifted(batch: Batch) -> Batch:
    """Makes the decoder predict its own input token: `loss(model(src, tgt), tgt)`."""
    return batch._replace(tgt_out=batch.tgt_in)


def with_padding(logits: Tensor, tgt_out: Tensor, label_smoothing: float) -> Tensor:
    """Lacks `ignore_index`: predicting PAD after the end counts as much as predicting a word."""
    return F.cross_entropy(logits.flatten(0, 1), tgt_out.flatten(), label_smoothing=label_smoothing)


def with_softmax(logits: Tensor, tgt_out: Tensor, label_smoothing: float) -> Tensor:
    """Applies softmax twice, in the model and in the loss: `F.cross_entropy(softmax(logits), tgt)`."""
    probabilities = logits.softmax(dim=-1).flatten(0, 1)
    return F.cross_entropy(probabilities, tgt_out.flatten(), ignore_index=PAD, label_smoothing=label_smoothing)


class AlwaysDropout(Dropout):
    """Dropout that ignores eval mode, as if `model.eval()` was forgotten."""

    @property
    def active(self) -> bool:
        return self.p > 0


class TwiceDropped(Residual):
    """A residual connection that drops what the sublayer has dropped at its own end: a number stays with probability (1 - p)²."""

    def forward(self, x: Tensor, sublayer_of_x: Tensor) -> Tensor:
        return super().forward(x, self.dropout(sublayer_of_x))


def dropout_always(model: Transformer) -> None:
    model.dropout.__class__ = AlwaysDropout
    model.cacheable = model.dropout.p == 0


BUGS = {
    "no_causal_mask": Variant(no_causal_mask, cacheable=False),
    "no_source_mask": Variant(no_source_mask),
    "no_memory_mask": Variant(no_memory_mask),
    "inverted_mask": Variant(replace_functions, inverted, cacheable=False),
    "wrong_lengths": Variant(replace_class, WrongLengthsLayer, cacheable=False),
    "tiny_fill": Variant(replace_functions, tiny_filled, cacheable=False),
    "no_mask_at_inference": Variant(no_mask_at_inference, cacheable=False),
    "unshifted": Variant(batch=unshifted),
    "softmax_over_queries": Variant(replace_functions, over_queries, cacheable=False),
    "norm_over_positions": Variant(replace_class, PositionNorm, cacheable=False),
    "view_for_transpose": Variant(replace_class, ViewedAttention, cacheable=False),
    "padding_in_loss": Variant(loss=with_padding),
    "dropout_always": Variant(dropout_always),
    "scale_twice": Variant(replace_functions, scaled_twice),
    "shared_attention": Variant(
        shared_attention, extra_parameters=lambda config: -config.decoder_layers * attention_parameters(config)  # of cross-attention
    ),
    "unchained_layers": Variant(unchained_layers),
    "softmax_in_loss": Variant(loss=with_softmax),
    "dropout_twice": Variant(replace_class, TwiceDropped),
    "no_last_norm": Variant(
        no_last_norm, extra_parameters=lambda config: -2 * (config.norm == "pre") * (1 + config.bias) * config.d_model
    ),
    "scale_by_d_model": Variant(replace_functions, scaled_by_d_model),
}

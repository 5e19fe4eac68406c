"""Common bugs in Transformer code, each as small as in practice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import PAD, ModelConfig
from playground.model.attention import MASKED, MultiHeadAttention, scaled_dot_product_attention
from playground.model.layers import DecoderLayer
from playground.model.parts import Dropout
from playground.model.sublayers import attention_parameters
from playground.model.transformer import Transformer
from playground.variants.mask_bugs import MASK_BUGS
from playground.variants.variant import Variant, attentions

if TYPE_CHECKING:
    from playground.data.batches import Batch


# --- wiring of parts ---


def scaled_twice(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor]:
    """Divides the queries by sqrt(d_k), and then the scores once more."""
    return scaled_dot_product_attention(q / q.shape[-1] ** 0.5, k, v, mask, power, dropout)


def scale_twice(model: Transformer) -> None:
    for attention in attentions(model):
        attention.attend = scaled_twice


def shared_attention(model: Transformer) -> None:
    """Creates `self.attention` once in a decoder layer, for self-attention and cross-attention."""
    for layer in model.decoder:
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(layer.cross_attention, name, getattr(layer.self_attention, name))


def without_cross_attention(config: ModelConfig) -> int:
    """Counts the missing parameters: four matrices and their biases in each decoder layer."""
    return -config.decoder_layers * attention_parameters(config)


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


def softmax_over_queries(model: Transformer) -> None:
    for attention in attentions(model):
        attention.attend = over_queries
    model.cacheable = False


class PositionNorm(nn.LayerNorm):
    """Normalises each number of the vectors over the positions of its sentence, padding and future included."""

    def forward(self, x: Tensor) -> Tensor:
        x = (x - x.mean(dim=1, keepdim=True)) * torch.rsqrt(x.var(dim=1, keepdim=True, correction=0) + self.eps)
        return x * self.weight + (0.0 if self.bias is None else self.bias)


def norm_over_positions(model: Transformer) -> None:
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.__class__ = PositionNorm
    model.cacheable = False


class ViewedAttention(MultiHeadAttention):
    """Views (B, L, D) as (B, H, L, K) without the transpose: a "head" is a stretch of the sentence, not a part of every token."""

    def split(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], self.n_heads, x.shape[1], -1)

    def concat(self, heads: Tensor) -> Tensor:
        return heads.reshape(heads.shape[0], heads.shape[2], -1)


def view_for_transpose(model: Transformer) -> None:
    for attention in attentions(model):
        attention.__class__ = ViewedAttention
    model.cacheable = False


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


def dropout_always(model: Transformer) -> None:
    model.dropout.__class__ = AlwaysDropout
    model.cacheable = model.dropout.p == 0


BUGS = MASK_BUGS | {
    "unshifted": Variant(batch=unshifted),
    "softmax_over_queries": Variant(softmax_over_queries),
    "norm_over_positions": Variant(norm_over_positions),
    "view_for_transpose": Variant(view_for_transpose),
    "padding_in_loss": Variant(loss=with_padding),
    "dropout_always": Variant(dropout_always),
    "scale_twice": Variant(scale_twice),
    "shared_attention": Variant(shared_attention, extra_parameters=without_cross_attention),
    "unchained_layers": Variant(unchained_layers),
    "softmax_in_loss": Variant(loss=with_softmax),
}

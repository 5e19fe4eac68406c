"""Builds torch.nn.Transformer equivalent to one of our models: arguments, parameters and masks."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from playground.config import ModelConfig, Refusal
from playground.model.attention import MultiHeadAttention, head_widths
from playground.model.layers import DecoderLayer, EncoderLayer
from playground.model.masks import causal_mask, padding_mask
from playground.model.transformer import Transformer

KNOBS = {  # argument of nn.Transformer -> our knob
    "d_model": "d_model", "nhead": "n_heads", "num_encoder_layers": "encoder_layers", "num_decoder_layers": "decoder_layers",
    "dim_feedforward": "d_ff", "dropout": "dropout", "activation": "activation", "norm_first": "norm", "bias": "bias",
    "batch_first": "always", "layer_norm_eps": "always",
}  # fmt: skip


def arguments(config: ModelConfig) -> dict[str, Any]:
    """Returns the arguments that make nn.Transformer equivalent to our model."""
    same = {argument: getattr(config, knob) for argument, knob in KNOBS.items() if knob != "always"}
    return {**same, "norm_first": config.norm == "pre", "batch_first": True, "layer_norm_eps": 1e-5}


def attention_pairs(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> Iterator[tuple[list[Tensor], Tensor]]:
    """Yields equivalent parameters as (ours, theirs). Torch stores W_q, W_k and W_v in one matrix: ours are a list of three."""
    yield [ours.W_q.weight, ours.W_k.weight, ours.W_v.weight], theirs.in_proj_weight
    yield [ours.W_o.weight], theirs.out_proj.weight
    if ours.W_q.bias is not None:
        yield [ours.W_q.bias, ours.W_k.bias, ours.W_v.bias], theirs.in_proj_bias
        yield [ours.W_o.bias], theirs.out_proj.bias


def plain_pairs(ours: nn.Module, theirs: nn.Module) -> Iterator[tuple[list[Tensor], Tensor]]:
    """Yields weight and bias of a linear layer or a norm."""
    for name, parameter in ours.named_parameters():
        yield [parameter], getattr(theirs, name)


def layer_pairs(
    ours: EncoderLayer | DecoderLayer, theirs: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer
) -> Iterator[tuple[list[Tensor], Tensor]]:
    """Yields all equivalent parameters of a layer."""
    yield from attention_pairs(ours.self_attention, theirs.self_attn)
    if isinstance(ours, DecoderLayer):
        yield from attention_pairs(ours.cross_attention, theirs.multihead_attn)
    for module, same in ((ours.feed_forward.W_1, theirs.linear1), (ours.feed_forward.W_2, theirs.linear2)):
        yield from plain_pairs(module, same)
    for number in range(1, 4 if isinstance(ours, DecoderLayer) else 3):
        yield from plain_pairs(getattr(ours, f"norm_{number}"), getattr(theirs, f"norm{number}"))


def as_nn_transformer(ours: Transformer, **other: Any) -> tuple[nn.Transformer, list[tuple[list[Tensor], Tensor]]]:
    """Returns nn.Transformer (the layers, without embeddings and projection) with the same parameters, and the pairs.

    `other` overrides arguments. Built on the meta device, since torch would draw parameters from its global random state. Raises Refusal
    for a model with d_k other than d_v, which torch can't build.
    """
    d_k, d_v = head_widths(ours.config)
    if d_k != d_v:
        raise Refusal("lessons.own_d_k", d_k=d_k, d_v=d_v)
    config, kind = ours.config, ours.projection.weight.dtype
    theirs = nn.Transformer(**arguments(config) | other, device="meta", dtype=kind).to_empty(device="cpu").train(ours.training)
    pairs = []
    for stack, their_stack in ((ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)):
        for layer, their_layer in zip(stack, their_stack.layers, strict=True):
            pairs += layer_pairs(layer, their_layer)
    if config.norm == "pre":
        pairs += plain_pairs(ours.encoder_norm, theirs.encoder.norm)
        pairs += plain_pairs(ours.decoder_norm, theirs.decoder.norm)
    else:
        theirs.encoder.norm = theirs.decoder.norm = None  # always present in torch, not in the paper
    with torch.no_grad():
        for matrices, their in pairs:
            their.copy_(torch.cat(matrices))
    return theirs, pairs


def disturb(model: nn.Module, seed: int = 0) -> nn.Module:
    """Adds noise to biases and norms, so that an omitted one is noticed."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.1)
    return model


def their_masks(src: Tensor, tgt_in: Tensor) -> dict[str, Tensor]:
    """Inverts our masks for nn.Transformer, where True is masked: (T, T), and (B, L) for padding."""
    hidden_src, hidden_tgt = (~padding_mask(tokens)[:, 0, 0] for tokens in (src, tgt_in))
    return {
        "tgt_mask": ~causal_mask(tgt_in.shape[1])[0, 0], "src_key_padding_mask": hidden_src, "tgt_key_padding_mask": hidden_tgt,
        "memory_key_padding_mask": hidden_src,
    }  # fmt: skip

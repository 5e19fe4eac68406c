"""torch.nn's own Transformer with the parameters of one of ours."""

import torch
from torch import nn

from playground.model.attention import MultiHeadAttention
from playground.model.layers import DecoderLayer, EncoderLayer
from playground.model.transformer import Transformer


def attention_pairs(ours: MultiHeadAttention, theirs: nn.MultiheadAttention):
    """Parameters that mean the same, as (ours, theirs). Theirs keep W_q, W_k and W_v in one matrix: ours come as a list of three."""
    yield [ours.W_q.weight, ours.W_k.weight, ours.W_v.weight], theirs.in_proj_weight
    yield [ours.W_o.weight], theirs.out_proj.weight
    if ours.W_q.bias is not None:
        yield [ours.W_q.bias, ours.W_k.bias, ours.W_v.bias], theirs.in_proj_bias
        yield [ours.W_o.bias], theirs.out_proj.bias


def layer_pairs(ours: EncoderLayer | DecoderLayer, theirs: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
    yield from attention_pairs(ours.self_attention, theirs.self_attn)
    if isinstance(ours, DecoderLayer):
        yield from attention_pairs(ours.cross_attention, theirs.multihead_attn)
    for module, twin in ((ours.feed_forward.W_1, theirs.linear1), (ours.feed_forward.W_2, theirs.linear2)):
        yield from plain_pairs(module, twin)
    for number in range(1, 4 if isinstance(ours, DecoderLayer) else 3):
        yield from plain_pairs(getattr(ours, f"norm_{number}"), getattr(theirs, f"norm{number}"))


def plain_pairs(ours: nn.Module, theirs: nn.Module):
    """Weight and bias of a linear layer or a norm."""
    for name, parameter in ours.named_parameters():
        yield [parameter], getattr(theirs, name)


def twin(ours: Transformer) -> tuple[nn.Transformer, list]:
    """nn.Transformer (the layers, without embeddings and projection) with the same parameters, and the pairs of parameters.

    Without dropout; with the norm after the sublayer there is no last norm, as in the paper (nn.Transformer would add one).
    """
    config = ours.config
    same = {
        "dim_feedforward": config.d_ff, "dropout": 0.0, "activation": config.activation, "batch_first": True,
        "norm_first": config.norm == "pre", "bias": config.bias,
    }  # fmt: skip
    last = [nn.LayerNorm(config.d_model, bias=config.bias) if config.norm == "pre" else None for _ in range(2)]
    encoder = nn.TransformerEncoderLayer(config.d_model, config.n_heads, **same)
    decoder = nn.TransformerDecoderLayer(config.d_model, config.n_heads, **same)
    theirs = nn.Transformer(
        config.d_model, config.n_heads, **same,
        custom_encoder=nn.TransformerEncoder(encoder, config.encoder_layers, last[0], enable_nested_tensor=False),
        custom_decoder=nn.TransformerDecoder(decoder, config.decoder_layers, last[1]),
    )  # fmt: skip
    pairs = []
    for stack, their_stack in ((ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)):
        for layer, their_layer in zip(stack, their_stack.layers, strict=True):
            pairs += layer_pairs(layer, their_layer)
    if config.norm == "pre":
        pairs += plain_pairs(ours.encoder_norm, theirs.encoder.norm)
        pairs += plain_pairs(ours.decoder_norm, theirs.decoder.norm)
    with torch.no_grad():
        for mine, their in pairs:
            their.copy_(torch.cat(mine))
    return theirs, pairs


def disturb(model: nn.Module, seed: int = 0) -> nn.Module:
    """Makes biases and norms something other than 0 and 1, so that a forgotten one is noticed."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.1)
    return model

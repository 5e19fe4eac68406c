"""Models that never end a sentence early, so that everybody writes as many tokens; nn.Transformer's greedy decoding."""

from __future__ import annotations

import random

import torch
from torch import nn

from benchmarks.peers.plain import Plain
from playground.config import BOS, EOS, PAD, SPECIAL_TOKENS, ModelConfig
from playground.model.transformer import Transformer

LENGTH, VOCABULARY = 12, 30  # tokens of a sentence on both sides; letters and special tokens
NEVER = -1e4  # added to the logits of what must not be written: special tokens
NOISE = 0.05  # added to every parameter, so that a model has opinions that rounding doesn't change
Sentences = list[list[int]]


def endless(config: ModelConfig) -> Transformer:
    """A model with opinions, learnt from nothing, that writes letters only."""
    model = Transformer(config, VOCABULARY, VOCABULARY, torch.Generator().manual_seed(1)).eval()
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=NOISE)
        model.projection.bias[: len(SPECIAL_TOKENS)] += NEVER
    return model


def plain(config: ModelConfig) -> nn.Module:
    """torch.nn.Transformer of the same size."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = Plain(VOCABULARY, VOCABULARY, config.d_model, config.n_heads, config.encoder_layers, config.d_ff, 0.0).eval()
    with torch.no_grad():
        model.generator.bias[: len(SPECIAL_TOKENS)] += NEVER
    return model


def sentences(count: int, seed: int) -> Sentences:
    """Letters in any order, without EOS."""
    dice = random.Random(seed)
    return [[dice.randrange(len(SPECIAL_TOKENS), VOCABULARY) for _ in range(LENGTH)] for _ in range(count)]


@torch.inference_mode()
def plain_greedy(model: Plain, given: Sentences) -> list[tuple[int, ...]]:
    """As most people write it: the encoder once, then the whole decoder again for every token."""
    src = torch.tensor([[*source, EOS] for source in given])
    written, inner = torch.full((len(given), 1), BOS), model.transformer
    padding = src == PAD
    memory = inner.encoder(model._embed(model.src_embedding, src), src_key_padding_mask=padding)
    for length in range(1, LENGTH + 1):
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        embedded = model._embed(model.tgt_embedding, written)
        states = inner.decoder(embedded, memory, tgt_mask=future, memory_key_padding_mask=padding)
        written = torch.cat((written, model.generator(states[:, -1:]).argmax(dim=-1)), dim=1)
    return [tuple(row[1:]) for row in written.tolist()]

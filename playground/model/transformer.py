"""The Transformer: an encoder that reads, a decoder that writes (figure 1)."""

import math
from collections import Counter
from typing import NamedTuple

import torch
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.model.kv_cache import NO_CACHE, DecoderCache
from playground.model.layers import DecoderLayer, EncoderLayer
from playground.model.masks import Layout, Packing, padding_mask, target_mask
from playground.model.parts import Dropout, Embedding, Linear
from playground.model.positions import added_positions, position_ids

PROJECTION_STD = 0.02  # of the output projection at the start
SUBLAYER_OUTPUTS = ("W_o.weight", "W_2.weight")  # the last matrix of each sublayer


class Output(NamedTuple):
    """logits (B, T, V) and the attention weights of every layer: encoder (B, H, S, S), decoder (B, H, T, T), cross (B, H, T, S)."""

    logits: Tensor
    encoder: tuple[Tensor, ...]
    decoder: tuple[Tensor, ...]
    cross: tuple[Tensor, ...]


class Transformer(nn.Module):
    """The encoder-decoder of section 3. Tokens are long tensors filled up with PAD; a source ends in EOS, tgt_in begins with BOS.

    `generator` draws the initial parameters and every dropout mask; the model is on its device. Raises ValueError for shared embeddings of
    vocabularies of different sizes, Refusal for an unknown position encoding.
    """

    cacheable = True  # a token's keys and values don't change while the sentence grows, so they can be cached

    def __init__(self, config: ModelConfig, src_vocab: int, tgt_vocab: int, generator: torch.Generator | None = None) -> None:
        super().__init__()
        if config.share_embeddings == "all" and src_vocab != tgt_vocab:
            raise ValueError(f"one embedding can't serve vocabularies of {src_vocab} and {tgt_vocab} tokens")
        self.config, self.src_vocab, self.tgt_vocab = config, src_vocab, tgt_vocab
        self.generator = generator or torch.Generator()
        dropout = Dropout(config.dropout, self.generator)

        self.src_embedding = Embedding(src_vocab, config.d_model)
        self.tgt_embedding = Embedding(tgt_vocab, config.d_model)
        self.src_positions, self.tgt_positions = (added_positions(config)(config.d_model) for _ in range(2))
        self.encoder = nn.ModuleList(EncoderLayer(config, dropout) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config, dropout) for _ in range(config.decoder_layers))
        self.encoder_norm, self.decoder_norm = _last_norm(config), _last_norm(config)
        self.projection = Linear(config.d_model, tgt_vocab, bias=config.bias)
        self.dropout = dropout

        if config.share_embeddings != "none":  # section 3.4
            self.projection.weight = self.tgt_embedding.weight
        if config.share_embeddings == "all":
            self.src_embedding.weight = self.tgt_embedding.weight
        self.to(self.generator.device)
        initialise(self)

    def forward(self, src: Tensor, tgt_in: Tensor, packing: Packing | None = None) -> Output:
        """src (B, S), tgt_in (B, T) -> logits (B, T, V) for the token after each of tgt_in, and all attention weights.

        With a `packing`, several pairs share a row. Raises Refusal for a sentence that is too long.
        """
        src_layout, tgt_layout, memory_mask = packing or (None, None, padding_mask(src))
        memory, encoder_weights = self.encode(src, src_layout)
        states, decoder_weights, cross_weights = self.decode(tgt_in, memory, memory_mask, tgt_layout)
        return Output(self.project(states), encoder_weights, decoder_weights, cross_weights)

    def encode(self, src: Tensor, layout: Layout | None = None) -> tuple[Tensor, tuple[Tensor, ...]]:
        """src (B, S) -> memory (B, S, D), and of each layer the weights (B, H, S, S)."""
        mask, positions = layout or (padding_mask(src), position_ids(src.shape[1], device=src.device))
        x, all_weights = self.embed(src, self.src_embedding, self.src_positions, positions), []
        for layer in self.encoder:
            x, weights = layer(x, mask, positions)
            all_weights.append(weights)
        return self.apply_memory_mode(self.encoder_norm(x), mask), tuple(all_weights)

    def decode(
        self, tgt_in: Tensor, memory: Tensor, memory_mask: Tensor, layout: Layout | None = None, cache: DecoderCache | None = None
    ) -> tuple[Tensor, tuple[Tensor, ...], tuple[Tensor, ...]]:
        """tgt_in (B, T), memory (B, S, D), memory_mask (B, 1, 1, S) -> states (B, T, D), and of each layer the weights (B, H, T, T)
        and the cross-attention weights (B, H, T, S).

        A `cache` holds the first tokens of tgt_in from earlier calls: only the N new ones are computed, and only their rows returned.
        """
        mask, positions = layout or (target_mask(tgt_in), position_ids(tgt_in.shape[1], device=tgt_in.device))
        if cache:
            tgt_in, mask, positions = cache.newest(tgt_in, mask, positions)
        x, all_weights, all_cross_weights = self.embed(tgt_in, self.tgt_embedding, self.tgt_positions, positions), [], []
        for layer, kv_cache in zip(self.decoder, cache.layers if cache else [NO_CACHE] * len(self.decoder), strict=True):
            x, weights, cross_weights = layer(x, mask, positions, memory, memory_mask, kv_cache)
            all_weights.append(weights)
            all_cross_weights.append(cross_weights)
        return self.decoder_norm(x), tuple(all_weights), tuple(all_cross_weights)

    def new_cache(self) -> DecoderCache:
        """Returns an empty key-value cache for `decode`."""
        return DecoderCache(len(self.decoder))

    def project(self, states: Tensor) -> Tensor:
        """states (B, T, D) -> logits (B, T, V); their softmax is the distribution of the next token (section 3.4)."""
        return self.projection(states)

    def embed(self, tokens: Tensor, embedding: nn.Embedding, encoding: nn.Module, positions: Tensor) -> Tensor:
        """tokens (B, L), their positions (B, L) or (1, L) -> (B, L, D): embedding times sqrt(d_model) (section 3.4) plus the encoding of
        the position."""
        x = embedding(tokens)
        if self.config.embedding_scale:
            x = x * math.sqrt(self.config.d_model)
        return self.dropout(encoding(x, positions))

    def apply_memory_mode(self, memory: Tensor, mask: Tensor) -> Tensor:
        """Returns the decoder's input of memory (B, S, D): the whole, as in the paper; the mean of a sentence's tokens at every place, like
        the single vector of Cho et al. 2014; or zeros, so that nothing of the source reaches the decoder, and no gradient the encoder."""
        if self.config.memory_mode == "mean":
            own = mask[:, 0, :, :, None]  # (B, 1 or S, S, 1)
            return ((memory[:, None] * own).sum(dim=2) / own.sum(dim=2)).expand_as(memory)
        return memory * 0 if self.config.memory_mode == "cut" else memory


def _last_norm(config: ModelConfig) -> nn.Module:
    """Returns the norm at the end of a stack, which a pre-norm stack needs, as its sum isn't normalised yet; the identity for others."""
    return nn.LayerNorm(config.d_model, bias=config.bias) if config.norm == "pre" else nn.Identity()


@torch.no_grad()
def initialise(model: Transformer) -> None:
    """Draws the initial parameters from the model's generator, by today's practice; the paper doesn't specify them.

    Matrices: Xavier uniform. The last matrix of each sublayer is smaller by the square root of the number of sublayers in its stack, so
    that their sum isn't larger than the stream they are added to (GPT-2); with zero_init it is 0. Embeddings and output projection:
    normal, and small, so that at first all tokens are about equally likely. Learned positions: normal, as large as sinusoids; with the
    embeddings' scale, models hardly learned order. Biases 0, norms 1.
    """
    sublayers = Counter(name.partition(".")[0] for name, _ in model.named_parameters() if name.endswith(SUBLAYER_OUTPUTS))  # of each stack
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            parameter.zero_()
        elif "norm" in name:
            parameter.fill_(1.0)
        elif "positions" in name:
            parameter.normal_(0, 0.5**0.5, generator=model.generator)
        elif "embedding" in name:
            parameter.normal_(0, model.config.embedding_std, generator=model.generator)
        elif "projection" in name:
            parameter.normal_(0, PROJECTION_STD, generator=model.generator)
        else:
            nn.init.xavier_uniform_(parameter, generator=model.generator)
            if name.endswith(SUBLAYER_OUTPUTS):
                parameter.mul_(0.0 if model.config.zero_init else sublayers[name.partition(".")[0]] ** -0.5)

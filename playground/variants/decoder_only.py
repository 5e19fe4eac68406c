"""Decoder-only models, as GPT: one stack reads source and target as one sequence, "source <eos> <bos> target".

Its attention is one matrix of four blocks. Source to source is what the encoder's self-attention is in the paper's model, target to source
its cross-attention, target to target its masked self-attention, and source to target is always masked. But each layer has one W_q, W_k, W_v
and W_o for all of them, and one softmax runs over the whole row: what a target token gives to the source it can't give to the target.

In a prefix decoder the source's tokens attend to each other in both directions (Liu et al. 2018, "prefix LM" of Raffel et al. 2020), in a
causal one to earlier tokens only, as in GPT.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from playground.config import MAX_POSITIONS, Refusal
from playground.model.attention import head_widths
from playground.model.kv_cache import DecoderCache, KVCache
from playground.model.layers import EncoderLayer
from playground.model.masks import Layout, Packing, causal_mask, padding_mask, target_mask
from playground.model.positions import RotaryPositions, added_positions, position_ids
from playground.model.transformer import Output, Transformer, initialise
from playground.variants.variant import Variant


def join_masks(src: Tensor, tgt_in: Tensor, is_causal: bool) -> Tensor:
    """Joins the blocks to the mask of the whole sequence: src (B, S), tgt_in (B, T) -> (B, 1, S + T, S + T). `encode` applies its first S
    rows, `decode` the others."""
    source = padding_mask(src)
    return _join_blocks(source & causal_mask(src.shape[1], src.device) if is_causal else source, source, target_mask(tgt_in))


def _join_blocks(source: Tensor, memory: Tensor, target: Tensor) -> Tensor:
    """Joins the masks of source to source (B, 1, S or 1, S), target to source (B, 1, T or 1, S) and target to target (B or 1, 1, T, T)."""
    b, s, t = len(source), source.shape[-1], target.shape[-1]
    of_source = torch.cat((source.expand(b, -1, s, -1), source.new_zeros(b, 1, s, t)), dim=-1)
    return torch.cat((of_source, torch.cat((memory.expand(b, -1, t, -1), target.expand(b, -1, -1, -1)), dim=-1)), dim=-2)


class PrefixCache:
    """The keys and values of the source, (B, H, S, K) and (B, H, S, U), before those of the target, which `own` holds if it is cached."""

    def __init__(self, k: Tensor, v: Tensor, own: KVCache | None = None) -> None:
        self.k, self.v, self.own = k, v, own

    def update(self, keys_values: Callable[..., tuple[Tensor, Tensor]], *inputs: Tensor | None) -> tuple[Tensor, Tensor]:
        """Computes those of N new target tokens -> those of all tokens, (B, H, S + T, K) and (B, H, S + T, U)."""
        k, v = self.own.update(keys_values, *inputs) if self.own else keys_values(*inputs)
        return torch.cat((self.k, k), dim=2), torch.cat((self.v, v), dim=2)


class DecoderOnly(Transformer):
    """Has the interface of the encoder-decoder: `encode` reads the source once, `decode` goes on with the target.

    Its memory is each layer's keys and values of the source, side by side: (B, S, N (H K + D)) for N layers. Positions go on counting after
    the source.
    """

    causal = False  # whether a token of the source attends to itself and earlier ones only

    def encode(self, src: Tensor, layout: Layout | None = None) -> tuple[Tensor, tuple[Tensor, ...]]:
        """src (B, S) -> memory (B, S, N (H K + D)), and of each layer the weights of source to source (B, H, S, S)."""
        mask, positions = layout or (padding_mask(src), position_ids(src.shape[1], device=src.device))
        allowed = mask & causal_mask(src.shape[1], src.device) if self.causal else mask
        x, memory, all_weights = self.embed(src, self.src_embedding, self.src_positions, positions), [], []
        for layer in self.layers:
            cache = KVCache(grows=True)
            x, weights = layer(x, allowed, positions, cache)
            memory += [layer.self_attention.concat(cache.k), layer.self_attention.concat(cache.v)]
            all_weights.append(weights)
        return self.apply_memory_mode(torch.cat(memory, dim=-1), mask), tuple(all_weights)

    def decode(
        self, tgt_in: Tensor, memory: Tensor, memory_mask: Tensor, layout: Layout | None = None, cache: DecoderCache | None = None
    ) -> tuple[Tensor, tuple[Tensor, ...], tuple[Tensor, ...]]:
        """tgt_in (B, T), memory (B, S, N (H K + D)), memory_mask (B, 1, 1, S) -> states (B, T, D), and of each layer the weights of target
        to target (B, H, T, T) and of target to source (B, H, T, S), which sum to 1 together."""
        mask, positions = layout or (target_mask(tgt_in), position_ids(tgt_in.shape[1], device=tgt_in.device))
        positions = positions + memory_mask.sum(dim=-1)[:, 0]  # each target begins where its own source ends
        if cache:
            tgt_in, mask, positions = cache.newest(tgt_in, mask, positions)
        mask = torch.cat((memory_mask.expand(-1, -1, mask.shape[2], -1), mask.expand(len(memory), -1, -1, -1)), dim=-1)
        d_k, d_v = head_widths(self.config)
        widths = [self.config.n_heads * d_k, self.config.n_heads * d_v] * len(self.layers)
        keys, values = (memory.split(widths, dim=-1)[part::2] for part in range(2))
        x, of_target, of_source = self.embed(tgt_in, self.tgt_embedding, self.tgt_positions, positions), [], []
        for at, layer in enumerate(self.layers):
            attention, own = layer.self_attention, cache.layers[at][0] if cache else None
            x, weights = layer(x, mask, positions, PrefixCache(attention.split(keys[at]), attention.split(values[at]), own))
            of_source.append(None if weights is None else weights[..., : memory.shape[1]])  # None where attention returns no weights
            of_target.append(None if weights is None else weights[..., memory.shape[1] :])
        return self.decoder_norm(x), tuple(of_target), tuple(of_source)

    def forward_joined(self, src: Tensor, tgt_in: Tensor, packing: Packing | None = None) -> Output:
        """src (B, S), tgt_in (B, T) -> the output of `forward`, by one pass over all tokens. Raises Refusal as `read_joined`."""
        states, *weights = self.read_joined(src, tgt_in, packing)
        return Output(self.project(states), *weights)

    def read_joined(self, src: Tensor, tgt_in: Tensor, packing: Packing | None = None) -> tuple[Tensor, tuple, tuple, tuple]:
        """src (B, S), tgt_in (B, T) -> states (B, T, D) and all attention weights as in `Output`, by one pass over S + T tokens: GPT as it
        is drawn. Raises Refusal for a memory mode by which target and source differ in the keys and values of the source."""
        if self.config.memory_mode != "whole":
            raise Refusal("map.no_sequence")
        s, memory_mask = src.shape[1], packing.memory_mask if packing else padding_mask(src)
        of_source, of_target = packing[:2] if packing else (
            Layout(mask, position_ids(tokens.shape[1], device=src.device))
            for mask, tokens in ((padding_mask(src), src), (target_mask(tgt_in), tgt_in))
        )  # fmt: skip
        allowed = of_source.mask & causal_mask(s, src.device) if self.causal else of_source.mask
        mask = _join_blocks(allowed, memory_mask, of_target.mask)
        target_positions = of_target.positions + memory_mask.sum(dim=-1)[:, 0]
        positions = torch.cat((of_source.positions.expand(len(src), -1), target_positions), dim=1)
        source = self.embed(src, self.src_embedding, self.src_positions, of_source.positions)
        target = self.embed(tgt_in, self.tgt_embedding, self.tgt_positions, target_positions)
        x, blocks = torch.cat((source, target), dim=1), []
        for layer in self.layers:
            x, weights = layer(x, mask, positions)
            blocks.append((None,) * 3 if weights is None else (weights[..., :s, :s], weights[..., s:, s:], weights[..., s:, :s]))
        return self.decoder_norm(x)[:, s:], *zip(*blocks, strict=True)

    def new_cache(self) -> DecoderCache:
        """Returns an empty key-value cache of the target's tokens."""
        return DecoderCache(len(self.layers))


class CausalDecoder(DecoderOnly):
    """GPT: every token attends to itself and earlier ones only, also in the source."""

    causal = True


class OnePass(DecoderOnly):
    """Reads source and target in one pass also when it writes, anew for each token: its memory is the source itself, (B, S, 1)."""

    cacheable = False

    def encode(self, src: Tensor, layout: Layout | None = None) -> tuple[Tensor, tuple[Tensor, ...]]:
        return src[..., None], ()

    def decode(
        self, tgt_in: Tensor, memory: Tensor, memory_mask: Tensor, layout: Layout | None = None, cache: DecoderCache | None = None
    ) -> tuple[Tensor, tuple[Tensor, ...], tuple[Tensor, ...]]:
        states, _, of_target, of_source = self.read_joined(memory[..., 0], tgt_in)
        return states, of_target, of_source


def read_in_one_pass(copy: DecoderOnly) -> None:
    """Makes the caller's private copy of a model a OnePass."""
    copy.causal, copy.__class__ = copy.causal, OnePass


def replace_stacks(model: Transformer, kind: type[DecoderOnly]) -> None:
    """Replaces both stacks by one with as many layers as both together, each of self-attention and feed-forward, and both tables of
    positions by one that is twice as long."""
    config, device = model.config, model.generator.device
    model.__class__, model.encoder, model.decoder, model.encoder_norm = kind, nn.ModuleList(), nn.ModuleList(), nn.Identity()
    model.layers = nn.ModuleList(EncoderLayer(config, model.dropout) for _ in range(config.encoder_layers + config.decoder_layers))
    model.src_positions = model.tgt_positions = added_positions(config)(config.d_model, 2 * MAX_POSITIONS)
    for layer in model.layers if config.encoding.rotary else ():
        layer.self_attention.rotary = RotaryPositions(head_widths(config)[0], 2 * MAX_POSITIONS)
    model.to(device)
    initialise(model)


DECODER_ONLY = {"prefix_decoder": Variant(replace_stacks, DecoderOnly), "causal_decoder": Variant(replace_stacks, CausalDecoder)}

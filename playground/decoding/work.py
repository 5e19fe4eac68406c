"""Work: what decoding takes, with the cache and without.

Every pass through the decoder is recorded as it ran. Counted are the products of matrices, where nearly all of the work is; a product
(n, k) times (k, m) takes n k m multiplications, and as many additions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from playground.config import ModelConfig


@dataclass(frozen=True)
class Pass:
    """One pass through the decoder: `rows` sentences of `length` tokens each, BOS included; states were computed for the `computed` newest
    of them, and after the `asked` newest the next token was asked for."""

    rows: int
    length: int
    computed: int
    asked: int


def without_cache(passes: Sequence[Pass]) -> list[Pass]:
    """The same passes if nothing were kept."""
    return [replace(one, computed=one.length) for one in passes]


def positions(passes: Sequence[Pass]) -> int:
    """For how many tokens the decoder computed states, each time counted anew."""
    return sum(one.rows * one.computed for one in passes)


def multiplications(config: ModelConfig, tgt_vocab: int, source: int, passes: Sequence[Pass]) -> int:
    """Multiplications to encode a source of `source` tokens, EOS included, and for these passes."""
    d, f, s = config.d_model, config.d_ff, source
    total = config.encoder_layers * (4 * s * d * d + 2 * s * s * d + 2 * s * d * f)
    for one in passes:
        n = one.computed
        own = 4 * n * d * d + 2 * n * one.length * d  # W_q, W_k, W_v, W_o; scores and mixing
        cross = 2 * n * d * d + 2 * n * s * d  # W_q and W_o; scores and mixing
        memory = 2 * s * d * d if n == one.length else 0  # W_k and W_v of the memory, unless they were kept
        total += one.rows * (config.decoder_layers * (own + cross + memory + 2 * n * d * f) + one.asked * d * tgt_vocab)
    return total

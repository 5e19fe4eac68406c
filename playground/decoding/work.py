"""Work: what decoding takes, with the cache and without.

Every pass through the decoder is recorded as it ran. Counted are the products of matrices, where nearly all of the work is; a product
(n, k) times (k, m) takes n k m multiplications, and as many additions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from playground.config import ModelConfig
from playground.model.sublayers import attention_multiplications, feed_forward_multiplications


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
    encoder = attention_multiplications(config, source, source, source) + feed_forward_multiplications(config, source)
    total = config.encoder_layers * encoder
    for one in passes:
        n = one.computed
        memory = source if n == one.length else 0  # the source's keys and values, unless they were kept
        layer = attention_multiplications(config, n, n, one.length) + attention_multiplications(config, n, memory, source)
        layer += feed_forward_multiplications(config, n)
        total += one.rows * (config.decoder_layers * layer + one.asked * config.d_model * tgt_vocab)
    return total

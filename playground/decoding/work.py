"""Work: the multiplications of decoding, with the cache and without.

Every pass through the decoder is recorded as it ran. Only matrix products are counted, as they are nearly all of the work; a product (n, k)
times (k, m) takes n k m multiplications, and as many additions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from playground.config import ModelConfig
from playground.model.sublayers import attention_multiplications, feed_forward_multiplications


@dataclass(frozen=True)
class Pass:
    """One pass through the decoder: `rows` sentences of `length` tokens each, BOS included; states were computed for the `computed` newest
    tokens, and next-token logits for the `scored` newest."""

    rows: int
    length: int
    computed: int
    scored: int


def without_cache(passes: Sequence[Pass]) -> list[Pass]:
    """Returns the same passes as they would be without a cache."""
    return [replace(each, computed=each.length) for each in passes]


def positions(passes: Sequence[Pass]) -> int:
    """Counts the token states that the decoder computed, repeats included."""
    return sum(each.rows * each.computed for each in passes)


def multiplications(config: ModelConfig, tgt_vocab: int, source: int, passes: Sequence[Pass]) -> int:
    """Counts the multiplications of encoding a source of `source` tokens, EOS included, and of these passes."""
    encoder = attention_multiplications(config, source, source, source) + feed_forward_multiplications(config, source)
    total = config.encoder_layers * encoder
    for each in passes:
        n = each.computed
        memory = source if n == each.length else 0  # the source's keys and values, unless they were cached
        layer = attention_multiplications(config, n, n, each.length) + attention_multiplications(config, n, memory, source)
        layer += feed_forward_multiplications(config, n)
        total += each.rows * (config.decoder_layers * layer + each.scored * config.d_model * tgt_vocab)
    return total

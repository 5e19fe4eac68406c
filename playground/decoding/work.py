"""Work: how many multiplications decoding takes, by formula, with the cache and without.

Counted are the products of matrices, where nearly all of the work is; a product (n, k) times (k, m) takes n k m multiplications.
"""

from __future__ import annotations

from collections.abc import Sequence

from playground.config import ModelConfig


def multiplications(config: ModelConfig, tgt_vocab: int, source: int, growing: Sequence[int], prefix: int = 0, cache: bool = True) -> int:
    """Multiplications to encode a source of `source` tokens, EOS included, and to write len(growing) tokens after a prefix of `prefix`.

    growing[n] is how many sentences grow at the n-th of these steps: 1 in greedy decoding of one sentence, up to its width in a beam.
    """
    d, f, s = config.d_model, config.d_ff, source
    encoder = config.encoder_layers * (4 * s * d * d + 2 * s * s * d + 2 * s * d * f)
    # each pass: how many sentences, how many tokens of each the decoder is fed, and after how many of them the next is asked for
    passes = [(1, prefix, prefix)] * bool(prefix) + [(rows, prefix + 1 + n, 1) for n, rows in enumerate(growing)]
    decoder = projection = known = 0
    for rows, length, asked in passes:
        new = length - known  # tokens whose states are computed
        own = 4 * new * d * d + 2 * new * length * d  # W_q, W_k, W_v, W_o; scores and mixing
        cross = 2 * new * d * d + 2 * new * s * d  # W_q and W_o; scores and mixing
        memory = 0 if known else 2 * s * d * d  # W_k and W_v of the memory
        decoder += config.decoder_layers * rows * (own + cross + memory + 2 * new * d * f)
        projection += rows * asked * d * tgt_vocab
        known = length if cache else 0
    return encoder + decoder + projection

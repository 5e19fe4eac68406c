"""The price of a longer sentence with and without a KV cache: multiply-adds and bytes by formula, and milliseconds measured with the run's
own model."""

import time
from dataclasses import dataclass

import numpy as np
import torch

from playground.config import BOS, EOS, MAX_POSITIONS
from playground.decoding.model_decoder import ModelDecoder
from playground.model import costs
from playground.model.costs import Pass, attended, multiplications
from playground.model.transformer import Transformer

LENGTHS = tuple(2**power for power in range(2, 11))  # tokens of a source, and as many of its output
BUDGET_S, GROWTH = 0.8, 3  # of a processor for all timings; the next length takes at most so many times as long as the last
SAMPLED = 5  # timed steps of a sentence
CACHES = ("cached", "uncached")


@dataclass(frozen=True)
class Price:
    """Costs by length, each by name: multiply-adds and bytes at all LENGTHS, and milliseconds, which end with the longest timed sentence.

    Attention counts for Q K^T and the weights times V, the rest for all other matrices. The weights are those of all heads and layers in
    the last step, the encoder's included.
    """

    operations: dict[str, list[int]]
    bytes: dict[str, list[int]]
    ms: dict[str, list[float]]

    @property
    def totals(self) -> dict[str, np.ndarray]:
        """The multiply-adds of attention and the rest together."""
        return {name: np.add(self.operations[f"attention_{name}"], self.operations[f"rest_{name}"]) for name in CACHES}

    @property
    def times(self) -> dict[str, list[float]]:
        """The milliseconds at all LENGTHS, NaN where they weren't measured, and those expected from the multiply-adds at the pace of the
        longest timed sentence without a cache."""
        timed, totals = len(self.ms["uncached"]), self.totals
        pace = self.ms["uncached"][-1] / totals["uncached"][timed - 1]
        measured = {f"measured_{name}": [*self.ms[name], *[np.nan] * (len(LENGTHS) - timed)] for name in CACHES}
        return measured | {f"expected_{name}": (pace * totals[name]).tolist() for name in CACHES}


def compute_price(model: Transformer) -> Price:
    """Computes and measures the price of a source and an output of each of LENGTHS."""
    config, operations, sizes = model.config, {}, {}
    width = costs.query_width(config) + config.d_model
    for name in CACHES:
        passes = [[Pass(1, at, 1 if name == "cached" else at, 1) for at in range(1, length + 1)] for length in LENGTHS]
        totals = [multiplications(config, model.tgt_vocab, length, each) for length, each in zip(LENGTHS, passes, strict=True)]
        attention = [width * attended(config, length, each) for length, each in zip(LENGTHS, passes, strict=True)]
        operations |= {f"attention_{name}": attention, f"rest_{name}": np.subtract(totals, attention).tolist()}
        pairs = [attended(config, length, each[-1:]) for length, each in zip(LENGTHS, passes, strict=True)]
        sizes[f"weights_{name}"] = [costs.FLOAT * config.n_heads * count for count in pairs]
    sizes["keys_values"] = [costs.FLOAT * costs.cached_numbers(config, length, length) for length in LENGTHS]
    parameters = costs.parameter_count(config, model.src_vocab, model.tgt_vocab)
    return Price(operations, sizes | {"parameters": [costs.FLOAT * parameters] * len(LENGTHS)}, _measure_times(model))


def _measure_times(model: Transformer) -> dict[str, list[float]]:
    """Measures the shortest sentences first, as far as the budget goes."""
    time_decoding(model, LENGTHS[0], True)  # what only a first call takes
    ms: dict[str, list[float]] = {name: [] for name in CACHES}
    begin = time.thread_time()
    for length in LENGTHS:
        start = time.thread_time()
        for name in CACHES:
            ms[name].append(time_decoding(model, length, name == "cached"))
        now = time.thread_time()
        if 2 * length > MAX_POSITIONS or now - begin + GROWTH * (now - start) > BUDGET_S:
            break
    return ms


@torch.inference_mode()
def time_decoding(model: Transformer, length: int, cache: bool) -> float:
    """Measures the processor milliseconds in which the model's own code reads `length` tokens and writes as many: the encoder, the first
    step, and the later ones, of which SAMPLED evenly spread ones are timed."""
    dice = torch.Generator().manual_seed(length)
    src, tgt_in = (torch.randint(EOS + 1, vocab, (1, length), generator=dice) for vocab in (model.src_vocab, model.tgt_vocab))
    src[:, -1], tgt_in[:, 0] = EOS, BOS
    start = time.thread_time()
    decoder = ModelDecoder(model, src, cache)
    decoder.logits(tgt_in[:, :1], 1)
    begun, later = time.thread_time() - start, []
    for at in np.unique(np.linspace(1.5, length + 0.5, 2 * SAMPLED + 1)[1::2].round().astype(int)).tolist():
        if decoder.cache and decoder.cache.length < at - 1:
            decoder.logits(tgt_in[:, : at - 1], 1)
        start = time.thread_time()
        decoder.logits(tgt_in[:, :at], 1)
        later.append(time.thread_time() - start)
    return 1000 * (begun + (length - 1) * float(np.mean(later)))

"""What a longer sentence costs with and without a KV cache: multiply-adds and bytes by formula, and milliseconds measured with the run's
own model."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import torch

from playground.config import BOS, EOS, MAX_POSITIONS, ModelConfig, Refusal
from playground.decoding.model_decoder import ModelDecoder
from playground.features.shared import blocks, panels
from playground.features.shared.figures import graph
from playground.features.shared.naming import variant_name
from playground.features.shared.view import View
from playground.model import costs
from playground.model.costs import Pass, attended, multiplications
from playground.model.transformer import Transformer
from playground.words import percentage

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


def is_priced(config: ModelConfig) -> bool:
    """Tests whether the formulas hold: they do for each architecture, but not for every variant."""
    return config.altered_by == "none" or config.alteration.decoder_only


def compute_price(model: Transformer) -> Price:
    """Computes and measures the price of a source and an output of each of LENGTHS."""
    config, operations, sizes = model.config, {}, {}
    width = costs.query_width(config) + config.d_model
    for name in CACHES:
        passes = [_list_passes(length, name == "cached") for length in LENGTHS]
        totals = [multiplications(config, model.tgt_vocab, length, each) for length, each in zip(LENGTHS, passes, strict=True)]
        attention = [width * attended(config, length, each) for length, each in zip(LENGTHS, passes, strict=True)]
        operations |= {f"attention_{name}": attention, f"rest_{name}": np.subtract(totals, attention).tolist()}
        pairs = [attended(config, length, each[-1:]) for length, each in zip(LENGTHS, passes, strict=True)]
        sizes[f"weights_{name}"] = [costs.FLOAT * config.n_heads * count for count in pairs]
    sizes["keys_values"] = [costs.FLOAT * costs.cached_numbers(config, length, length) for length in LENGTHS]
    parameters = costs.parameter_count(config, model.src_vocab, model.tgt_vocab)
    return Price(operations, sizes | {"parameters": [costs.FLOAT * parameters] * len(LENGTHS)}, _measure_times(model))


def _list_passes(length: int, is_cached: bool) -> list[Pass]:
    """Lists the passes that write `length` tokens."""
    return [Pass(1, at, 1 if is_cached else at, 1) for at in range(1, length + 1)]


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


@panels.declare("price", needs=panels.ATTENTION)
def build_price(view: View) -> dict:
    """Builds three figures over the length: multiply-adds, bytes, and milliseconds beside what the multiply-adds let expect."""
    if not is_priced(view.run.experiment.model):
        raise Refusal("page.has_variant", variant=variant_name(view.run, view.language))
    model, _ = view.reader.model_at(view.run, None)
    price = view.reader.take_apart(("price", view.run.id), lambda: compute_price(model))
    title = blocks.text("price-title", view.say("decoding.price_title"), css="pg-heading")
    return {"step": view.step, "blocks": [title, blocks.row("price", *_draw_figures(view, price), css="thirds")]}


def _draw_figures(view: View, price: Price) -> list[dict]:
    """Draws multiply-adds, bytes, and the measured milliseconds beside those that the multiply-adds let expect."""
    at, timed = LENGTHS.index(MAX_POSITIONS), len(price.ms["cached"]) - 1
    totals = {name: np.add(*(price.operations[f"{part}_{name}"] for part in ("attention", "rest"))) for name in CACHES}
    shares = price.operations["attention_cached"] / totals["cached"]
    pace = price.ms["uncached"][-1] / totals["uncached"][timed]
    times = {f"measured_{name}": [*price.ms[name], *[np.nan] * (len(LENGTHS) - timed - 1)] for name in CACHES}
    times |= {f"expected_{name}": (pace * totals[name]).tolist() for name in CACHES}
    fewer, saved = totals["uncached"] / totals["cached"], price.bytes["weights_uncached"][at] - price.bytes["weights_cached"][at]
    values = {"most": MAX_POSITIONS, "longest": f"{LENGTHS[-1]:,}", "share": percentage(shares[at], 0), "last": percentage(shares[-1], 0)}
    values |= {"times": f"{fewer[at]:.0f}", "held": _format_size(price.bytes["keys_values"][at]), "saved": _format_size(saved)}
    values |= {"timed": LENGTHS[timed], "fewer": f"{fewer[timed]:.0f}"} | {name: f"{price.ms[name][-1]:,.0f}" for name in CACHES}
    figures, axis = [], view.say("decoding.price_length")
    for name, lines in (("operations", price.operations), ("bytes", price.bytes), ("ms", times)):
        named = {view.say(f"decoding.price_{key}"): line for key, line in lines.items()}
        picture = view.draw(graph.lines, LENGTHS, named, title=axis, log_x=True, log_y=True, share=3)
        caption, title = view.say(f"decoding.price_{name}_caption", **values), view.say(f"decoding.price_{name}")
        figures.append(blocks.figure(f"price-{name}", picture, caption, title))
    return figures


def _format_size(count: float) -> str:
    """Formats bytes in kilobytes."""
    return f"{count / 1000:,.0f} kB"

"""Decoding: from probabilities to sentences, one token after the other. Read in this order:

model_decoder (next-token log probabilities from a model, the trace of one sentence; greedy decoding and sampling) · beam (search, its tree
of candidates, the best of each of many sentences) · verdicts (search error or model error) · constraints (phrases that must come or must
not) · fast_decoder (the same sums in fewer calls) · single_decoder (one sentence in numpy, without torch). The multiplications are
counted in model/costs.py.

Sources and targets are lists of token ids without BOS; a source comes without its EOS, which is added here. `max_length` counts the tokens
that are written, EOS included. A `prefix` is forced, whatever its probability, and ends the sentence where it holds EOS. `cache` False
computes everything anew for each token; `fast` False uses the model's own code only, which writes the same. Each pass through the decoder
is appended to `record`. The model must be in eval mode.
"""

import importlib

from playground.config import MAX_POSITIONS

EXTRA_TOKENS, EXTRA = 16, 1.25  # an output may have EXTRA_TOKENS beyond twice its source, or EXTRA times the longest target's tokens
_NAMES = {
    "decoding.beam": ("Node", "Search", "best", "search", "searches"),
    "decoding.constraints": ("Constraints",),
    "decoding.model_decoder": ("Hypothesis", "Trace", "greedy", "next_logprobs", "sample", "top_k_top_p_filter", "trace"),
    "decoding.verdicts": ("Verdict", "classify"),
    "model.costs": ("Pass", "multiplications", "positions", "without_cache"),
}


def __getattr__(name: str) -> object:
    """Imports what needs torch at its first use."""
    for module, names in _NAMES.items():
        if name in names:
            return getattr(importlib.import_module(f"playground.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def limit_output(longest_target: int, source: float) -> int:
    """Limits an output's tokens, EOS included, for a source of `source` tokens without EOS and a model trained on targets of up to
    `longest_target`. Short sources may have long answers (a word and its meaning), and a truncated output is never right."""
    return min(MAX_POSITIONS, max(round(2 * source) + EXTRA_TOKENS, round(EXTRA * longest_target)))

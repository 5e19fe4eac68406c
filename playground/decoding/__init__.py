"""Decoding: from probabilities to sentences, one token after the other. Read in this order:

model_decoder (next-token log probabilities from a model, the trace of one sentence; greedy decoding and sampling) · beam (search, its tree
of candidates, the best of each of many sentences) · verdicts (search error or model error) · constraints (phrases that must come or must
not) · fast_decoder (the same sums in fewer calls) · single_decoder (one sentence in numpy). The multiplications are counted in
model/costs.py.

Sources and targets are lists of token ids without BOS; a source comes without its EOS, which is added here. `max_length` counts the tokens
that are written, EOS included. A `prefix` is forced, whatever its probability, and ends the sentence where it holds EOS. `cache` False
computes everything anew for each token; `fast` False uses the model's own code only, which writes the same. Each pass through the decoder
is appended to `record`. The model must be in eval mode.
"""

from playground.decoding.beam import Node, Search, best, search, searches
from playground.decoding.constraints import Constraints
from playground.decoding.model_decoder import Hypothesis, Trace, greedy, limit_output, next_logprobs, sample, top_k_top_p_filter, trace
from playground.decoding.verdicts import Verdict, classify
from playground.model.costs import Pass, multiplications, positions, without_cache

__all__ = [
    "Constraints", "Hypothesis", "Node", "Pass", "Search", "Trace", "Verdict", "best", "classify", "greedy",
    "limit_output", "multiplications", "next_logprobs", "positions", "sample", "search", "searches", "top_k_top_p_filter", "trace",
    "without_cache",
]  # fmt: skip

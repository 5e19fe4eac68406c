"""Decoding: from probabilities to sentences, one token after the other. Here torch becomes numpy. Read in this order:

model_decoder (asking the model for the next token) · sampling (greedy and random) · beam (search, and the tree of what it considered) ·
batches (many sentences) · search_errors (whose fault a wrong answer is) · tracing (everything inside one sentence) · fast_parts,
fast_encoder and fast_decoder (the same sums in fewer calls) · single_decoder (and of one sentence in numpy) · work (what it took).

Sources and targets are lists of token ids without BOS; a source comes without its EOS, which is added here. `max_length` counts the tokens
that are written, EOS included. A `prefix` is written first, whatever the model thinks of it, and ends the sentence where it holds EOS.
`cache` False computes everything anew for each token; `fast` False leaves all to the model's own code, which writes the same. Each pass
through the decoder is added to `record`. The model must be in eval mode.
"""

from playground.decoding.batches import best
from playground.decoding.beam import Node, Search, beam, search, searches
from playground.decoding.model_decoder import Hypothesis
from playground.decoding.sampling import greedy, sample, top_k_top_p_filter
from playground.decoding.search_errors import Verdict, classify
from playground.decoding.tracing import Trace, trace
from playground.decoding.work import Pass, multiplications, positions, without_cache

__all__ = [
    "Hypothesis",
    "Node",
    "Pass",
    "Search",
    "Trace",
    "Verdict",
    "beam",
    "best",
    "classify",
    "greedy",
    "multiplications",
    "positions",
    "sample",
    "search",
    "searches",
    "top_k_top_p_filter",
    "trace",
    "without_cache",
]  # fmt: skip

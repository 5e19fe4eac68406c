"""Beam search: several hypotheses side by side, with a record of everything that was considered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from playground.config import BOS, EOS
from playground.decoding.model_decoder import DecodingState, Hypothesis, clip_prefix, score
from playground.decoding.work import Pass
from playground.model.transformer import Transformer


@dataclass(frozen=True, slots=True)
class Node:
    """A hypothesis that was considered: the one of `parent`, a place in the list of nodes, and one token more; `length` tokens in all.

    `logprob` is the token's, `total` the sum along the path, `score` that sum with its length penalty. `pruned` is the length at which it
    fell out of the beam: its own when it was never kept, a greater one when it had ended and others overtook it, None when it stayed.
    """

    parent: int | None
    token: int
    length: int
    logprob: float
    total: float
    score: float
    pruned: int | None = None

    @property
    def kept(self) -> bool:
        return self.pruned is None or self.pruned > self.length

    def stays(self, step: int) -> bool:
        """Whether it is in the beam after this step, as the newest or as one that has ended."""
        here = self.length == step or (self.length < step and self.token == EOS)
        return here and (self.pruned is None or self.pruned > step)


@dataclass(frozen=True)
class Search:
    """What beam search found, best first, and how: every node it considered (the first is BOS, parents come before children), the node at
    which each hypothesis ends, and what was asked of it."""

    hypotheses: tuple[Hypothesis, ...]
    nodes: tuple[Node, ...]
    ends: tuple[int, ...]
    prefix: tuple[int, ...]
    length_penalty: float

    @property
    def nbytes(self) -> int:
        """About what it takes in memory: some 200 bytes a node."""
        return 200 * len(self.nodes)


@torch.inference_mode()
def beam(
    model: Transformer, source: Sequence[int], width: int, length_penalty: float, max_length: int, prefix: Sequence[int] = (),
    cache: bool = True, record: list[Pass] | None = None, fast: bool = True,
) -> list[Hypothesis]:  # fmt: skip
    """The hypotheses that `search` finds, best first."""
    return list(search(model, source, width, length_penalty, max_length, prefix, cache, record, fast).hypotheses)


@torch.inference_mode()
def search(
    model: Transformer, source: Sequence[int], width: int, length_penalty: float, max_length: int, prefix: Sequence[int] = (),
    cache: bool = True, record: list[Pass] | None = None, fast: bool = True,
) -> Search:  # fmt: skip
    """Keeps the `width` best hypotheses by their `score` at each step, the finished ones among them, until none can grow.

    Width 1 is greedy decoding. Raises ValueError for a width below 1.
    """
    if width < 1:
        raise ValueError("a beam needs a width of at least 1")
    prefix, most = clip_prefix(prefix, max_length)
    asking = DecodingState(model, [source], prefix, cache, record, fast)
    written, logprobs = asking.begin()  # (1, 1 + P), (1, P)
    nodes = [Node(None, BOS, 0, 0.0, 0.0, 0.0)]
    for value, token in zip(logprobs[0].tolist(), prefix, strict=True):
        nodes.append(child(nodes, len(nodes) - 1, token, value, length_penalty))
    best = [len(nodes) - 1]
    growing = [] if EOS in prefix or len(prefix) == most else best  # one for each row of `written`
    while growing:
        values, tokens = asking.logprobs(written)[:, -1].topk(min(width, model.tgt_vocab))  # (B, width): no parent keeps more children
        candidates, rows = [at for at in best if nodes[at].token == EOS], {}  # rows: node -> the row it grew from
        for row, parent in enumerate(growing):
            for value, token in zip(values[row].tolist(), tokens[row].tolist(), strict=True):
                rows[len(nodes)] = row
                candidates.append(len(nodes))
                nodes.append(child(nodes, parent, token, value, length_penalty))
        candidates.sort(key=lambda at: -nodes[at].score)
        best, length = candidates[:width], nodes[-1].length
        for at in candidates[width:]:
            nodes[at] = replace(nodes[at], pruned=length)
        growing = [at for at in best if nodes[at].token != EOS and length < most]
        if growing:
            parents = torch.tensor([rows[at] for at in growing], device=written.device)
            asking.select_rows(parents)
            written = torch.cat((written[parents], written.new_tensor([[nodes[at].token] for at in growing])), dim=1)
    return Search(tuple(_hypothesis(nodes, at) for at in best), tuple(nodes), tuple(best), prefix, length_penalty)


def path(nodes: Sequence[Node], at: int) -> list[int]:
    """The places of the nodes from BOS to this one, BOS left out."""
    places = []
    while nodes[at].parent is not None:
        places.append(at)
        at = nodes[at].parent
    return places[::-1]


def child(nodes: Sequence[Node], parent: int, token: int, logprob: float, length_penalty: float) -> Node:
    """The hypothesis of the node at `parent` and one token more."""
    length, total = nodes[parent].length + 1, nodes[parent].total + logprob
    return Node(parent, token, length, logprob, total, score(total, length, length_penalty))


def _hypothesis(nodes: Sequence[Node], at: int) -> Hypothesis:
    places = path(nodes, at)
    return Hypothesis(tuple(nodes[place].token for place in places), tuple(nodes[place].logprob for place in places), nodes[at].score)

"""Beam search: several hypotheses in parallel, with a record of every candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from playground.config import BOS, EOS, MAX_POSITIONS
from playground.decoding.model_decoder import DecodingState, Hypothesis, clip_prefix, score
from playground.model.costs import Pass
from playground.model.transformer import Transformer


@dataclass(frozen=True, slots=True)
class Node:
    """A candidate hypothesis: that of `parent`, an index in the list of nodes, and one token more; `length` tokens in all.

    `logprob` is the token's, `total` the sum along the path, `score` that sum with its length penalty. `pruned` is the length at which it
    fell out of the beam: its own when it never entered, a greater one when it had ended and was overtaken, None when it stayed.
    """

    parent: int | None
    token: int
    length: int
    logprob: float
    total: float
    score: float
    pruned: int | None = None

    @property
    def entered(self) -> bool:
        return self.pruned is None or self.pruned > self.length

    def is_in_beam(self, step: int) -> bool:
        """Returns whether the beam holds it after this step, as the newest or as a finished one."""
        present = self.length == step or (self.length < step and self.token == EOS)
        return present and (self.pruned is None or self.pruned > step)


@dataclass(frozen=True)
class Search:
    """A beam search: hypotheses, best first; every candidate node (the first is BOS, parents come before children); the node at which each
    hypothesis ends; and the search's settings."""

    hypotheses: tuple[Hypothesis, ...]
    nodes: tuple[Node, ...]
    ends: tuple[int, ...]
    prefix: tuple[int, ...]
    length_penalty: float

    @property
    def nbytes(self) -> int:
        """Estimates the memory it takes: some 200 bytes a node."""
        return 200 * len(self.nodes)


@torch.inference_mode()
def beam(
    model: Transformer, source: Sequence[int], width: int, length_penalty: float, max_length: int, prefix: Sequence[int] = (),
    cache: bool = True, record: list[Pass] | None = None, fast: bool = True,
) -> list[Hypothesis]:  # fmt: skip
    """Returns the hypotheses of `search`, best first."""
    return list(search(model, source, width, length_penalty, max_length, prefix, cache, record, fast).hypotheses)


def search(
    model: Transformer, source: Sequence[int], width: int, length_penalty: float, max_length: int, prefix: Sequence[int] = (),
    cache: bool = True, record: list[Pass] | None = None, fast: bool = True,
) -> Search:  # fmt: skip
    """Keeps the `width` best hypotheses by their `score` at each step, the finished ones among them, until none can grow.

    Width 1 is greedy decoding. Raises ValueError for a width below 1.
    """
    return searches(model, [source], width, length_penalty, [max_length], prefix, cache, record, fast)[0]


@torch.inference_mode()
def searches(
    model: Transformer, sources: Sequence[Sequence[int]], width: int, length_penalty: float, max_lengths: Sequence[int],
    prefix: Sequence[int] = (), cache: bool = True, record: list[Pass] | None = None, fast: bool = True,
) -> list[Search]:  # fmt: skip
    """Searches several sources at once, each with its own beam: at each step the model scores all growing hypotheses."""
    if width < 1:
        raise ValueError("a beam needs a width of at least 1")
    if not sources:
        return []
    prefix, _ = clip_prefix(prefix, max(max_lengths))
    state = DecodingState(model, sources, prefix, cache, record, fast)
    written, logprobs = state.begin()  # (B, 1 + P), (B, P)
    beams = [
        _Beam(prefix, values, width, length_penalty, min(limit, MAX_POSITIONS))
        for values, limit in zip(logprobs.tolist(), max_lengths, strict=True)
    ]
    rows = [row for row, beam in enumerate(beams) if beam.growing]  # of `written`, one for each growing hypothesis
    if 0 < len(rows) < len(beams):
        state.select_rows(torch.tensor(rows, device=written.device))
        written = written[rows]
    while rows:
        likeliest = state.logprobs(written)[:, -1].topk(min(width, model.tgt_vocab))  # a parent has no more children in the beam
        following = list(zip(*(values.tolist() for values in likeliest), strict=True))
        rows, tokens, begin = [], [], 0
        for beam in (beam for beam in beams if beam.growing):
            end = begin + len(beam.growing)
            for row, token in beam.grow(following[begin:end]):
                rows.append(begin + row)
                tokens.append([token])
            begin = end
        if rows:
            parents = torch.tensor(rows, device=written.device)
            state.select_rows(parents)
            written = torch.cat((written[parents], written.new_tensor(tokens)), dim=1)
    return [beam.search for beam in beams]


class _Beam:
    """The beam of one source: all nodes, and the indices of the best ones and of the growing ones among them."""

    def __init__(self, prefix: tuple[int, ...], logprobs: Sequence[float], width: int, length_penalty: float, most: int) -> None:
        self.prefix, self.width, self.length_penalty, self.most = prefix, width, length_penalty, most
        self.nodes = [Node(None, BOS, 0, 0.0, 0.0, 0.0)]
        for value, token in zip(logprobs, prefix, strict=True):
            self.nodes.append(extend(self.nodes, len(self.nodes) - 1, token, value, length_penalty))
        self.best = [len(self.nodes) - 1]
        self.growing = [] if EOS in prefix or len(prefix) >= most else self.best

    def grow(self, following: Sequence[tuple[list[float], list[int]]]) -> list[tuple[int, int]]:
        """Does one step: log probabilities and tokens that may follow each growing hypothesis -> (row of its parent, newest token) of each
        that grows on."""
        nodes, rows = self.nodes, {}  # rows: node -> the row of its parent
        candidates = [at for at in self.best if nodes[at].token == EOS]
        for row, (parent, candidate_tokens) in enumerate(zip(self.growing, following, strict=True)):
            for value, token in zip(*candidate_tokens, strict=True):
                rows[len(nodes)] = row
                candidates.append(len(nodes))
                nodes.append(extend(nodes, parent, token, value, self.length_penalty))
        candidates.sort(key=lambda at: -nodes[at].score)
        self.best, length = candidates[: self.width], nodes[-1].length
        for at in candidates[self.width :]:
            nodes[at] = replace(nodes[at], pruned=length)
        self.growing = [at for at in self.best if nodes[at].token != EOS and length < self.most]
        return [(rows[at], nodes[at].token) for at in self.growing]

    @property
    def search(self) -> Search:
        hypotheses = tuple(_hypothesis(self.nodes, at) for at in self.best)
        return Search(hypotheses, tuple(self.nodes), tuple(self.best), self.prefix, self.length_penalty)


def path(nodes: Sequence[Node], at: int) -> list[int]:
    """Returns the indices of the nodes from BOS (left out) to this one."""
    places = []
    while nodes[at].parent is not None:
        places.append(at)
        at = nodes[at].parent
    return places[::-1]


def extend(nodes: Sequence[Node], parent: int, token: int, logprob: float, length_penalty: float) -> Node:
    """Returns the node at `parent` extended by one token."""
    length, total = nodes[parent].length + 1, nodes[parent].total + logprob
    return Node(parent, token, length, logprob, total, score(total, length, length_penalty))


def _hypothesis(nodes: Sequence[Node], at: int) -> Hypothesis:
    places = path(nodes, at)
    return Hypothesis(tuple(nodes[place].token for place in places), tuple(nodes[place].logprob for place in places), nodes[at].score)

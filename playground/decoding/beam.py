"""Beam search: several hypotheses in parallel, with a record of every candidate; the best output of many sentences; and why a search missed
the right answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from playground.config import BOS, EOS, MAX_POSITIONS
from playground.decoding.model_decoder import DecodingState, Hypothesis, clip_prefix, score
from playground.decoding.sampling import greedy
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
    state = DecodingState(model, sources, prefix, cache, record, fast, width)
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


# --- many sentences ---

TOKENS = 2048  # source tokens per batch: more are no faster, and their caches take memory


def best(
    model: Transformer, sources: Sequence[Sequence[int]], max_lengths: Sequence[int], width: int = 1, length_penalty: float = 0.0
) -> list[tuple[int, ...]]:  # fmt: skip
    """Returns the greedy output for each source, or the best of a beam of this width; in the order of the sources, each with its own
    length limit. The same tokens as for one source after the other."""
    outputs: dict[int, tuple[int, ...]] = {}
    for places in _batch_by_length(sources, TOKENS // width):
        texts, limits = [sources[at] for at in places], [max_lengths[at] for at in places]
        if width == 1:
            written = (hypothesis.ids for hypothesis in greedy(model, texts, max(limits)))
        else:
            written = (search.hypotheses[0].ids for search in searches(model, texts, width, length_penalty, limits))
        outputs |= {at: ids[:limit] for at, ids, limit in zip(places, written, limits, strict=True)}
    return [outputs[at] for at in range(len(sources))]


def _batch_by_length(sources: Sequence[Sequence[int]], tokens: int) -> Iterator[list[int]]:
    """Yields the indices of all sources in batches of neighbours in length, each of one source or of at most `tokens` tokens with
    padding."""
    batch: list[int] = []
    for at in sorted(range(len(sources)), key=lambda place: len(sources[place])):
        if batch and (len(batch) + 1) * (len(sources[at]) + 1) > tokens:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


# --- search error or model error? When a search misses the right answer, it lost it, or the model prefers another ---


@dataclass(frozen=True)
class Verdict:
    """The fate of the reference in a search.

    `kind`  "found": it is the best hypothesis. "search": it isn't, though it scores higher than the best: a search error. "model": the
    model itself scores the best hypothesis higher, a model error
    `reference`  the right answer in question (the best hypothesis, else the highest-scoring one), scored by the model
    `path`  the nodes of the reference, BOS left out. If its next token was never a candidate, the last is an additional node:
    `nodes`  those of the search, and that one
    """

    kind: str
    reference: Hypothesis
    path: tuple[int, ...]
    nodes: tuple[Node, ...]

    @property
    def pruned(self) -> int | None:
        """The step, counted from 1, at which the reference fell out of the beam; None if it stayed to the end."""
        return self.nodes[self.path[-1]].pruned

    @property
    def bar(self) -> float | None:
        """The lowest score that remained in the beam at that step."""
        step = self.pruned
        remaining = [node.score for node in self.nodes if node.is_in_beam(step)] if step else []
        return min(remaining, default=None)


def classify(model: Transformer, source: Sequence[int], search: Search, references: Sequence[Sequence[int]]) -> Verdict | None:
    """Classifies a search. `references` are the right answers, each with its EOS; None when none of them begins with the prefix of the
    search."""
    prefix, best = search.prefix, search.hypotheses[0]
    possible = [tuple(ids) for ids in references if len(ids) <= MAX_POSITIONS and tuple(ids[: len(prefix)]) == prefix]
    if not possible:
        return None
    if best.ids in possible:
        return Verdict("found", best, *_follow(search, best))
    scored = [_score_reference(model, source, ids, search.length_penalty) for ids in possible]
    reference = max(scored, key=lambda hypothesis: hypothesis.score)
    return Verdict("search" if reference.score > best.score else "model", reference, *_follow(search, reference))


def _score_reference(model: Transformer, source: Sequence[int], ids: tuple[int, ...], length_penalty: float) -> Hypothesis:
    (forced,) = greedy(model, [source], len(ids), prefix=ids)
    return Hypothesis(ids, forced.logprobs, score(sum(forced.logprobs), len(ids), length_penalty))


def _follow(search: Search, reference: Hypothesis) -> tuple[tuple[int, ...], tuple[Node, ...]]:
    """Returns the nodes of the reference as far as the search followed it, and all nodes."""
    children = {(node.parent, node.token): at for at, node in enumerate(search.nodes)}
    parents = {node.parent for node in search.nodes}  # nodes whose next tokens were candidates
    nodes, at, followed = search.nodes, 0, []
    for token, logprob in zip(reference.ids, reference.logprobs, strict=True):
        if at not in parents:  # it was pruned, or has the maximum length
            break
        if (at, token) in children:
            at = children[at, token]
        else:
            lost = extend(nodes, at, token, logprob, search.length_penalty)
            nodes, at = (*nodes, replace(lost, pruned=lost.length)), len(nodes)
        followed.append(at)
    return tuple(followed), nodes

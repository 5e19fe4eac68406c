"""Beam search: several hypotheses in parallel, with a record of every candidate; the best output of many sentences; and why a search missed
the right answer."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch

from playground.config import BOS, EOS, MAX_POSITIONS, Refusal
from playground.decoding.constraints import FREE, Constraints
from playground.decoding.model_decoder import DecodingState, Hypothesis, clip_prefix, greedy
from playground.model.costs import Pass
from playground.model.transformer import Transformer


class Node(NamedTuple):
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
    cache: bool = True, record: list[Pass] | None = None, fast: bool = True, constraints: Constraints = FREE,
) -> Search:  # fmt: skip
    """Keeps the `width` best hypotheses by their `score` at each step, the finished ones among them, until none can grow; with constraints
    the `width` best of each bank.

    Width 1 is greedy decoding. Raises ValueError for a width below 1, Refusal when no hypothesis met the constraints.
    """
    return searches(model, [source], width, length_penalty, [max_length], prefix, cache, record, fast, constraints)[0]


@torch.inference_mode()
def searches(
    model: Transformer, sources: Sequence[Sequence[int]], width: int, length_penalty: float, max_lengths: Sequence[int],
    prefix: Sequence[int] = (), cache: bool = True, record: list[Pass] | None = None, fast: bool = True,
    constraints: Constraints = FREE,
) -> list[Search]:  # fmt: skip
    """Searches several sources at once, each with its own beam: at each step the model scores all growing hypotheses."""
    if width < 1:
        raise ValueError("a beam needs a width of at least 1")
    if not sources:
        return []
    prefix, _ = clip_prefix(prefix, max(max_lengths))
    state = DecodingState(model, sources, prefix, cache, record, fast, width * (1 + constraints.tokens))
    written, logprobs = state.begin()  # (B, 1 + P), (B, P)
    beams = [
        _Beam(prefix, values, width, length_penalty, min(limit, MAX_POSITIONS), constraints)
        for values, limit in zip(logprobs.tolist(), max_lengths, strict=True)
    ]
    rows = [row for row, beam in enumerate(beams) if beam.growing]  # of `written`, one for each growing hypothesis
    if 0 < len(rows) < len(beams):
        state.select_rows(torch.tensor(rows, device=written.device))
        written = written[rows]
    while rows:
        following = constraints.rank(state.logprobs(written)[:, -1], written, width)  # a parent has no more children in the beam
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

    def __init__(
        self, prefix: tuple[int, ...], logprobs: Sequence[float], width: int, length_penalty: float, most: int, constraints: Constraints
    ) -> None:  # fmt: skip
        self.prefix, self.width, self.length_penalty, self.most, self.constraints = prefix, width, length_penalty, most, constraints
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
        self.best, length = self._choose(candidates), nodes[-1].length
        for at in {*candidates}.difference(self.best):
            nodes[at] = nodes[at]._replace(pruned=length)
        self.growing = [at for at in self.best if nodes[at].token != EOS and length < self.most]
        return [(rows[at], nodes[at].token) for at in self.growing]

    def _choose(self, candidates: list[int]) -> list[int]:
        """Returns the `width` best of each bank, best first; without constraints there is one bank. A hypothesis that is worse than `width`
        finished ones is hopeless."""
        chosen, banks, finished = [], Counter(), 0
        for at in sorted(candidates, key=lambda at: -self.nodes[at].score):
            bank = self.constraints.count_met(self._ids(at)) if self.constraints.must else 0
            if banks[bank] < self.width and finished < self.width:
                chosen.append(at)
                banks[bank] += 1
                finished += self.nodes[at].token == EOS
        return chosen

    def _ids(self, at: int) -> tuple[int, ...]:
        return tuple(self.nodes[place].token for place in path(self.nodes, at))

    @property
    def search(self) -> Search:
        ends = tuple(at for at in self.best if not self.constraints.find_unmet(self._ids(at)))
        if not ends:
            raise Refusal("decoding.constraints_missed", width=self.width)
        return Search(tuple(_hypothesis(self.nodes, at) for at in ends), tuple(self.nodes), ends, self.prefix, self.length_penalty)


def path(nodes: Sequence[Node], at: int) -> list[int]:
    """Returns the indices of the nodes from BOS (left out) to this one."""
    places = []
    while nodes[at].parent is not None:
        places.append(at)
        at = nodes[at].parent
    return places[::-1]


def penalise_length(total: float, length: int, length_penalty: float) -> float:
    """Returns total / ((5 + length) / 6)^length_penalty for a sum of log probabilities (Wu et al. 2016, equation 14): 0 is the plain sum,
    a higher penalty favours long sentences."""
    return total / ((5 + length) / 6) ** length_penalty


def extend(nodes: Sequence[Node], parent: int, token: int, logprob: float, length_penalty: float) -> Node:
    """Returns the node at `parent` extended by one token."""
    length, total = nodes[parent].length + 1, nodes[parent].total + logprob
    return Node(parent, token, length, logprob, total, penalise_length(total, length, length_penalty))


def _hypothesis(nodes: Sequence[Node], at: int) -> Hypothesis:
    places = path(nodes, at)
    return Hypothesis(tuple(nodes[place].token for place in places), tuple(nodes[place].logprob for place in places), nodes[at].score)


# --- many sentences ---

TOKENS = 2048  # source tokens per batch: more are no faster, and their caches take memory


def best(
    model: Transformer, sources: Sequence[Sequence[int]], max_lengths: Sequence[int], width: int = 1, length_penalty: float = 0.0,
    constraints: Constraints = FREE,
) -> list[tuple[int, ...]]:  # fmt: skip
    """Returns the greedy output for each source, or the best of a beam of this width; in the order of the sources, each with its own
    length limit. The same tokens as for one source after the other."""
    outputs: dict[int, tuple[int, ...]] = {}
    for places in _batch_by_length(sources, TOKENS // width):
        texts, limits = [sources[at] for at in places], [max_lengths[at] for at in places]
        if width == 1 and constraints == FREE:
            written = (hypothesis.ids for hypothesis in greedy(model, texts, max(limits)))
        else:
            beams = searches(model, texts, width, length_penalty, limits, constraints=constraints)
            written = (search.hypotheses[0].ids for search in beams)
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
        return Verdict("found", best, *follow(search, best))
    scored = [_score_reference(model, source, ids, search.length_penalty) for ids in possible]
    reference = max(scored, key=lambda hypothesis: hypothesis.score)
    return Verdict("search" if reference.score > best.score else "model", reference, *follow(search, reference))


def _score_reference(model: Transformer, source: Sequence[int], ids: tuple[int, ...], length_penalty: float) -> Hypothesis:
    (forced,) = greedy(model, [source], len(ids), prefix=ids)
    return Hypothesis(ids, forced.logprobs, penalise_length(sum(forced.logprobs), len(ids), length_penalty))


def follow(search: Search, reference: Hypothesis) -> tuple[tuple[int, ...], tuple[Node, ...]]:
    """Returns the nodes of a hypothesis as far as the search followed it, and all nodes."""
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
            nodes, at = (*nodes, lost._replace(pruned=lost.length)), len(nodes)
        followed.append(at)
    return tuple(followed), nodes

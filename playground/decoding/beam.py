"""Beam search: several hypotheses in parallel, with a record of every candidate; and the best output of many sentences."""

from __future__ import annotations

from collections import Counter, namedtuple
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
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
    beams = Beams(prefix, logprobs.cpu().numpy(), width, length_penalty, max_lengths, constraints)
    rows = beams.nodes.beam[beams.growing]  # of `written`, one for each growing hypothesis
    if 0 < len(rows) < len(sources):
        rows = torch.from_numpy(rows).to(written.device)
        state.select_rows(rows)
        written = written[rows]
    while len(beams.growing):
        following = constraints.rank(state.logprobs(written)[:, -1], written, width)  # a parent has no more children in the beam
        rows, tokens = (torch.from_numpy(array).to(written.device) for array in beams.grow(*following))
        if len(rows):
            state.select_rows(rows)
            written = torch.cat((written[rows], tokens.unsqueeze(1)), dim=1)
    return [Search(beams, beam) for beam in range(len(sources))]


Columns = namedtuple("Columns", ("beam", *Node._fields))  # of nodes, an array each; `pruned` is 0 where a node has None


class Beams:
    """The beams of several sources as arrays, so that a step of all takes few calls: the columns of all nodes, and the indices of the best
    ones, and of the ended and the growing ones among them, by beam and score."""

    def __init__(
        self, prefix: tuple[int, ...], logprobs: np.ndarray, width: int, length_penalty: float, limits: Sequence[int],
        constraints: Constraints,
    ) -> None:  # fmt: skip
        """logprobs (B, P): of each prefix token for each source; limits (B,): the most tokens of each output."""
        self.prefix, self.width, self.length_penalty, self.constraints = prefix, width, length_penalty, constraints
        self.limits, best = np.minimum(limits, MAX_POSITIONS), np.arange(len(limits))
        zeros, none = np.zeros(len(limits)), np.zeros(len(limits), int)
        self.nodes = Columns(best, none, none + BOS, none, zeros, zeros, zeros, none)
        for token, values in zip(prefix, logprobs.T, strict=True):
            best = self._extend(best, np.full(len(limits), token), values)
        self.nodes.pruned[:] = 0
        self._set_best(best)

    def grow(self, rows: np.ndarray, tokens: np.ndarray, logprobs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Does one step: the token and log probability of each possible extension of a growing hypothesis, whose row is given, all (C,) ->
        the row of the parent and the newest token of each hypothesis that grows on."""
        begin = len(self.nodes.beam)
        candidates = np.concatenate((self.ended, self._extend(self.growing[rows], tokens, logprobs)))
        self.nodes.pruned[candidates] = self.nodes.length[-1]
        self._set_best(self._choose(candidates))
        self.nodes.pruned[self.best] = 0
        return rows[self.growing - begin], self.nodes.token[self.growing]

    def _extend(self, parents: np.ndarray, tokens: np.ndarray, logprobs: np.ndarray) -> np.ndarray:
        """Appends a child of each parent and returns their indices."""
        beams, *columns = (column[parents] for column in self.nodes)
        children = beams, *extend(parents, Node(*columns), tokens, logprobs, self.length_penalty)
        self.nodes = Columns(*map(np.concatenate, zip(self.nodes, children, strict=True)))
        return np.arange(len(self.nodes.beam) - len(parents), len(self.nodes.beam))

    def _set_best(self, best: np.ndarray) -> None:
        nodes = self.nodes
        has_ended = (nodes.token[best] == EOS) | (nodes.length[best] >= self.limits[nodes.beam[best]])
        self.best, self.ended, self.growing = best, best[has_ended], best[~has_ended]

    def _choose(self, candidates: np.ndarray) -> np.ndarray:
        """Returns the `width` best of each bank, by beam and score; without constraints there is one bank. A hypothesis that is worse than
        `width` finished ones is hopeless."""
        candidates = candidates[np.lexsort((-self.nodes.score[candidates], self.nodes.beam[candidates]))]
        beams = self.nodes.beam[candidates]
        if not self.constraints.must:
            return candidates[np.arange(len(beams)) - np.searchsorted(beams, beams) < self.width]
        chosen, banks, finished = [], Counter(), Counter()
        for at, beam in zip(candidates.tolist(), beams.tolist(), strict=True):
            bank = beam, self.constraints.count_met(self.ids(at))
            if banks[bank] < self.width and finished[beam] < self.width:
                chosen.append(at)
                banks[bank] += 1
                finished[beam] += self.nodes.token[at] == EOS
        return np.array(chosen, int)

    def ids(self, at: int) -> tuple[int, ...]:
        """Returns the tokens from BOS (left out) to a node."""
        ids = []
        while self.nodes.length[at]:
            ids.append(int(self.nodes.token[at]))
            at = self.nodes.parent[at]
        return tuple(ids[::-1])


class Search:
    """A beam search, read from arrays when it is needed. Raises Refusal when no hypothesis meets the constraints.

    `nodes`  every candidate; the first is BOS, parents come before children
    `ends`  the node at which each hypothesis ends, best first
    `ids`  the tokens of the best hypothesis
    """

    def __init__(self, beams: Beams, beam: int) -> None:
        self.prefix, self.length_penalty, self._columns = beams.prefix, beams.length_penalty, beams.nodes
        best, constraints = beams.best[beams.nodes.beam[beams.best] == beam], beams.constraints
        best = [at for at in best if not constraints.must or not constraints.find_unmet(beams.ids(at))]
        if not best:
            raise Refusal("decoding.constraints_missed", width=beams.width)
        self._places = np.flatnonzero(beams.nodes.beam == beam)
        self.ends, self.ids = tuple(np.searchsorted(self._places, best).tolist()), beams.ids(best[0])

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        _, parent, *columns, pruned = (column[self._places] for column in self._columns)
        parents, prunings = [None, *np.searchsorted(self._places, parent)[1:].tolist()], (length or None for length in pruned.tolist())
        return tuple(map(Node, parents, *(column.tolist() for column in columns), prunings))

    @cached_property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        nodes = self.nodes
        tokens = [[nodes[at] for at in path(nodes, end)] for end in self.ends]
        return tuple(
            Hypothesis(tuple(node.token for node in own), tuple(node.logprob for node in own), nodes[end].score)
            for own, end in zip(tokens, self.ends, strict=True)
        )

    @property
    def nbytes(self) -> int:
        """Estimates the memory it takes: some 200 bytes a node."""
        return 200 * len(self._places)


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


def extend(parent: int, node: Node, token: int, logprob: float, length_penalty: float) -> Node:
    """Returns the node at index `parent` extended by one token, which has not entered the beam; or many at once, each field an array."""
    length, total = node.length + 1, node.total + logprob
    return Node(parent, token, length, logprob, total, penalise_length(total, length, length_penalty), length)


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
            written = [hypothesis.ids for hypothesis in greedy(model, texts, max(limits))]
        else:
            written = [search.ids for search in searches(model, texts, width, length_penalty, limits, constraints=constraints)]
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

"""Whose fault is it? When beam search doesn't find the right answer, either the search lost it or the model prefers something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from playground.config import MAX_POSITIONS
from playground.decoding.beam import Node, Search, child
from playground.decoding.model_decoder import Hypothesis, score
from playground.decoding.sampling import greedy
from playground.model.transformer import Transformer


@dataclass(frozen=True)
class Verdict:
    """What became of the reference in a search.

    `kind`  "found": it is the best hypothesis. "search": it isn't, though it scores higher than the best: the search lost it, a search
            error. "model": the model itself scores what was found higher, a model error
    `reference`  the right answer that is meant (the one that was found, else the one that scores highest) as the model weighs it
    `path`  the nodes it went through, BOS left out. When its next token was never considered, the last one is a node of its own:
    `nodes`  those of the search, and that one
    """

    kind: str
    reference: Hypothesis
    path: tuple[int, ...]
    nodes: tuple[Node, ...]

    @property
    def pruned(self) -> int | None:
        """The step, counted from 1, at which the reference fell out of the beam; None when it stayed to the end."""
        return self.nodes[self.path[-1]].pruned

    @property
    def bar(self) -> float | None:
        """The lowest score that stayed in the beam at that step."""
        step = self.pruned
        stayed = [node.score for node in self.nodes if node.stays(step)] if step else []
        return min(stayed, default=None)


def classify(model: Transformer, source: Sequence[int], search: Search, references: Sequence[Sequence[int]]) -> Verdict | None:
    """The verdict on a search. `references` are the right answers, each with its EOS; None when there is none that begins with the prefix
    of the search."""
    prefix, best = search.prefix, search.hypotheses[0]
    possible = [tuple(ids) for ids in references if len(ids) <= MAX_POSITIONS and tuple(ids[: len(prefix)]) == prefix]
    if not possible:
        return None
    if best.ids in possible:
        return Verdict("found", best, *_follow(search, best))
    weighed = [_weigh(model, source, ids, search.length_penalty) for ids in possible]
    reference = max(weighed, key=lambda hypothesis: hypothesis.score)
    return Verdict("search" if reference.score > best.score else "model", reference, *_follow(search, reference))


def _weigh(model: Transformer, source: Sequence[int], ids: tuple[int, ...], length_penalty: float) -> Hypothesis:
    (forced,) = greedy(model, [source], len(ids), prefix=ids)
    return Hypothesis(ids, forced.logprobs, score(sum(forced.logprobs), len(ids), length_penalty))


def _follow(search: Search, reference: Hypothesis) -> tuple[tuple[int, ...], tuple[Node, ...]]:
    """The nodes of the reference as far as it came, and all nodes."""
    children = {(node.parent, node.token): at for at, node in enumerate(search.nodes)}
    asked = {node.parent for node in search.nodes}  # those whose next tokens were considered
    nodes, at, followed = search.nodes, 0, []
    for token, logprob in zip(reference.ids, reference.logprobs, strict=True):
        if at not in asked:  # it was pruned, or the longest that was allowed
            break
        if (at, token) in children:
            at = children[at, token]
        else:
            lost = child(nodes, at, token, logprob, search.length_penalty)
            nodes, at = (*nodes, replace(lost, pruned=lost.length)), len(nodes)
        followed.append(at)
    return tuple(followed), nodes

"""Search error or model error? When a search misses the right answer, it lost it, or the model prefers another."""

from collections.abc import Sequence
from dataclasses import dataclass

from playground.config import MAX_POSITIONS
from playground.decoding.beam import Node, Search, extend, penalise_length
from playground.decoding.model_decoder import Hypothesis, greedy
from playground.model.transformer import Transformer


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
            nodes, at = (*nodes, extend(at, nodes[at], token, logprob, search.length_penalty)), len(nodes)
        followed.append(at)
    return tuple(followed), nodes

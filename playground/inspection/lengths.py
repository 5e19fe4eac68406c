"""How far a skill reaches: what is right at each target length and at each place of a target, and the true sentences about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from playground.inspection.fact import Fact, percent

NAMED = 6  # lengths without a sentence that a caption lists


@dataclass(frozen=True)
class Reach:
    """Right answers by length. Column n - 1 is for targets of n tokens (without EOS), row p for their token number p + 1; EOS is the last.

    Both shares (0 to 1) are NaN where there is nothing to be right or wrong.
    """

    counts: np.ndarray  # (N,) how many sentences
    exact: np.ndarray  # (N,) the share of them that is wholly right
    tokens: np.ndarray  # (N + 1, N) the share of tokens that is right


def reach(rows: Sequence[tuple[np.ndarray, bool]], longest: int) -> Reach:
    """Of sentences given as (which tokens are right (T,), EOS included; whether all of it is right). N is `longest`, or more if one is."""
    longest = max([longest, *(len(right) - 1 for right, _ in rows)])
    counts, whole = np.zeros(longest, dtype=int), np.zeros(longest)
    hits, asked = np.zeros((longest + 1, longest)), np.zeros((longest + 1, longest))
    for right, all_of_it in rows:
        column = len(right) - 2
        counts[column] += 1
        whole[column] += all_of_it
        hits[: len(right), column] += right
        asked[: len(right), column] += 1
    with np.errstate(invalid="ignore"):
        return Reach(counts, whole / counts, hits / asked)


def exact_facts(found: Reach, trained: tuple[int, int]) -> list[Fact]:
    """How many sentences are right at the lengths of training, `trained` (shortest, longest); at the next one beyond; and from where on
    none is. With shorter ones than training had, how many of those; and which lengths up to these have no sentence."""
    low, high = trained
    facts = [Fact("evaluation.lengths_trained", {"percent": _mean(found, low, high), "low": low, "high": high})]
    tried = np.flatnonzero(found.counts) + 1
    missing = sorted({*range(int(tried[0]), max(int(tried[-1]), high) + 1)} - {*tried.tolist()})
    if missing:
        lengths = (*map(str, missing[:NAMED]), *["…"] * (len(missing) > NAMED))
        facts.append(Fact("evaluation.lengths_missing", {"lengths": lengths}))
    if low > 1 and found.counts[: low - 1].any():
        facts.append(Fact("evaluation.lengths_shorter", {"percent": _mean(found, 1, low - 1), "low": low}))
    beyond = np.flatnonzero(found.counts[high:]) + high + 1  # lengths there are sentences of
    if not len(beyond):
        return [*facts, Fact("evaluation.lengths_end", {"high": high})]
    values = {"length": int(beyond[0]), "percent": percent(found.exact[beyond[0] - 1])}
    if len(beyond) == 1:
        return [*facts, Fact("evaluation.lengths_next", values)]
    alive = [int(length) for length in beyond if found.exact[length - 1] > 0]
    if alive[-1:] == [int(beyond[-1])]:
        return [*facts, Fact("evaluation.lengths_alive", values | {"last": alive[-1], "left": percent(found.exact[alive[-1] - 1])})]
    if not alive:
        return [*facts, Fact("evaluation.lengths_none", values)]
    return [*facts, Fact("evaluation.lengths_beyond", values | {"zero": int(next(length for length in beyond if length > alive[-1]))})]


def line_fact(found: Reach, trained: tuple[int, int]) -> Fact:
    """The same in one line, for a run among others."""
    low, high = trained
    values = {"percent": _mean(found, low, high), "low": low, "high": high}
    beyond = np.flatnonzero(found.counts[high:]) + high + 1
    if not len(beyond):
        return Fact("evaluation.line_end", values)
    return Fact("evaluation.line", values | {"length": int(beyond[0]), "next": percent(found.exact[beyond[0] - 1])})


def token_facts(found: Reach, trained: tuple[int, int]) -> list[Fact]:
    """Token by token: how many are right inside the lengths of training and beyond, and which place is the hardest at the first length
    that training had not."""
    low, high = trained
    inside, beyond = _tokens(found, low, high), _tokens(found, high + 1, len(found.counts))
    facts = [Fact("evaluation.tokens_trained", {"percent": percent(inside), "low": low, "high": high})]
    lengths = np.flatnonzero(found.counts[high:]) + high + 1
    if not len(lengths):
        return facts
    facts = [Fact("evaluation.tokens_beyond", {"percent": percent(inside), "beyond": percent(beyond), "low": low, "high": high})]
    first = int(lengths[0])
    column = found.tokens[: first + 1, first - 1]
    if column.min() < 1:
        place = int(column.argmin()) + 1
        facts.append(Fact("evaluation.tokens_hardest", {"length": first, "place": place, "percent": percent(column.min())}))
    return facts


def _mean(found: Reach, low: int, high: int) -> int:
    """The percentage of sentences of low to high tokens that is right."""
    counts, exact = found.counts[low - 1 : high], found.exact[low - 1 : high]
    return percent(float(np.nansum(counts * exact) / max(counts.sum(), 1)))


def _tokens(found: Reach, low: int, high: int) -> float:
    """The share of tokens that is right in sentences of low to high tokens."""
    counts, tokens = found.counts[low - 1 : high], found.tokens[:, low - 1 : high]
    asked = ~np.isnan(tokens) * counts
    return float(np.nansum(tokens * counts) / max(asked.sum(), 1))

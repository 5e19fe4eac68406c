"""Length generalisation: accuracy at each target length and at each place of a target, and true sentences about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from playground.inspection.fact import Fact, percent

NAMED = 6  # listed lengths without a sentence


@dataclass(frozen=True)
class Reach:
    """Accuracy by length. Column n - 1 is for targets of n tokens (without EOS), row p for their token number p + 1; EOS is the last.

    Both shares (0 to 1) are NaN without a sentence or token.
    """

    counts: np.ndarray  # (N,) sentences
    exact: np.ndarray  # (N,) exact match: the share of sentences that is wholly right
    tokens: np.ndarray  # (N + 1, N) the share of tokens that is right


def reach(rows: Sequence[tuple[np.ndarray, bool]], longest: int) -> Reach:
    """Averages sentences of (which tokens are right (T,), EOS included; whether all are). N is `longest`, or more for a longer sentence."""
    longest = max([longest, *(len(right) - 1 for right, _ in rows)])
    counts, whole = np.zeros(longest, dtype=int), np.zeros(longest)
    hits, totals = np.zeros((longest + 1, longest)), np.zeros((longest + 1, longest))
    for right, is_right in rows:
        column = len(right) - 2
        counts[column] += 1
        whole[column] += is_right
        hits[: len(right), column] += right
        totals[: len(right), column] += 1
    with np.errstate(invalid="ignore"):
        return Reach(counts, whole / counts, hits / totals)


def exact_facts(accuracy: Reach, trained: tuple[int, int]) -> list[Fact]:
    """States exact match at the lengths of training, `trained` (shortest, longest); at the next one beyond; and the length from which on it
    is 0. Also exact match of sentences shorter than in training, and the lengths without a sentence."""
    low, high = trained
    facts = [Fact("evaluation.lengths_trained", {"percent": _exact_match(accuracy, low, high), "low": low, "high": high})]
    tried = np.flatnonzero(accuracy.counts) + 1
    missing = sorted({*range(int(tried[0]), max(int(tried[-1]), high) + 1)} - {*tried.tolist()})
    if missing:
        lengths = (*map(str, missing[:NAMED]), *["…"] * (len(missing) > NAMED))
        facts.append(Fact("evaluation.lengths_missing", {"lengths": lengths}))
    if low > 1 and accuracy.counts[: low - 1].any():
        facts.append(Fact("evaluation.lengths_shorter", {"percent": _exact_match(accuracy, 1, low - 1), "low": low}))
    beyond = np.flatnonzero(accuracy.counts[high:]) + high + 1  # lengths with sentences
    if not len(beyond):
        return [*facts, Fact("evaluation.lengths_end", {"high": high})]
    values = {"length": int(beyond[0]), "percent": percent(accuracy.exact[beyond[0] - 1])}
    if len(beyond) == 1:
        return [*facts, Fact("evaluation.lengths_next", values)]
    alive = [int(length) for length in beyond if accuracy.exact[length - 1] > 0]
    if alive[-1:] == [int(beyond[-1])]:
        return [*facts, Fact("evaluation.lengths_alive", values | {"last": alive[-1], "left": percent(accuracy.exact[alive[-1] - 1])})]
    if not alive:
        return [*facts, Fact("evaluation.lengths_none", values)]
    return [*facts, Fact("evaluation.lengths_beyond", values | {"zero": int(next(length for length in beyond if length > alive[-1]))})]


def line_fact(accuracy: Reach, trained: tuple[int, int]) -> Fact:
    """States exact match in one line, for a run among others."""
    low, high = trained
    values = {"percent": _exact_match(accuracy, low, high), "low": low, "high": high}
    beyond = np.flatnonzero(accuracy.counts[high:]) + high + 1
    if not len(beyond):
        return Fact("evaluation.line_end", values)
    return Fact("evaluation.line", values | {"length": int(beyond[0]), "next": percent(accuracy.exact[beyond[0] - 1])})


def token_facts(accuracy: Reach, trained: tuple[int, int]) -> list[Fact]:
    """States token accuracy at the lengths of training and beyond, and the hardest place at the first length beyond."""
    low, high = trained
    inside, beyond = _token_accuracy(accuracy, low, high), _token_accuracy(accuracy, high + 1, len(accuracy.counts))
    facts = [Fact("evaluation.tokens_trained", {"percent": percent(inside), "low": low, "high": high})]
    lengths = np.flatnonzero(accuracy.counts[high:]) + high + 1
    if not len(lengths):
        return facts
    facts = [Fact("evaluation.tokens_beyond", {"percent": percent(inside), "beyond": percent(beyond), "low": low, "high": high})]
    first = int(lengths[0])
    column = accuracy.tokens[: first + 1, first - 1]
    if column.min() < 1:
        place = int(column.argmin()) + 1
        facts.append(Fact("evaluation.tokens_hardest", {"length": first, "place": place, "percent": percent(column.min())}))
    return facts


def _exact_match(accuracy: Reach, low: int, high: int) -> int:
    """Returns exact match of sentences of low to high tokens, in percent."""
    counts, exact = accuracy.counts[low - 1 : high], accuracy.exact[low - 1 : high]
    return percent(float(np.nansum(counts * exact) / max(counts.sum(), 1)))


def _token_accuracy(accuracy: Reach, low: int, high: int) -> float:
    """Returns token accuracy in sentences of low to high tokens."""
    counts, tokens = accuracy.counts[low - 1 : high], accuracy.tokens[:, low - 1 : high]
    totals = ~np.isnan(tokens) * counts
    return float(np.nansum(tokens * counts) / max(totals.sum(), 1))

"""Effects of an intervention: removed and new tokens, the largest change of a probability, and the importance of each head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

import numpy as np

from playground.inspection.fact import Fact

MOVED = 0.005  # a smaller change is invisible in two digits


def mark_changes(before: Sequence[int], after: Sequence[int]) -> tuple[list[bool], list[bool]]:
    """Marks the tokens removed from `before` and the new ones of `after`, as in a diff."""
    removed, new = [True] * len(before), [True] * len(after)
    for start, other, size in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        removed[start : start + size] = new[other : other + size] = [False] * size
    return removed, new


def output_fact(before: Sequence[int], after: Sequence[int]) -> Fact:
    """Returns "interventions.same", or "interventions.different" with {gone} and {new} tokens of {tokens} and {other}, and the first {step}
    that differs."""
    if tuple(before) == tuple(after):
        return Fact("interventions.same", {})
    removed, new = mark_changes(before, after)
    step = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), min(len(before), len(after)))
    values = {"gone": sum(removed), "tokens": len(before), "new": sum(new), "other": len(after), "step": step + 1}
    return Fact("interventions.different", values)


def probability_fact(before: Sequence[float], after: Sequence[float], names: Sequence[str]) -> Fact:
    """States the largest change of a token's probability: "interventions.moved" with {token}, {step} and the probabilities {before} and
    {after}; "interventions.unmoved" when none changed."""
    difference = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    at = int(np.abs(difference).argmax())
    if abs(difference[at]) < MOVED:
        return Fact("interventions.unmoved", {})
    values = {"token": names[at], "step": at + 1, "before": float(before[at]), "after": float(after[at])}
    return Fact("interventions.moved", values)


def importance(lost: Mapping[object, float], whole: float) -> list[Fact]:
    """States the importance of single heads: `lost` has the points of exact match lost without each, of the `whole` (both 0 to 100).

    "interventions.costs_most" with {head} (a key of `lost`) and {points}; "interventions.costs_nothing" with {count} of {heads}, or
    "interventions.all_cost"; and "interventions.better_without" with {count}. "interventions.nothing_to_lose" alone, when no sentence is
    right; "interventions.none_costs" when none costs.
    """
    if whole <= 0:
        return [Fact("interventions.nothing_to_lose", {})]
    worst = max(lost, key=lambda head: lost[head])
    free, better = sum(points == 0 for points in lost.values()), sum(points < 0 for points in lost.values())
    facts = [Fact("interventions.costs_most", {"head": worst, "points": points_of(lost[worst])})] if lost[worst] > 0 else []
    if lost[worst] <= 0:
        facts.append(Fact("interventions.none_costs", {}))
    elif free:
        facts.append(Fact("interventions.costs_nothing", {"count": free, "heads": len(lost)}))
    elif not better:
        facts.append(Fact("interventions.all_cost", {}))
    return [*facts, *([Fact("interventions.better_without", {"count": better})] if better else [])]


def points_of(points: float) -> str:
    """Formats points of 100, with a decimal below 1 only: 41, 0.4."""
    return f"{points:.0f}" if abs(points) >= 1 or points == 0 else f"{points:.1f}"

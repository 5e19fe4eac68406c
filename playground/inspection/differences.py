"""What a change made different: tokens gone and new, the probability that moved most, and what each head is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

import numpy as np

from playground.inspection.fact import Fact

MOVED = 0.005  # below this, a probability has not moved: both are shown with two digits


def marks(before: Sequence[int], after: Sequence[int]) -> tuple[list[bool], list[bool]]:
    """Which tokens of `before` are gone and which of `after` are new, where as much as possible of the order is kept."""
    gone, new = [True] * len(before), [True] * len(after)
    for start, other, size in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        gone[start : start + size] = new[other : other + size] = [False] * size
    return gone, new


def written(before: Sequence[int], after: Sequence[int]) -> Fact:
    """ "interventions.same", or "interventions.different" with {gone} and {new} tokens of {tokens} and {other}, and the
    first {step} that differs."""
    if tuple(before) == tuple(after):
        return Fact("interventions.same", {})
    gone, new = marks(before, after)
    step = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), min(len(before), len(after)))
    values = {"gone": sum(gone), "tokens": len(before), "new": sum(new), "other": len(after), "step": step + 1}
    return Fact("interventions.different", values)


def moved(before: Sequence[float], after: Sequence[float], names: Sequence[str]) -> Fact:
    """Of the token whose probability moved most: "interventions.moved" with {token}, {step} and the probabilities {before} and {after};
    "interventions.unmoved" when none did."""
    difference = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    at = int(np.abs(difference).argmax())
    if abs(difference[at]) < MOVED:
        return Fact("interventions.unmoved", {})
    values = {"token": names[at], "step": at + 1, "before": float(before[at]), "after": float(after[at])}
    return Fact("interventions.moved", values)


def importance(lost: Mapping[object, float], whole: float) -> list[Fact]:
    """What single heads are worth: `lost` says for each how many points of exact match go with it, of the `whole` (both 0 to 100).

    "interventions.costs_most" with {head} (as it came) and {points}; "interventions.costs_nothing" with {count} of {heads}, or
    "interventions.all_cost"; and "interventions.better_without" with {count}. "interventions.nothing_to_lose" alone, when no sentence is
    right; "interventions.none_costs" when none costs.
    """
    if whole <= 0:
        return [Fact("interventions.nothing_to_lose", {})]
    worst = max(lost, key=lambda head: lost[head])
    free, better = sum(points == 0 for points in lost.values()), sum(points < 0 for points in lost.values())
    found = [Fact("interventions.costs_most", {"head": worst, "points": points_of(lost[worst])})] if lost[worst] > 0 else []
    if lost[worst] <= 0:
        found.append(Fact("interventions.none_costs", {}))
    elif free:
        found.append(Fact("interventions.costs_nothing", {"count": free, "heads": len(lost)}))
    elif not better:
        found.append(Fact("interventions.all_cost", {}))
    return [*found, *([Fact("interventions.better_without", {"count": better})] if better else [])]


def points_of(points: float) -> str:
    """Points of 100 without digits nobody needs: 41, 0.4."""
    return f"{points:.0f}" if abs(points) >= 1 or points == 0 else f"{points:.1f}"

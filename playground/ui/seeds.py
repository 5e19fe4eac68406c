"""Runs that differ in their seed and in nothing else: which these are, and which seeds are next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from playground.config import Refusal
from playground.figures.runs import DASHES
from playground.runs.run import Run
from playground.ui.titles import disclosed

FIRST = (1, 2, 3, 4, 5)
MAX_SHOWN = len(DASHES)


def settings(run: Run) -> tuple:
    """What runs that differ only in their seed have in common, and no other."""
    flat = disclosed(run).flat() | {"seed": None}
    return (run.secret, run.parent, _events(run), *flat.items())


def alike(run: Run, others: Iterable[Run]) -> dict[int, Run]:
    """Those of `others` that began at step 0 with the settings of `run` and kept them, by seed; the first of each seed."""
    same = settings(run)[3:]
    found: dict[int, Run] = {}
    for other in others:
        if not (other.unfinished or other.status == "done") or other.secret != run.secret or settings(other)[3:] != same:
            continue
        if other.parent is None and _events(other) == ():
            found.setdefault(other.experiment.training.seed, other)
    return found


def missing(have: Mapping[int, Run]) -> list[int]:
    """Of the FIRST seeds those that no run has."""
    return [seed for seed in FIRST if seed not in have]


def unused(have: Mapping[int, Run]) -> int:
    """The least seed that no run has."""
    return next(seed for seed in range(1, len(have) + 2) if seed not in have)


def choose_overlaid(runs: Mapping[int, Run], new: Sequence[int]) -> list[Run]:
    """As many as can be laid over each other, the new ones among them, by seed."""
    first = [*new, *(seed for seed in sorted(runs) if seed not in new)]
    return [runs[seed] for seed in sorted(first[:MAX_SHOWN])]


def grouped(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs in their order, those together that differ only in their seed: one and its copy say nothing of chance."""
    found: dict[tuple, list[Run]] = {}
    seen: Counter[tuple] = Counter()
    for run in runs:
        same, seed = settings(run), run.experiment.training.seed
        found.setdefault((same, seen[same, seed]), []).append(run)
        seen[same, seed] += 1
    return list(found.values())


def _events(run: Run) -> tuple | None:
    """What was changed while it trained; None where its files can't be read."""
    try:
        return tuple(map(tuple, run.history.events))
    except Refusal:
        return None

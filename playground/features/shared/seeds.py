"""Groups runs that differ only in their seed, and chooses the next seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from playground.config import Refusal
from playground.features.shared.figures.runs import DASHES
from playground.features.shared.naming import disclosed
from playground.runs.run import Run

FIRST_SEEDS = (1, 2, 3, 4, 5)
MAX_OVERLAID = len(DASHES)


def group_key(run: Run) -> tuple:
    """Returns a key that runs share exactly if they differ only in their seed."""
    flat = disclosed(run).flat() | {"seed": None}
    return (run.secret, run.parent, _read_events(run), *flat.items())


def runs_by_seed(run: Run, candidates: Iterable[Run]) -> dict[int, Run]:
    """Returns the unchanged runs among `candidates` that began at step 0 with the settings of `run`, by seed; the first of each seed."""
    same = group_key(run)[3:]
    by_seed: dict[int, Run] = {}
    for candidate in candidates:
        if not (candidate.unfinished or candidate.status == "done") or candidate.secret != run.secret or group_key(candidate)[3:] != same:
            continue
        if candidate.parent is None and _read_events(candidate) == ():
            by_seed.setdefault(candidate.experiment.training.seed, candidate)
    return by_seed


def missing_seeds(have: Mapping[int, Run]) -> list[int]:
    """Returns the first seeds without a run."""
    return [seed for seed in FIRST_SEEDS if seed not in have]


def next_seed(have: Mapping[int, Run]) -> int:
    """Returns the lowest seed without a run."""
    return next(seed for seed in range(1, len(have) + 2) if seed not in have)


def choose_overlaid(runs: Mapping[int, Run], new: Sequence[int]) -> list[Run]:
    """Returns as many runs as can be overlaid, the new ones among them, by seed."""
    first = [*new, *(seed for seed in sorted(runs) if seed not in new)]
    return [runs[seed] for seed in sorted(first[:MAX_OVERLAID])]


def group_by_settings(runs: Sequence[Run]) -> list[list[Run]]:
    """Groups runs that differ only in their seed, in order; a run and its copy stay apart: they say nothing of chance."""
    groups: dict[tuple, list[Run]] = {}
    counts: Counter[tuple] = Counter()
    for run in runs:
        same, seed = group_key(run), run.experiment.training.seed
        groups.setdefault((same, counts[same, seed]), []).append(run)
        counts[same, seed] += 1
    return list(groups.values())


def _read_events(run: Run) -> tuple | None:
    """Returns the changes during training; None if the run's files are damaged."""
    try:
        return tuple(map(tuple, run.history.events))
    except Refusal:
        return None

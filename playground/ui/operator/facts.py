"""What there is to see: how the server is, whose runs take what, what was refused and what went wrong. Nobody by name or id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from playground.logs import pseudonym, recent
from playground.runs.health import health
from playground.runs.registry import Runs
from playground.runs.run import Run

Counts = Mapping[str, Callable[[], int]]  # further numbers by their names
MOST_OWNERS = 30


@dataclass(frozen=True)
class Owner:
    """By a pseudonym: how many runs, how many of them unfinished, bytes on the disk."""

    called: str
    runs: int
    unfinished: int
    bytes: int


@dataclass(frozen=True)
class Facts:
    """At one moment."""

    health: dict[str, Any]  # see runs/health.py
    counts: dict[str, int]
    cores: int
    by_status: Counter[str]
    at_work: list[Run]  # and those that wait or are paused
    owners: list[Owner]  # those who take most first
    kept: tuple[int, int]  # runs on the disk, and how many there may be
    kept_bytes: tuple[int, int]
    limits_hit: Counter[str]  # reason -> in the last day
    errors: list[dict[str, Any]]  # lines of the log of the last day, newest first


def facts(runs: Runs, counts: Counts) -> Facts:
    kept = runs.list_unshipped()
    sizes = {run.id: runs.store.disk_size(run) for run in kept}
    mine: dict[str, list[Run]] = {}
    for run in kept:
        mine.setdefault(run.owner, []).append(run)
    owners = [
        Owner(pseudonym(owner), len(theirs), sum(run.unfinished for run in theirs), sum(sizes[run.id] for run in theirs))
        for owner, theirs in mine.items()
    ]
    day = recent().day()
    return Facts(
        health(runs),
        {name: count() for name, count in counts.items()},
        runs.limits.cores,
        Counter(run.status for run in kept),
        sorted((run for run in kept if run.unfinished), key=lambda run: (run.status, run.created)),
        sorted(owners, key=lambda owner: (-owner.unfinished, -owner.bytes, owner.called))[:MOST_OWNERS],
        (len(kept), runs.limits.runs_kept),
        (sum(sizes.values()), runs.limits.bytes_kept),
        Counter(said["reason"] for said in day if "reason" in said and said["level"] == "info"),
        [said for said in day if said["level"] != "info"],
    )

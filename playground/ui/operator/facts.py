"""The operator's data: the server's health, resources per owner, limits hit and errors. Without names and ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from playground.logs import pseudonym, recent
from playground.runs.health import health
from playground.runs.registry import Runs
from playground.runs.run import Run

Counts = Mapping[str, Callable[[], int]]  # further numbers by name
MAX_OWNERS = 30


@dataclass(frozen=True)
class Owner:
    """An owner's pseudonym, number of runs and of unfinished ones, and bytes on the disk."""

    alias: str
    runs: int
    unfinished: int
    bytes: int


@dataclass(frozen=True)
class Facts:
    """A snapshot of the server."""

    health: dict[str, Any]  # see runs/health.py
    counts: dict[str, int]
    cores: int
    by_status: Counter[str]
    at_work: list[Run]  # running, waiting and paused
    owners: list[Owner]  # the largest consumers first
    stored_runs: tuple[int, int]  # runs on the disk, and their limit
    stored_bytes: tuple[int, int]
    limits_hit: Counter[str]  # reason -> count of the last day
    errors: list[dict[str, Any]]  # log entries of the last day, newest first


def collect_facts(runs: Runs, counts: Counts) -> Facts:
    stored = runs.list_unshipped()
    sizes = {run.id: runs.store.disk_size(run) for run in stored}
    runs_by_owner: dict[str, list[Run]] = {}
    for run in stored:
        runs_by_owner.setdefault(run.owner, []).append(run)
    owners = [
        Owner(pseudonym(owner), len(owned), sum(run.unfinished for run in owned), sum(sizes[run.id] for run in owned))
        for owner, owned in runs_by_owner.items()
    ]
    day = recent().day()
    return Facts(
        health(runs),
        {name: count() for name, count in counts.items()},
        runs.limits.cores,
        Counter(run.status for run in stored),
        sorted((run for run in stored if run.unfinished), key=lambda run: (run.status, run.created)),
        sorted(owners, key=lambda owner: (-owner.unfinished, -owner.bytes, owner.alias))[:MAX_OWNERS],
        (len(stored), runs.limits.runs_kept),
        (sum(sizes.values()), runs.limits.bytes_kept),
        Counter(entry["reason"] for entry in day if "reason" in entry and entry["level"] == "info"),
        [entry for entry in day if entry["level"] != "info"],
    )

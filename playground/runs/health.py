"""How the server is, in numbers that name nobody: for a page of the operator's, and for whoever starts it anew when it fails.

Everything is read from memory. What may hang, such as a disk, is looked at by others, and here is only said since when they wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.runs.engines.cluster import UNREACHABLE
from playground.runs.registry import Runs
from playground.words import ENGLISH, say

SILENT_S = 60.0  # seconds after which a disk that has not answered counts as one that doesn't
OK, BUSY, FAILING = "ok", "busy", "failing"


def health(runs: Runs) -> dict[str, Any]:
    """{"status", "reasons", "memory", "disk", "runs", "cluster", "workers", "processes": those beside this one that train}, sizes in bytes.

    "failing" is what a new start may mend: nobody trains or tidies up any more, or the disk does not answer. "busy": new trainings wait, or
    are refused, and those that are there go on. A cluster that can't be reached is neither: this machine trains then.
    """
    counted, disk, memory = runs.counted(), runs.store.disk, runs.memory
    failing, busy = list(_failing(runs, counted)), list(_busy(runs, counted))
    away = runs.cluster["state"] == UNREACHABLE
    error, shares = disk.last_error, memory.by_share()
    used = memory.used
    return {
        "status": FAILING if failing else BUSY if busy else OK,
        "reasons": failing + busy + (["cluster_unreachable"] if away else []),
        "memory": {"limit": memory.limit, "used": used, "free": max(0, memory.limit - used), "held": memory.held, "shares": shares},
        "disk": {
            "free": disk.free,
            "silent_seconds": round(disk.silent_seconds, 1),
            "last_error": error and {"name": error.name, "seconds_ago": round(runs.store.runtime.date() - error.at, 1)},
        },
        "runs": {name: counted[name] for name in ("training", "waiting", "kept")},
        "cluster": runs.cluster | ({"note": say(ENGLISH, "operator.reason_cluster_unreachable")} if away else {}),
        "workers": {name: counted[name] for name in ("alive", "replaced", "lost")},
        "processes": {"ready": counted["processes"], "held": memory.beside},
    }


def _failing(runs: Runs, counted: dict[str, int]) -> Iterator[str]:
    if not counted["alive"]:
        yield "no_workers"
    if not counted["watchdog"]:
        yield "no_watchdog"
    if not counted["housekeeper"]:
        yield "no_housekeeper"
    if runs.store.disk.silent_seconds > SILENT_S:
        yield "disk_silent"


def _busy(runs: Runs, counted: dict[str, int]) -> Iterator[str]:
    if counted["waiting"]:
        yield "memory_full"
    if counted["unfinished"] >= runs.limits.runs_unfinished:
        yield "places_taken"
    if counted["full"]:
        yield "kept_full"
    if runs.store.disk.refuses:
        yield "disk_refuses"

"""Server health in anonymous numbers: for the operator's metrics, and for a supervisor that restarts a failing server.

Read from memory only. Calls that may hang, such as the disk's, run elsewhere; here only their waiting time is reported.
"""

from __future__ import annotations

from typing import Any

from playground.runs.engines.remote import UNREACHABLE
from playground.runs.registry import Runs
from playground.words import ENGLISH, say

SILENT_S = 60.0  # seconds without an answer after which the disk counts as silent
OK, BUSY, FAILING = "ok", "busy", "failing"


def health(runs: Runs) -> dict[str, Any]:
    """Returns {"status", "reasons", "memory", "disk", "runs", "cluster", "workers", "processes": those besides this one}, sizes in bytes.

    "failing": a restart may help: no thread trains or tidies up, or the disk is silent. "busy": new trainings wait or are refused; others
    go on. An unreachable cluster is neither: this machine trains instead.
    """
    counted, disk, memory = runs.count(), runs.store.disk, runs.memory
    failing = _true_names(
        no_workers=not counted["alive"], no_watchdog=not counted["watchdog"], no_housekeeper=not counted["housekeeper"],
        disk_silent=disk.silent_seconds > SILENT_S,
    )  # fmt: skip
    busy = _true_names(
        memory_full=counted["waiting"], places_taken=counted["unfinished"] >= runs.limits.runs_unfinished, kept_full=counted["full"],
        disk_refuses=disk.refuses,
    )  # fmt: skip
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
        "processes": {"ready": counted["processes"], "held": memory.held_elsewhere},
    }


def _true_names(**conditions: object) -> list[str]:
    """Returns the names of the conditions that hold."""
    return [name for name, holds in conditions.items() if holds]

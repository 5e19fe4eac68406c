"""Hostile calls: valid ones, as a page sends them, changed in ways that no page would. Read in this order:

people (who is there, and what is theirs) · valid (a valid call of each kind) · mutations (how one is changed) · attack (sending them) ·
crowding (one visitor takes what all others need).
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import time
from collections import Counter
from typing import Any

from benchmarks.hostile import crowding
from benchmarks.hostile.attack import FAULTS, Attack, Finding
from benchmarks.hostile.people import People
from benchmarks.hostile.valid import valid_calls
from benchmarks.server import Server
from benchmarks.suite import note
from benchmarks.tables import markdown, percentile

ABOUT = "mutated calls over all routes, listeners and actions: what is answered, what breaks, and what an honest visitor waits meanwhile"
SMOKE = {"calls": 60, "at_once": 4, "megabytes": 0}
PARTS = 5  # between which it is seen what the server holds
# High enough that no call is turned away for being one of many; and nothing that a call begins trains for long.
LIMITS = {
    "PLAYGROUND_REQUESTS_EACH": "1000000", "PLAYGROUND_REQUESTS_ADDRESS": "10000000", "PLAYGROUND_UPLOADS_ADDRESS": "1000000",
    "PLAYGROUND_CALLS_ADDRESS": "100000", "PLAYGROUND_STREAMS_ADDRESS": "100000", "PLAYGROUND_STREAMS_EACH": "100000",
    "PLAYGROUND_RUNS_EACH": "2", "PLAYGROUND_RUNS_UNFINISHED": "12", "PLAYGROUND_IDLE_MINUTES": "0.5", "HF_HUB_OFFLINE": "1",
}  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--calls", type=int, default=3000, help="so many of them")
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which no further one is sent")
    parser.add_argument("--at-once", type=int, default=16, help="that are under way at a time")
    parser.add_argument("--megabytes", type=int, default=1024, help="of each attack by one visitor; 0 for none")
    parser.add_argument("--seed", type=int, default=0, help="the same seed makes the same calls")


def run(options: argparse.Namespace) -> dict[str, Any]:
    """{"statuses": {status: count}, "faults": [...], "kinds": {kind: {status: count}}, "honest_ms": {...}, "bytes": {...},
    "crowding": rows of crowding.table}."""
    crowded = crowding.run(options.megabytes) if options.megabytes else []
    before = {name: os.environ.get(name) for name in LIMITS}
    os.environ.update(LIMITS)
    try:
        with Server() as server:
            people = People.come(server.port)
            attack = Attack(server.port, valid_calls(people), people, options.seed)
            held, quiet, findings = {"before": server.held()["bytes"]}, attack.honest(20), []
            until = time.monotonic() + 60 * options.minutes
            for part in itertools.pairwise(round(options.calls * part / PARTS) for part in range(PARTS + 1)):
                findings += attack.run(range(*part), options.at_once, until - time.monotonic())
                held[f"after {len(findings):,}"] = server.held()["bytes"]
            return report(findings, attack, quiet) | {"bytes": held, "crowding": crowded}
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def report(findings: list[Finding], attack: Attack, quiet: list[float]) -> dict[str, Any]:
    kinds: dict[str, Counter] = {}
    for found in findings:
        kinds.setdefault(found.kind, Counter())[str(found.status)] += 1
    for fault in (bad := [found for found in findings if found.fault])[:20]:
        note(f"{fault.fault}: number {fault.number}: {fault.said}")
    waits = {"before": quiet, "during": attack.waits, "after": attack.honest(20)}
    return {
        "calls": len(findings),
        "statuses": dict(sorted(Counter(str(found.status) for found in findings).items())),
        "faults": {fault: sum(found.fault == fault for found in bad) for fault in FAULTS},
        "kinds": {kind: dict(sorted(found.items())) for kind, found in sorted(kinds.items())},
        "longest": max((found.seconds for found in findings), default=0.0),
        "honest_ms": {name: round(1000 * percentile(found, 0.95)) for name, found in waits.items() if found},
    }


def table(result: dict[str, Any]) -> str:
    statuses = [*result["statuses"]]
    rows = [[kind, *(found.get(status, 0) for status in statuses)] for kind, found in result["kinds"].items()]
    rows.append(["all", *result["statuses"].values()])
    honest = ", ".join(f"{name} {ms} ms" for name, ms in result["honest_ms"].items())
    held = ", ".join(f"{name} {number / 2**20:.0f} MB" for name, number in result.get("bytes", {}).items() if number)
    said = [f"{count} {fault}" for fault, count in result["faults"].items()]
    about = f"faults: {', '.join(said)}\n\nhonest visitor, p95: {honest}\n\nlongest answer: {result['longest']:.1f} s\n\nmemory: {held}"
    return f"{markdown(['call', *statuses], rows)}\n\n{about}\n\n{crowding.table(result.get('crowding', []))}"

"""The operator's routes: metrics for Prometheus, and a list of the unfinished runs, which it can stop; and the health endpoint, for what
starts and monitors the server, such as a supervisor that restarts a failing one. No label or answer has an id, and /health no name and
nothing private.

The operator sends the token of PLAYGROUND_OPERATOR in a request's Authorization header. It is compared in constant time and stored as a
digest; it is in no address, cookie or log. docs/grafana.json draws the metrics.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs

import orjson
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from playground import __version__
from playground.config import Refusal
from playground.logs import event, pseudonym, recent
from playground.runs.engines.choice import UNREACHABLE
from playground.runs.limits import RateLimit
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui.assets import PREFIX
from playground.ui.network import address_of
from playground.ui.rights import PUBLIC, GuardedRoute, respond_not_found
from playground.words import ENGLISH, say

log = logging.getLogger(__name__)
PATH = f"{PREFIX}/operator"
METRICS = ("/metrics", f"{PREFIX}/metrics")  # a Space forwards only addresses that begin as Gradio's do
PRIVATE = {"Cache-Control": "no-store"}
MAX_WRONG, WRONG_SECONDS = 10, 600.0  # wrong tokens per address
SILENT_S = 60.0  # seconds without an answer after which the disk counts as silent
OK, BUSY, FAILING = "ok", "busy", "failing"
MIN_TOKEN = 16  # characters of a token that can't be guessed
Counts = Mapping[str, Callable[[], int]]  # further numbers by name

# The help line of each metric family.
ABOUT = {
    "up": "server_status", "runs": "server_by_status", "cores": "server_cores", "workers": "server_workers",
    "workers_replaced": "server_workers", "memory_bytes": "memory",
    "memory_limit_bytes": "server_memory_limit", "memory_used_bytes": "server_memory", "held_bytes": "server_held",
    "processes": "server_processes", "waiting": "server_waiting", "disk_free_bytes": "server_disk_free",
    "kept_bytes": "server_kept_bytes", "kept_limit_bytes": "server_kept_limit", "sessions": "server_sessions",
    "streams": "server_streams", "readers_lost": "server_readers_lost", "events": "log",
}  # fmt: skip


class Entry:
    """Authentication of the operator. Not thread-safe: for the event loop only."""

    def __init__(self, token: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._digest, self._wrong = _digest(token), RateLimit(MAX_WRONG, WRONG_SECONDS, clock)

    @classmethod
    def from_environment(cls) -> Entry | None:
        """Returns None without a token, and logs one that is too short."""
        token = os.environ.get("PLAYGROUND_OPERATOR", "")
        if 0 < len(token) < MIN_TOKEN:
            event(log, "operator_token_too_short", logging.WARNING, least=MIN_TOKEN)
        return cls(token) if len(token) >= MIN_TOKEN else None

    def admits(self, request: Request) -> bool:
        """Whether this request is the operator's. The right token passes after any number of wrong ones from its address."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return False
        if hmac.compare_digest(_digest(token), self._digest):
            return True
        if not self._wrong.take(address := address_of(request)):  # too many wrong ones are not logged
            event(log, "operator_turned_away", logging.WARNING, address=pseudonym(address))
        return False


class RunsCollector:
    """A collector that reads the numbers at each scrape, by Prometheus's conventions: units in the names, counters that end in _total."""

    def __init__(self, runs: Runs, counts: Counts) -> None:
        self._runs, self._counts = runs, counts

    def collect(self) -> Iterable[Metric]:
        state, stored = health(self._runs), self._runs.list_unshipped()
        yield _make_gauge("runs", "status", Counter(run.status for run in stored))
        yield _make_gauge("memory_bytes", "share", state["memory"]["shares"])
        workers = dict(state["workers"])
        yield CounterMetricFamily("playground_workers_replaced", _help_text("workers_replaced"), value=workers.pop("replaced"))
        yield _make_gauge("workers", "state", workers)
        numbers = {
            "up": state["status"] != FAILING,
            "cores": self._runs.limits.cores,
            "memory_limit_bytes": state["memory"]["limit"],
            "memory_used_bytes": state["memory"]["used"],
            "held_bytes": state["memory"]["held"],
            "processes": state["processes"]["ready"],
            "waiting": state["runs"]["waiting"],
            "disk_free_bytes": state["disk"]["free"],
            "kept_bytes": sum(self._runs.store.disk_size(run) for run in stored),
            "kept_limit_bytes": self._runs.limits.bytes_kept,
            **{name: count() for name, count in self._counts.items()},
        }
        yield from (_make_gauge(name, "", {"": value}) for name, value in numbers.items())
        events = CounterMetricFamily("playground_events", _help_text("events"), labels=("event", "reason"))
        for labels, count in sorted(recent().counts.items()):
            events.add_metric(labels, count)
        yield events


def routes(runs: Runs, counts: Counts) -> list[GuardedRoute]:
    """Returns the operator's route with a token, and the metrics' with PLAYGROUND_METRICS or a token: their handlers check it, so
    the gate lets all in."""
    entry, is_open = Entry.from_environment(), os.environ.get("PLAYGROUND_METRICS", "") not in ("", "0")
    recent()  # starts counting

    async def act(request: Request) -> Response:
        """Stops the run of the form's `stop`, if any, and lists the unfinished runs."""
        if not entry.admits(request):
            return respond_not_found(request)
        aliases = parse_qs((await request.body()).decode("utf-8", "replace")).get("stop", ())
        stopped = [run for run in runs.list_unshipped() if run.unfinished and pseudonym(run.id) in aliases]
        for run in stopped:
            with suppress(Refusal):  # it has just ended
                await run_in_threadpool(runs.stop_for_operator, run.id)
        unfinished = [_describe_run(run) for run in runs.list_unshipped() if run.unfinished]
        return JSONResponse({"stopped": [pseudonym(run.id) for run in stopped], "unfinished": unfinished}, 200, PRIVATE)

    async def measure(request: Request) -> Response:
        if not (is_open or (entry and entry.admits(request))):
            return respond_not_found(request)
        return Response(await run_in_threadpool(export_metrics, runs, counts), 200, PRIVATE, CONTENT_TYPE_PLAIN_0_0_4)

    operator_routes = [GuardedRoute(PATH, act, PUBLIC, "POST")] if entry else []
    return operator_routes + ([GuardedRoute(path, measure, PUBLIC) for path in METRICS] if entry or is_open else [])


def export_metrics(runs: Runs, counts: Counts) -> bytes:
    """Returns the metrics in Prometheus's text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(RunsCollector(runs, counts))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


def _make_gauge(name: str, label: str, values: Mapping[str, float | None]) -> Metric:
    family = GaugeMetricFamily(f"playground_{name}", _help_text(name), labels=[label] if label else [])
    for value, number in values.items():
        if number is not None:
            family.add_metric([value] if label else [], float(number))
    return family


def _help_text(name: str) -> str:
    return say(ENGLISH, f"operator.{ABOUT[name]}")


def _describe_run(run: Run) -> dict[str, object]:
    numbers = {"status": run.status, "step": run.step, "steps": run.steps, "unseen_seconds": round(run.unseen_seconds)}
    return {"run": pseudonym(run.id), "owner": pseudonym(run.owner), "name": run.name, **numbers}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


HEALTH = ("/health", f"{PREFIX}/health")  # a Space forwards only addresses that begin as Gradio's do


def health_routes(runs: Runs, counts: Mapping[str, Callable[[], int]]) -> list[GuardedRoute]:
    """Returns the routes. `counts` adds numbers by name. The response never blocks: no thread, no disk, no lock held for long."""
    began = time.monotonic()

    async def respond(request: Request) -> Response:
        health_report = health(runs)
        report = {
            "status": health_report["status"],
            "version": __version__,
            "uptime_seconds": round(time.monotonic() - began),
            **{name: count() for name, count in counts.items()},
            **health_report,
        }
        code = 503 if health_report["status"] == FAILING else 200
        return Response(orjson.dumps(report), code, {"Cache-Control": "no-store"}, "application/json")

    return [GuardedRoute(path, respond, PUBLIC, cost=0) for path in HEALTH]


def health(runs: Runs) -> dict[str, Any]:
    """Returns {"status", "reasons", "memory", "disk", "runs", "cluster", "workers", "processes": those besides this one}, sizes in bytes.

    "failing": a restart may help: no thread trains or tidies up, or the disk is silent. "busy": new trainings wait or are refused; others
    go on. An unreachable cluster is neither: this machine trains instead.
    """
    counted, disk, memory = runs.count(), runs.store.disk, runs.memory
    failing = {
        "no_workers": not counted["alive"], "no_watchdog": not counted["watchdog"], "no_housekeeper": not counted["housekeeper"],
        "disk_silent": disk.silent_seconds > SILENT_S,
    }  # fmt: skip
    busy = {
        "memory_full": counted["waiting"], "places_taken": counted["unfinished"] >= runs.limits.runs_unfinished,
        "kept_full": counted["full"], "disk_refuses": disk.refuses,
    }  # fmt: skip
    away = runs.cluster["state"] == UNREACHABLE
    error, shares = disk.last_error, memory.by_share()
    used = memory.used
    return {
        "status": FAILING if any(failing.values()) else BUSY if any(busy.values()) else OK,
        "reasons": [name for name, holds in (failing | busy | {"cluster_unreachable": away}).items() if holds],
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

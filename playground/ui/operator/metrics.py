"""The same numbers for Prometheus, by its conventions: units in the names, counters that end in _total, and no label that identifies a
user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from playground.logs import recent
from playground.runs.health import FAILING
from playground.runs.registry import Runs
from playground.ui.operator.facts import Counts, Facts, collect_facts
from playground.words import ENGLISH, say

# The help line of each metric family: its name on the operator's page.
ABOUT = {
    "up": "server_status", "runs": "server_by_status", "cores": "server_cores", "workers": "server_workers",
    "workers_replaced": "server_workers", "memory_bytes": "memory",
    "memory_limit_bytes": "server_memory_limit", "memory_used_bytes": "server_memory", "held_bytes": "server_held",
    "processes": "server_processes", "waiting": "server_waiting", "disk_free_bytes": "server_disk_free",
    "kept_bytes": "server_kept_bytes", "kept_limit_bytes": "server_kept_limit", "sessions": "server_sessions",
    "streams": "server_streams", "readers_lost": "server_readers_lost", "events": "log",
}  # fmt: skip


class RunsCollector:
    """A collector that reads the numbers at each scrape."""

    def __init__(self, runs: Runs, counts: Counts) -> None:
        self._runs, self._counts = runs, counts

    def collect(self) -> Iterable[Metric]:
        snapshot = collect_facts(self._runs, self._counts)
        yield _make_gauge("runs", "status", snapshot.by_status)
        yield _make_gauge("memory_bytes", "share", snapshot.health["memory"]["shares"])
        workers = dict(snapshot.health["workers"])
        yield CounterMetricFamily("playground_workers_replaced", _help_text("workers_replaced"), value=workers.pop("replaced"))
        yield _make_gauge("workers", "state", workers)
        yield from (_make_gauge(name, "", {"": value}) for name, value in _single_values(snapshot))
        events = CounterMetricFamily("playground_events", _help_text("events"), labels=("event", "reason"))
        for (event, reason), count in sorted(recent().counts.items()):
            events.add_metric((event, reason), count)
        yield events


def export_metrics(runs: Runs, counts: Counts) -> bytes:
    """Returns the metrics in Prometheus's text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(RunsCollector(runs, counts))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


def _single_values(snapshot: Facts) -> Iterable[tuple[str, float | None]]:
    memory = snapshot.health["memory"]
    yield "up", snapshot.health["status"] != FAILING
    yield "cores", snapshot.cores
    yield "memory_limit_bytes", memory["limit"]
    yield "memory_used_bytes", memory["used"]
    yield "held_bytes", memory["held"]
    yield "processes", snapshot.health["processes"]["ready"]
    yield "waiting", snapshot.health["runs"]["waiting"]
    yield "disk_free_bytes", snapshot.health["disk"]["free"]
    yield "kept_bytes", snapshot.stored_bytes[0]
    yield "kept_limit_bytes", snapshot.stored_bytes[1]
    yield from snapshot.counts.items()


def _make_gauge(name: str, label: str, values: Mapping[str, float | None]) -> Metric:
    family = GaugeMetricFamily(f"playground_{name}", _help_text(name), labels=[label] if label else [])
    for value, number in values.items():
        if number is not None:
            family.add_metric([value] if label else [], float(number))
    return family


def _help_text(name: str) -> str:
    return say(ENGLISH, f"operator.{ABOUT[name]}")

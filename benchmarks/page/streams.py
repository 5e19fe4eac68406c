"""What it costs the server, and the training, when so many visitors watch one run that trains."""

from __future__ import annotations

import argparse
import threading
import time

import orjson

from benchmarks.crowd import Streams
from benchmarks.server import ROUTES, Client, Server, endless
from benchmarks.suite import note
from benchmarks.tables import markdown, milliseconds, percent, shown, summary, whole
from playground.runs.limits import machine_cores
from playground.runs.run import WATCHED_SECONDS

QUIET = WATCHED_SECONDS + 0.5
SETTLE = 0.1  # of a window, before it counts
ASKED = "training"  # the panel that a page with the first tab open asks for with its sentence, whenever there is a newer picture


def run(options: argparse.Namespace, server: Server) -> dict:
    """{"rows": [{"streams", "updates", "panels", "serving", "clients", "bytes", "steps", "lost", "lost_of_left"}]}, all but the first
    summaries over the rounds.

    A visitor has a stream open, and asks for the first tab when it tells of a newer picture, at most as often as the server says. updates,
    panels and steps are per second; serving is processor seconds of the threads that answer, in a second (None where the system doesn't
    tell), and clients those of the visitors, which are on the same machine and no fault of the server's; bytes are those of an update (None
    for no stream); lost is the share of training time that has gone against no visitor (where nobody watches, so that no live pictures are
    made either), lost_of_left the same for each core that the clients have left.
    """
    rounds = [_round(server, options) for _ in range(options.repeats)]
    rows = []
    for at, count in enumerate(_counts(options)):
        found = [one[at] for one in rounds]
        rows.append({"streams": count} | {name: summary(row[name] for row in found if row[name] is not None) for name in found[0]})
    return {"rows": rows}


def table(result: dict) -> str:
    head = (
        *("visitors", "updates/s", "panels/s", "serving, ms in a second", "the clients, ms in a second", "bytes of an update"),
        *("training steps/s", "training time lost", "lost, for a core that the clients left"),
    )
    one = "{:.1f}".format
    forms = {
        **{"updates": one, "panels": one, "serving": milliseconds, "clients": milliseconds, "bytes": whole, "steps": one},
        **{"lost": percent, "lost_of_left": percent},
    }
    rows = [(str(row["streams"]), *(shown(row[name], form) for name, form in forms.items())) for row in result["rows"]]
    return markdown(head, rows)


def _counts(options: argparse.Namespace) -> list[int]:
    """How many streams at once, none first."""
    return sorted({0, *options.streams})


def _round(server: Server, options: argparse.Namespace) -> list[dict[str, float | None]]:
    """One run from its beginning, watched by each number of visitors for a while."""
    with endless(server, dict(options.set)) as run:
        time.sleep(options.quiet)
        watched = [_watch(server, run, count, options.window) for count in _counts(options)]
    alone, found = watched[0], []
    for one in watched:
        size = one["bytes"] / one["updates"] if one["updates"] else None
        found.append(one | {"bytes": size, "lost": 1 - one["steps"] / alone["steps"], "lost_of_left": 1 - _of_left(one) / _of_left(alone)})
    note("; ".join(f"{count} visitors {one['steps']:.1f} steps/s" for count, one in zip(_counts(options), watched, strict=True)))
    return found


def _of_left(watched: dict[str, float | None]) -> float:
    """Steps per second for each core that the clients have left to the server."""
    return watched["steps"] / max(machine_cores() - watched["clients"], 1e-9)


def _watch(server: Server, run: str, count: int, window: float) -> dict[str, float | None]:
    """Everything per second of the window: steps, updates, bytes, and processor seconds of the serving threads and of this process."""
    with Streams(server.port, [run] * count) as viewers, Askers(server.port, run, count, viewers) as askers:
        time.sleep(SETTLE * window)
        before, used = server.ask("progress", run=run), server.ask("processor")
        updates, size, panels, own = viewers.updates, viewers.bytes, askers.answers, time.process_time()
        time.sleep(window)
        after, use = server.ask("progress", run=run), server.ask("processor")
        more, bigger, answers, own = viewers.updates, viewers.bytes, askers.answers - panels, time.process_time() - own
    took = after["time"] - before["time"]
    return {
        "steps": (after["step"] - before["step"]) / took,
        "updates": (more - updates) / took,
        "panels": answers / took,
        "clients": own / took,
        "bytes": (bigger - size) / took,
        "serving": None if use["serving"] is None else (use["serving"] - used["serving"]) / took,
    }


class Askers:
    """What so many pages ask for beside their streams: each its panel, with a sentence of its own, when there is a picture that it doesn't
    have, at most as often as the server tells it."""

    def __init__(self, port: int, run: str, count: int, viewers: Streams) -> None:
        self._port, self._run, self._count, self._viewers = port, run, count, viewers
        self.answers = 0
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> Askers:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._leaving.set()
        self._thread.join()

    def _ask(self) -> None:
        client, visitor, pause, seen = Client(self._port), 0, 1.0, [0] * self._count
        try:
            while self._count and not self._leaving.wait(pause / self._count):
                visitor = (visitor + 1) % self._count
                if seen[visitor] == self._viewers.picture:
                    continue
                seen[visitor], text = self._viewers.picture, " ".join("abcdef"[: 2 + visitor % 5])
                body, _ = client.get(f"{ROUTES}/panel/{ASKED}", f"visitor {visitor}", run=self._run, text=text, beside="sentence")
                pause = orjson.loads(body)["refresh_ms"] / 1000
                self.answers += 1
        finally:
            client.close()

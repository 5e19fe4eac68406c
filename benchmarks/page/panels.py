"""How long the server takes for each panel, idle and while a run trains."""

from __future__ import annotations

import argparse
import itertools
import statistics
import time

import orjson

from benchmarks.server import ROUTES, Client, Server, endless
from benchmarks.tables import markdown, milliseconds, percentile, whole
from playground.features.registry import TABS
from playground.tasks.toy_tasks import examples

NAMES = ("sentence", *TABS)  # what a click waits for; parts of a tab that come later say so on the page


def run(options: argparse.Namespace, server: Server) -> dict:
    """Seconds from asking for a panel to its last byte, each time with a sentence that the server has not seen.

    {"rows": [{"panel", "bytes", "idle": {"median", "p95"}, "training": {...}}]}
    """
    knobs = dict(options.set)
    ended = server.ask("train", knobs=knobs, target=2.0)["run"]
    idle = _ask_all(server.port, ended, options)
    with endless(server, knobs) as training:
        busy = _ask_all(server.port, training, options)
    rows = []
    for name in NAMES:
        times = {"idle": idle[name][0], "training": busy[name][0]}
        found = {mode: {"median": statistics.median(all), "p95": percentile(all, 0.95)} for mode, all in times.items()}
        rows.append({"panel": name, "bytes": statistics.median(busy[name][1])} | found)
    return {"rows": rows}


def table(result: dict) -> str:
    head = ("panel", "idle: median ms", "p95", "while a run trains: median ms", "p95", "bytes")
    rows = [
        (row["panel"], *(milliseconds(row[mode][at]) for mode in ("idle", "training") for at in ("median", "p95")), whole(row["bytes"]))
        for row in result["rows"]
    ]
    return markdown(head, rows)


def _ask_all(port: int, run: str, options: argparse.Namespace) -> dict[str, tuple[list[float], list[int]]]:
    """Every panel in turn, so that what happens beside the benchmark hits all of them: name -> (seconds, bytes) of each answer."""
    sentences = examples("reverse", "heldout", options.requests * len(NAMES) + len(NAMES), 999_998)
    texts, client = itertools.cycle(sentence.src for sentence in sentences), Client(port)
    found: dict[str, tuple[list[float], list[int]]] = {name: ([], []) for name in NAMES}
    try:
        for number in range(options.requests + 1):
            for name, (times, sizes) in found.items():
                body, took = client.get(f"{ROUTES}/panel/{name}", run=run, text=next(texts))
                orjson.loads(body)
                if number:  # the first of each is warm-up
                    times.append(took)
                    sizes.append(len(body))
                time.sleep(options.pause)
    finally:
        client.close()
    return found

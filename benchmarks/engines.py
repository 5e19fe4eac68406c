"""Where runs are trained: in the page's process, in processes beside it, or on a Ray cluster that is this machine alone (what it costs, not
what it brings), while somebody looks at them all the time."""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks.pace import cacheable
from benchmarks.suite import Missing, note
from benchmarks.tables import markdown, milliseconds, percentile, ratio, shown, summary
from playground.config import Experiment
from playground.features.shared.queries.reader import Reader
from playground.runs.limits import Limits, machine_cores
from playground.runs.registry import Runs
from playground.runs.run import Run

ABOUT = "runs trained in the page's process, in processes beside it and on Ray, in turns: steps/s of all, and milliseconds of a look at one"
ENGINES = ("here", "processes", *(["ray"] if find_spec("ray") else []))
SMOKE = {
    "runs": 2, "rounds": 1, "window": 0.3,
    "set": [("d_model", 8), ("d_ff", 8), ("n_heads", 2), ("train_size", 100), ("validation_size", 10), ("encoder_layers", 1)],
}  # fmt: skip
ROOT = Path(__file__).parents[1]
READY_S = 120.0  # the longest until the processes are there
LETTERS = "abcdefghijklmnop"


class Round(NamedTuple):
    """What was counted in one window."""

    rate: float  # steps/s of all runs
    looks: list[float]  # seconds of each
    page: float  # seconds of its processor in one second


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=4, help="at once, each of another visitor")
    parser.add_argument("--rounds", type=int, default=5, help="times that both engines are counted, one after the other")
    parser.add_argument("--window", type=float, default=4.0, help="seconds that each is counted for")
    parser.add_argument("--nodes", type=int, default=2, help="of the Ray cluster, where Ray is installed; they share this machine's cores")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between two looks at a run")


def run(options: argparse.Namespace) -> dict:
    """{"rows": [{"engine", "rate": steps/s of all runs, a summary over the rounds, "look": summary of seconds, "p95", "page": seconds of
    the page's processor in one second, a summary, "ratio": of the rate to the first engine's in the same round, a summary}]}."""
    found: dict[str, list[Round]] = {engine: [] for engine in ENGINES}
    with _ray(options.nodes) as address:
        for number in range(options.rounds):
            for engine in ENGINES:
                found[engine].append(_round(engine, address, options))
                note(f"{number + 1} {engine:<10} {found[engine][-1].rate:.1f} steps/s")
    rows = []
    for engine, rounds in found.items():
        looks = [look for one in rounds for look in one.looks]
        ratio = summary(one.rate / here.rate for one, here in zip(rounds, found[ENGINES[0]], strict=True))
        row = {"engine": engine, "rate": summary(one.rate for one in rounds), "look": summary(looks), "p95": percentile(looks, 0.95)}
        rows.append(row | {"page": summary(one.page for one in rounds), "ratio": ratio})
    return {"rows": rows}


@contextmanager
def _ray(nodes: int) -> Iterator[str]:
    """The address of a cluster of so many nodes, which share the cores of this machine; "" where there is no Ray."""
    if "ray" not in ENGINES:
        yield ""
        return
    from ray.cluster_utils import Cluster

    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        for _ in range(nodes):
            cluster.add_node(num_cpus=max(1, machine_cores() // nodes))
        yield cluster.address
    finally:
        cluster.shutdown()


def _round(engine: str, address: str, options: argparse.Namespace) -> Round:
    limits = replace(Limits.from_environment(), engine="here" if engine == "ray" else engine, cluster=address if engine == "ray" else "")
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(Path(folder), None, limits)
        reader = Reader(runs)
        try:
            if engine == "processes":
                _wait(lambda: runs.count()["processes"] >= limits.cores)
            elif engine == "ray":
                _wait(lambda: runs.cluster["processes"] >= options.nodes * max(1, machine_cores() // options.nodes))
            experiment = cacheable(Experiment().with_(**dict(options.set)))
            made = [runs.create(experiment.with_(seed=number + 1), f"visitor {number}") for number in range(options.runs)]
            while any(one.step < 2 for one in made):
                time.sleep(options.pause)
            return _window(made, reader, options)
        finally:
            reader.close()
            runs.close()


def _wait(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + READY_S
    while not condition():
        if time.monotonic() > until:
            raise Missing("no processes could be started")
        time.sleep(0.1)


def _window(made: list[Run], reader: Reader, options: argparse.Namespace) -> Round:
    drawn, looks = random.Random(0), []
    before, started, worked = sum(one.step for one in made), time.perf_counter(), time.process_time()
    while time.perf_counter() - started < options.window:
        one = drawn.choice(made)
        one.mark_seen()
        began = time.perf_counter()
        reader.look(one, None, " ".join(drawn.sample(LETTERS, 6)))
        looks.append(time.perf_counter() - began)
        time.sleep(options.pause)
    seconds = time.perf_counter() - started
    return Round((sum(one.step for one in made) - before) / seconds, looks, (time.process_time() - worked) / seconds)


def table(result: dict) -> str:
    rows = [
        (
            *(row["engine"], shown(row["rate"], ratio), shown(row["ratio"], ratio), shown(row["look"], milliseconds)),
            *(milliseconds(row["p95"]), shown(row["page"], ratio)),
        )
        for row in result["rows"]
    ]
    return markdown(("engine", "steps/s", "to the first", "ms a look", "p95", "page's cores"), rows)

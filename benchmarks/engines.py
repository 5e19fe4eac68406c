"""Where runs are trained: in the page's process, or in processes beside it, while somebody looks at them all the time."""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.pace import cacheable
from benchmarks.suite import Missing, note
from benchmarks.tables import markdown, milliseconds, percentile, ratio, shown, summary
from playground.config import Experiment
from playground.queries.reader import Reader
from playground.runs.limits import Limits
from playground.runs.registry import Runs
from playground.runs.run import Run

ABOUT = "runs trained in the page's process and in processes beside it, in turns: steps/s of all, and milliseconds of a look at one"
ENGINES = ("here", "processes")
SMOKE = {
    "runs": 2, "rounds": 1, "window": 0.3,
    "set": [("d_model", 8), ("d_ff", 8), ("n_heads", 2), ("train_size", 100), ("validation_size", 10), ("encoder_layers", 1)],
}  # fmt: skip
READY_S = 120.0  # the longest until the processes are there
LETTERS = "abcdefghijklmnop"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=4, help="at once, each of another visitor")
    parser.add_argument("--rounds", type=int, default=5, help="times that both engines are counted, one after the other")
    parser.add_argument("--window", type=float, default=4.0, help="seconds that each is counted for")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between two looks at a run")


def run(options: argparse.Namespace) -> dict:
    """{"rows": [{"engine", "rate": steps/s of all runs, a summary over the rounds, "look": summary of seconds, "p95"}], "ratio": of the
    rates, that of the processes to the other's, a summary over the rounds}."""
    found: dict[str, list[tuple[float, list[float]]]] = {engine: [] for engine in ENGINES}
    for number in range(options.rounds):
        for engine in ENGINES:
            found[engine].append(_round(engine, options))
            note(f"{number + 1} {engine:<10} {found[engine][-1][0]:.1f} steps/s")
    rows = []
    for engine, rounds in found.items():
        looks = [look for _, looks in rounds for look in looks]
        rows.append({"engine": engine, "rate": summary(rate for rate, _ in rounds), "look": summary(looks), "p95": percentile(looks, 0.95)})
    rates = [[rate for rate, _ in found[engine]] for engine in ENGINES]
    return {"rows": rows, "ratio": summary(beside / here for here, beside in zip(*rates, strict=True))}


def _round(engine: str, options: argparse.Namespace) -> tuple[float, list[float]]:
    """(steps/s of all runs, seconds of each look)."""
    limits = replace(Limits.from_environment(), engine=engine)
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(Path(folder), None, limits)
        reader = Reader(runs)
        try:
            if engine == "processes":
                _wait_for_processes(runs, limits)
            experiment = cacheable(Experiment().with_(**dict(options.set)))
            made = [runs.create(experiment.with_(seed=number + 1), f"visitor {number}") for number in range(options.runs)]
            while any(one.step < 2 for one in made):
                time.sleep(options.pause)
            return _window(made, reader, options)
        finally:
            reader.close()
            runs.close()


def _wait_for_processes(runs: Runs, limits: Limits) -> None:
    until = time.monotonic() + READY_S
    while runs.counted()["processes"] < limits.cores:
        if time.monotonic() > until:
            raise Missing("no process could be started beside this one")
        time.sleep(0.1)


def _window(made: list[Run], reader: Reader, options: argparse.Namespace) -> tuple[float, list[float]]:
    drawn, looks = random.Random(0), []
    before, started = sum(one.step for one in made), time.perf_counter()
    while time.perf_counter() - started < options.window:
        one = drawn.choice(made)
        one.seen()
        began = time.perf_counter()
        reader.look(one, None, " ".join(drawn.sample(LETTERS, 6)))
        looks.append(time.perf_counter() - began)
        time.sleep(options.pause)
    return (sum(one.step for one in made) - before) / (time.perf_counter() - started), looks


def table(result: dict) -> str:
    rows = [
        (row["engine"], shown(row["rate"], ratio), shown(row["look"], milliseconds), milliseconds(row["p95"])) for row in result["rows"]
    ]
    return markdown(("engine", "steps/s", "ms a look", "p95"), rows) + f"\n\nprocesses to here: {shown(result['ratio'], ratio)}"

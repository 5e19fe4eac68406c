"""Several runs started at once: how long each takes until its model is right."""

from __future__ import annotations

import argparse
import statistics

from benchmarks.server import Server
from benchmarks.suite import note
from benchmarks.tables import markdown, percent, ratio, seconds, shown, summary
from playground.config import preset

PRESET = "default"
WARM_STEPS = 40


def run(options: argparse.Namespace, server: Server) -> dict:
    """{"together", "preset", "target", "alone", "mean", "median", "last", "ratio"}: summaries of seconds over the repeats, each with
    seeds and data of its own: one run alone, the mean, median and last of all, and that mean against the one alone. None where the target
    wasn't reached.
    """
    base = preset(PRESET).with_(**dict(options.set))
    server.ask("together", knobs=[base.with_(steps=min(WARM_STEPS, base.training.steps), data_seed=1).difference()], target=2.0)
    found: dict[str, list[float | None]] = {"alone": [], "mean": [], "median": [], "last": [], "ratio": []}
    for number in range(options.repeats):
        knobs = [
            base.with_(**_seeds(options.first_seed + number, place, options.together)).difference() for place in range(options.together)
        ]
        (alone,) = server.ask("together", knobs=knobs[:1], target=options.target)
        times = server.ask("together", knobs=knobs, target=options.target)
        mean = None if None in times else statistics.fmean(times)
        note(f"alone {alone} s, together {times}")
        found["alone"].append(alone)
        found["mean"].append(mean)
        found["median"].append(mean and statistics.median(times))
        found["last"].append(None if mean is None else max(times))
        found["ratio"].append(mean / alone if mean and alone else None)
    return {"together": options.together, "preset": PRESET, "target": options.target} | {
        name: summary(values) for name, values in found.items()
    }


def _seeds(seed: int, place: int, count: int) -> dict[str, int]:
    """Returns the seeds of a class: the same data, and each run a seed of its own."""
    return {"data_seed": seed, "seed": seed * count % 900_000 + place}


def table(result: dict) -> str:
    head = (
        "seconds from Train to the target",
        "one alone",
        f"mean of {result['together']} at once",
        "their median",
        "the last of them",
        "mean against alone",
    )
    said = f"preset {result['preset']}, {percent(result['target'])} of new reversals right"
    return markdown(
        head, [(said, *(shown(result[name], seconds) for name in ("alone", "mean", "median", "last")), shown(result["ratio"], ratio))]
    )

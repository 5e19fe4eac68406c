"""Five who press Train together: how long each waits for a model that is right."""

from __future__ import annotations

import argparse
import statistics

from benchmarks.server import Server
from benchmarks.suite import note
from benchmarks.tables import markdown, percent, ratio, seconds, shown, summary
from playground.config import preset

TOGETHER = 5
PRESET = "default"
WARM_STEPS = 40


def run(options: argparse.Namespace, server: Server) -> dict:
    """{"together", "preset", "target", "alone", "mean", "last", "ratio"}: summaries of seconds over the repeats, each with seeds and data
    of its own: one run alone, the mean and the last of five, and that mean against the one alone. None where the target wasn't reached.
    """
    base = preset(PRESET).with_(**dict(options.set))
    server.ask("together", knobs=[base.with_(steps=min(WARM_STEPS, base.training.steps), data_seed=1).difference()], target=2.0)
    found: dict[str, list[float | None]] = {"alone": [], "mean": [], "last": [], "ratio": []}
    for number in range(options.repeats):
        knobs = [base.with_(**_seeds(options.first_seed + number, place)).difference() for place in range(TOGETHER)]
        (alone,) = server.ask("together", knobs=knobs[:1], target=options.target)
        times = server.ask("together", knobs=knobs, target=options.target)
        mean = None if None in times else statistics.fmean(times)
        note(f"alone {alone} s, together {times}")
        found["alone"].append(alone)
        found["mean"].append(mean)
        found["last"].append(None if mean is None else max(times))
        found["ratio"].append(mean / alone if mean and alone else None)
    return {"together": TOGETHER, "preset": PRESET, "target": options.target} | {name: summary(values) for name, values in found.items()}


def _seeds(seed: int, place: int) -> dict[str, int]:
    """One class has one task and each a seed of their own."""
    return {"data_seed": seed, "seed": seed * TOGETHER % 900_000 + place}


def table(result: dict) -> str:
    head = (
        "seconds from Train to the target",
        "one alone",
        f"mean of {result['together']} at once",
        "the last of them",
        "mean against alone",
    )
    said = f"preset {result['preset']}, {percent(result['target'])} of new reversals right"
    return markdown(head, [(said, *(shown(result[name], seconds) for name in ("alone", "mean", "last")), shown(result["ratio"], ratio))])

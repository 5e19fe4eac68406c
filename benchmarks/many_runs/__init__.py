"""Many runs at once on one server: what all of them train together, how fairly, how long each waits, and how the page feels meanwhile."""

from __future__ import annotations

import argparse
import random

from benchmarks.many_runs import crowds, waiting
from benchmarks.server import Server
from benchmarks.suite import some_of
from playground.runs.run import WATCHED_SECONDS

ABOUT = "1, 5 and 30 runs at once: steps/s and tokens/s of all, fairness, memory, latency of the page; several started together"
PARTS = {"crowds": crowds, "waiting": waiting}
SMOKE = {
    "crowds": ["1", "5 of 2"],
    "quiet": 0.0,
    "window": 0.3,
    "requests": 2,
    "pause": 0.0,
    "repeats": 1,
    "target": 0.0,
    "set": [
        *[("d_model", 16), ("d_ff", 32), ("train_size", 200), ("validation_size", 20), ("steps", 6), ("eval_every", 3)],
        *[("encoder_layers", 1), ("decoder_layers", 1)],
    ],
}


def add_options(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(crowds.CROWDS)
    parser.add_argument("--parts", type=some_of(PARTS), default=list(PARTS), metavar="A,B", help=", ".join(PARTS))
    parser.add_argument("--crowds", type=some_of(crowds.CROWDS), default=list(crowds.CROWDS), metavar="A,B", help=f"runs at once: {names}")
    parser.add_argument("--window", type=float, default=12.0, help="seconds for which a crowd is counted, and at least asked")
    parser.add_argument("--quiet", type=float, default=WATCHED_SECONDS + 0.5, help="seconds until nobody counts as watching new runs")
    parser.add_argument("--requests", type=int, default=100, help="of each kind while a crowd trains")
    parser.add_argument("--pause", type=float, default=0.02, help="seconds between two requests")
    parser.add_argument("--repeats", type=int, default=3, help="times that some press Train together, with fresh seeds")
    parser.add_argument("--together", type=int, default=5, help="runs that are started at once")
    parser.add_argument("--first-seed", type=int, help="repeats an earlier benchmark; otherwise drawn")
    parser.add_argument("--target", type=float, default=0.99, help="the share of right sentences that is waited for")


def run(options: argparse.Namespace) -> dict:
    """{"crowds": [...], "waiting": {...}, "first_seed"}; each part's module says what is in it."""
    if options.first_seed is None:
        options.first_seed = random.SystemRandom().randrange(1000, 900_000)
    with Server() as server:
        return {"first_seed": options.first_seed} | {name: PARTS[name].run(options, server) for name in options.parts}


def table(result: dict) -> str:
    return "\n\n".join(part.table(result[name]) for name, part in PARTS.items() if name in result)

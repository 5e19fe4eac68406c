"""Growth: what a step, a run and a visitor cost as sentences, models, vocabularies, data and classes grow."""

from __future__ import annotations

import argparse

from benchmarks.growth import hour, memory, sessions, steps
from benchmarks.page import numbers
from benchmarks.suite import some_of

ABOUT = "time of a step against length, width, vocabulary and pairs; memory of the server for each run, visitor and tab; exponents"
PARTS = {"steps": steps, "memory": memory, "hour": hour, "sessions": sessions}
SMOKE = {
    "axes": ["length", "vocabulary", "pairs", "own_pairs"],
    "length": [4, 8],
    "vocabulary": [30, 60],
    "pairs": [100, 200],
    "own_pairs": [100, 200],
    "rounds": 1,
    "seconds": 0.0,
    "runs": [1, 2],
    "steps": 2,
    "visitors": [1, 2],
    "tabs": 6,
    "hour": 2,
    "every": 1,
    "short": 2,
    "set": [("d_model", 16), ("d_ff", 32), ("validation_size", 20), ("batch_size", 8), ("encoder_layers", 1), ("decoder_layers", 1)],
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", type=some_of(PARTS), default=list(PARTS), metavar="A,B", help=", ".join(PARTS))
    parser.add_argument("--axes", type=some_of(steps.AXES), default=list(steps.AXES), metavar="A,B", help=", ".join(steps.AXES))
    for name, axis in steps.AXES.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=numbers, default=axis.values, metavar="N,M", help=axis.said)
    parser.add_argument("--rounds", type=int, default=3, help="in which all values of an axis take their turn")
    parser.add_argument("--seconds", type=float, default=1.0, help="for which each is timed in a round, two steps at least")
    parser.add_argument("--runs", type=numbers, default=[2, 5, 10, 20], metavar="N,M", help="at once, for their memory")
    parser.add_argument("--steps", type=int, default=40, help="that each of them has done by then")
    parser.add_argument("--visitors", type=numbers, default=[10, 30, 100], metavar="N,M", help="at once, for their memory")
    parser.add_argument("--tabs", type=int, default=1000, help="opened and closed, one after the other")
    parser.add_argument("--hour", type=int, default=50, help="runs of one visitor, one after the other")
    parser.add_argument("--every", type=int, default=5, help="so many of them memory is looked at")
    parser.add_argument("--short", type=int, default=15, help="steps of each of them")


def run(options: argparse.Namespace) -> dict:
    """{"steps": [...], "memory": {...}}; each part's module says what is in it."""
    return {name: PARTS[name].run(options) for name in options.parts}


def table(result: dict) -> str:
    return "\n\n".join(part.table(result[name]) for name, part in PARTS.items() if name in result)

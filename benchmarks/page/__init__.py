"""The page: how soon it is there, what writing a run down costs its training, and what visitors cost the server."""

from __future__ import annotations

import argparse

from benchmarks.page import costs, first_load, growing, panels, start, streams
from benchmarks.server import Server
from benchmarks.suite import some_of
from benchmarks.tables import markdown, percent, seconds

ABOUT = (
    "start to first answer and first picture; bytes and seconds of a first visit; replay, snapshots and validation as share of a step;"
    " how often a curve grows on screen; panels and live updates"
)
ALONE = {"start": start, "costs": costs}
SERVED = {"first_load": first_load, "growing": growing, "panels": panels, "streams": streams}  # these ask one server
PARTS = ALONE | SERVED
ONE_LAYER = (("encoder_layers", 1), ("decoder_layers", 1), ("threads", 1))
SMOKE = {
    "parts": ["costs", "panels", "streams"],
    "starts": 1,
    "repeats": 1,
    "requests": 2,
    "pause": 0.0,
    "streams": [2],
    "window": 1.2,
    "quiet": 0.0,
    "set": [("d_model", 16), ("d_ff", 32), ("train_size", 200), ("validation_size", 20), ("steps", 8), ("eval_every", 5), *ONE_LAYER],
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", type=some_of(PARTS), default=list(PARTS), metavar="A,B", help=", ".join(PARTS))
    parser.add_argument("--starts", type=int, default=5, help="of the app, and visits to it")
    parser.add_argument("--repeats", type=int, default=3, help="trainings that are timed, and rounds of streams")
    parser.add_argument("--requests", type=int, default=40, help="for each panel, idle and while a run trains")
    parser.add_argument("--pause", type=float, default=0.1, help="seconds between two requests")
    parser.add_argument("--streams", type=numbers, default=[1, 8, 30], metavar="N,M", help="at once, beside none")
    parser.add_argument("--window", type=float, default=10.0, help="seconds for which each number of streams is watched")
    parser.add_argument("--quiet", type=float, default=streams.QUIET, help="seconds until nobody counts as watching a new run any more")


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def run(options: argparse.Namespace) -> dict:
    """{part: {...}} for every part that was asked for; each part's module says what is in it. With "costs" beside "streams" (or "start")
    also "together": [{"visitors", "share"}] (and "opening": {"seconds", "steps"})."""
    result = {name: part.run(options) for name, part in ALONE.items() if name in options.parts}
    if SERVED.keys() & set(options.parts):
        with Server() as server:
            result |= {name: part.run(options, server) for name, part in SERVED.items() if name in options.parts}
    if {"costs", "streams"} <= result.keys():
        result["together"] = _together(result["costs"], result["streams"])
    if {"costs", "start"} <= result.keys():
        step, opening = result["costs"]["rows"][0]["each"]["median"], result["start"]["visit_picture"]["median"]
        result["opening"] = {"seconds": opening, "steps": opening / step}
    return result


def _together(written: dict, watched: dict) -> list[dict]:
    """For each number of visitors, the share of a training's time: its replay and what is written down of each step, live pictures, streams
    and panels. Validation is none of it."""
    recording = written["recording"]["median"]
    return [{"visitors": row["streams"], "share": recording + row["lost"]["median"]} for row in watched["rows"]]


def table(result: dict) -> str:
    said = [PARTS[name].table(found) for name, found in result.items() if name in PARTS]
    if "together" in result:
        rows = [(str(row["visitors"]), percent(row["share"])) for row in result["together"]]
        said.append(markdown(("recording and page together, visitors", "share of training time"), rows))
    if "opening" in result:
        opening = result["opening"]
        said.append(f"Opening the page, to its first picture: {seconds(opening['seconds'])} s, as long as {opening['steps']:.0f} steps.")
    return "\n\n".join(said)

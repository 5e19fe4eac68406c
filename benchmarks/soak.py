"""Soak: visitors come, upload sentences of their own, train, look at everything, delete it and leave, for as long as one likes; and whether
what the server holds stays as it is. A page shows the memory over the time, with its parts as /health tells them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import plotly.graph_objects as go

from benchmarks.growth.hour import CHANGES, Visitor
from benchmarks.server import Client, Server
from benchmarks.suite import Missing, note
from benchmarks.tables import markdown

ABOUT = "visitors come, upload, train, look, delete and leave for an hour: memory, threads, files, and whether they stay flat"
HOUR = 3600.0
SETTLED = 0.5  # of the time: what is kept at hand fills in the first half
FLAT = 0.1  # of what is held: more in an hour is no longer flat
CALM = 5.0  # seconds after a visit that did not come to its end: a server that refuses everybody is not asked without end
BARS = " ▁▂▃▄▅▆▇█"
MB = 2**20
DRAWING = "test-output/soak.html"
HELD = {"bytes": MB, "threads": 1, "files": 1}  # what is drawn, and its unit
SMOKE = {
    "minutes": 0.05, "visitors": 1, "every": 1.0, "steps": 2,
    "set": [("d_model", 16), ("d_ff", 32), ("validation_size", 20), ("batch_size", 8), ("encoder_layers", 1), ("decoder_layers", 1)],
}  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--minutes", type=float, default=60.0, help="that it lasts")
    parser.add_argument("--visitors", type=int, default=3, help="at a time; who leaves is followed by a new one")
    parser.add_argument("--every", type=float, default=30.0, help="seconds between two looks at what the server holds")
    parser.add_argument("--steps", type=int, default=40, help="of each training")
    parser.add_argument("--drawing", type=Path, default=Path(DRAWING), help="a page with the memory over the time; written at every look")


def run(options: argparse.Namespace) -> dict:
    """{"rows": [{"seconds", "visits", "bytes", "threads", "files", "all", "parts"}], "flat": {name: {"growth", "is_flat"}}, "problems"}.

    Raises Missing where the system doesn't say what a process holds.
    """
    with Server() as server:
        if server.held()["bytes"] is None:
            raise Missing("soak: only Linux says what a process holds")
        numbers, visits, problems, over = itertools.count(), [], [], threading.Event()
        asking = threading.Lock()  # the pipe to the server takes one question at a time
        shared = (server, options, numbers, visits, problems, over, asking)
        come = [threading.Thread(target=_visit, args=shared) for _ in range(options.visitors)]
        for thread in come:
            thread.start()
        rows, began = [], time.monotonic()
        while not rows or rows[-1]["seconds"] < 60 * options.minutes:
            time.sleep(options.every)
            visited = {"visits": len(visits), "problems": len(problems)}
            rows.append({"seconds": round(time.monotonic() - began, 1), **visited, **server.held(), **_told(server.port)})
            note(", ".join(f"{name} {value:,}" for name, value in rows[-1].items() if name != "parts"))
            options.drawing.parent.mkdir(parents=True, exist_ok=True)
            drawing(rows).write_html(options.drawing)
        over.set()
        for thread in come:
            thread.join()
        return {"rows": rows, "flat": {name: verdict(rows, name) for name in HELD}, "problems": problems}


def _told(port: int) -> dict:
    """What the server says of its memory: of all its processes, and of its parts, as it estimates them."""
    client = Client(port)
    memory = json.loads(client.get("/health")[0])["memory"]
    client.close()
    return {"all": memory["held"], "parts": memory["shares"]}


def drawing(rows: Sequence[dict]) -> go.Figure:
    """Memory over the time: the parts upon each other, and above them what the processes hold."""
    minutes = [row["seconds"] / 60 for row in rows]
    figure = go.Figure(layout={"xaxis_title": "minutes", "yaxis_title": "MB", "yaxis_rangemode": "tozero", "hovermode": "x unified"})
    for name in rows[-1]["parts"]:
        figure.add_scatter(x=minutes, y=[row["parts"].get(name, 0) / MB for row in rows], name=name, stackgroup="parts")
    for name, said in {"bytes": "the page's process", "all": "with those it has started, as /health says"}.items():
        figure.add_scatter(x=minutes, y=[row[name] and row[name] / MB for row in rows], name=said, mode="lines")
    return figure


def _visit(
    server: Server, options: argparse.Namespace, numbers: Iterator[int], visits: list[int], problems: list[str], over: threading.Event,
    asking: threading.Lock,
) -> None:  # fmt: skip
    """One visitor after the other. Every third brings sentences of their own."""
    while not over.is_set():
        number, token = next(numbers), secrets.token_hex(16)
        knobs = CHANGES[number % len(CHANGES)] | {"steps": options.steps, "seed": number} | dict(options.set)
        try:
            if number % 3 == 0:
                with asking:
                    own = server.ask("upload", text="\n".join(f"word{n} of{number}\twort{n} von{number}" for n in range(200)), owner=token)
                knobs |= {"task": "own", "own": own}
            visitor = Visitor(server.port, token)
            visitor.delete(visitor.try_out(knobs))  # else the server has no room for more within the hour, and says so
            visits.append(number)
        except Exception as error:  # the server must bear the next one as well
            problems.append(f"visit {number}: {type(error).__name__}: {error}")
            over.wait(CALM)


def slope(times: Sequence[float], values: Sequence[float]) -> float:
    """Of the straight line nearest to the points."""
    middle, mean = sum(times) / len(times), sum(values) / len(values)
    spread = sum((at - middle) ** 2 for at in times)
    return sum((at - middle) * (value - mean) for at, value in zip(times, values, strict=True)) / spread if spread else 0.0


def verdict(rows: Sequence[dict], name: str) -> dict[str, float | bool]:
    """What comes to it in an hour, as a share of what there is, and whether that is little: of the time when everything has settled."""
    late = [row for row in rows if row["seconds"] >= SETTLED * rows[-1]["seconds"]]
    values = [row[name] for row in late]
    growth = HOUR * slope([row["seconds"] for row in late], values) / (sum(values) / len(values))
    return {"growth": round(growth, 4), "is_flat": growth < FLAT}


def table(result: dict) -> str:
    rows = result["rows"]
    lines = []
    for name, unit in HELD.items():
        values, said = [row[name] / unit for row in rows], result["flat"][name]
        low, high = min(values), max(values)
        drawn = "".join(BARS[1 + round(7 * (value - low) / (high - low or 1))] for value in values[:: max(1, len(values) // 60)])
        lines.append((name, drawn, f"{low:,.0f}", f"{high:,.0f}", f"{said['growth']:+.1%}", "flat" if said["is_flat"] else "GROWS"))
    head = ("held", "over time", "least", "most", "in an hour", "verdict")
    ended = f"{rows[-1]['visits']:,} visits came to their end, {len(result['problems'])} did not"
    return "\n\n".join([markdown(head, lines), ended, *result["problems"][:5]])

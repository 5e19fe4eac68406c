"""Memory of the server: for each run, while it trains and when it is paused, and for each visitor."""

from __future__ import annotations

import argparse
import itertools
import json
import socket
import time
from contextlib import ExitStack
from http.client import HTTPConnection
from urllib.parse import quote

from benchmarks.crowd import Member, join, open_stream, progress
from benchmarks.growth.exponent import shown_slopes, slopes
from benchmarks.server import PATIENCE, ROUTES, Client, Server
from benchmarks.suite import Missing, note
from benchmarks.tables import markdown

SHIPPED = "reverse"  # what visitors look at: a run that is at rest
REST = 1.0  # seconds until what just happened is over
WARM = 3  # visitors before the first that counts
API = "/gradio_api"
ROWS = {
    "training": "a run that trains",
    "paused": "the same run, paused",
    "session": "a visitor: page, Gradio's session, its heartbeat",
    "stream": "the same visitor's stream of live updates",
}


def run(options: argparse.Namespace) -> dict:
    """{name: {"counts", "bytes": [above none, of all], "each": the last of them by its count, "slopes"}} by the names of ROWS.

    Raises Missing where the system doesn't say what a process holds.
    """
    with Server() as server:
        if server.ask("resident") is None:
            raise Missing("memory: only Linux says what a process holds")
        return _visitors(server, options.visitors) | _runs(server, options.runs, options.steps, dict(options.set))


def _runs(server: Server, counts: list[int], steps: int, knobs: dict) -> dict[str, dict]:
    """Runs of as many owners join one after the other; then all of them pause, the last first."""
    first: list[Member] = []
    join(server, first, (1,), knobs, steps)  # the first run brings data and threads that the others share
    members: list[Member] = []
    before, training, paused = _resident(server), [], []
    for count in counts:
        join(server, members, (1,) * (count - len(members)), knobs, steps)
        training.append(_resident(server) - before)
        note(f"{count} runs: {training[-1] / 2**20:.1f} MB")
    for member in (*members, *first):
        server.ask("pause", run=member.run, owner=member.owner)
    while set(progress(server, [*members, *first])["statuses"]) != {"paused"}:
        time.sleep(0.05)
    for count in reversed(counts):
        for member in members[count:]:
            server.ask("drop", run=member.run, owner=member.owner)
        del members[count:]
        paused.append(_resident(server) - before)
    for member in (*members, *first):
        server.ask("drop", run=member.run, owner=member.owner)
    return {"training": _found(counts, training), "paused": _found(counts, paused[::-1])}


def _visitors(server: Server, counts: list[int]) -> dict[str, dict]:
    """Visitors come one after the other and stay; then each opens a stream."""
    found = {}
    with ExitStack() as stack:
        visits = (stack.enter_context(Visit(server.port, number)) for number in itertools.count())
        for name, act in (("session", lambda: next(visits)), ("stream", lambda: stack.enter_context(open_stream(server.port, SHIPPED)))):
            for _ in range(WARM):
                act()
            before, here, sizes = _resident(server), 0, []
            for count in counts:
                for _ in range(count - here):
                    act()
                here = count
                sizes.append(_resident(server) - before)
            found[name] = _found(counts, sizes)
            note(f"{name}: {counts[-1]} visitors {sizes[-1] / 2**20:.1f} MB")
    return found


class Visit:
    """What a browser does when a page opens: the page, what our script asks first, Gradio's session with its heartbeat, and the event of
    the page being loaded, to its end. The heartbeat stays open as long as the block lasts."""

    def __init__(self, port: int, number: int) -> None:
        self._port, self._session = port, f"visitor{number}"

    def __enter__(self) -> Visit:
        client = Client(self._port)
        client.get("/")
        client.get(f"{ROUTES}/boot")
        config = json.loads(client.get("/config")[0])
        client.close()
        self._heartbeat = socket.create_connection(("127.0.0.1", self._port), timeout=PATIENCE)
        self._heartbeat.sendall(f"GET {API}/heartbeat/{self._session} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n\r\n".encode())
        for event in config["dependencies"]:
            if event["backend_fn"] and any(trigger == "load" for _, trigger in event["targets"]):
                self._load(event["id"], len(event["inputs"]))
        return self

    def __exit__(self, *problem: object) -> None:
        self._heartbeat.close()

    def _load(self, event: int, inputs: int) -> None:
        """Asks for the event, with nothing in its inputs, and reads its answer to the end."""
        asked = json.dumps({"data": [""] * inputs, "fn_index": event, "session_hash": self._session})
        connection = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        connection.request("POST", f"{API}/queue/join", asked, {"Content-Type": "application/json"})
        connection.getresponse().read()
        connection.request("GET", f"{API}/queue/data?session_hash={quote(self._session)}")
        answer = connection.getresponse()
        while (line := answer.readline()) and b"process_completed" not in line:
            pass
        connection.close()
        if not line or b'"success":true' not in line.replace(b" ", b""):
            raise ConnectionError(f"the page's load event failed: {line[:200]!r}")


def _resident(server: Server) -> int:
    time.sleep(REST)
    return server.ask("resident")


def _found(counts: list[int], sizes: list[int]) -> dict:
    return {"counts": counts, "bytes": sizes, "each": sizes[-1] / counts[-1], "slopes": slopes(counts, sizes)}


def table(result: dict) -> str:
    head = ("memory of the server for", "MB each", "MB of all, by their number", "exponent")
    rows = [
        (
            said,
            f"{result[name]['each'] / 2**20:.3g}",
            ", ".join(f"{n}: {size / 2**20:.1f}" for n, size in zip(result[name]["counts"], result[name]["bytes"], strict=True)),
            shown_slopes(result[name]["slopes"]),
        )
        for name, said in ROWS.items()
    ]
    return markdown(head, rows)

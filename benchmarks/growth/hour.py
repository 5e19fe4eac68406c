"""A visitor's hour: one run after the other through the page's own routes, all looked at, none deleted; what the process holds then."""

from __future__ import annotations

import argparse
import json
import socket
import threading
import time
from contextlib import closing, suppress
from http.client import HTTPConnection

from benchmarks.crowd import UPDATE, open_stream
from benchmarks.server import PATIENCE, ROUTES, TOKEN, Client, Server
from benchmarks.suite import Missing, note
from benchmarks.tables import markdown
from playground.runs.housekeeping import TIDY_SECONDS

PANELS = ("sentence", "training", "attention", "map", "evaluation", "embeddings")
LATER = ("reach", "score")  # parts of tabs that come after the rest
# What the visitor changes from run to run; every other knob stays at its default.
CHANGES = ({}, {"task": "german_english"}, {"d_model": 128}, {"n_heads": 2, "task": "sort"}, {"encoder_layers": 3, "d_model": 96})
LOOKS = 3  # steps of each run that are looked at, and now
REST = TIDY_SECONDS + 1  # until what just happened is over, and what it left is tidied up
MB = 2**20


def run(options: argparse.Namespace) -> dict:
    """{"rows": [{"runs", "resident", …: bytes or counts}]}, the first before any run.

    Raises Missing where the system doesn't say what a process holds.
    """
    with Server() as server:
        if server.ask("resident") is None:
            raise Missing("hour: only Linux says what a process holds")
        visitor = Visitor(server.port)
        rows = [_row(server, 0)]
        for number in range(options.hour):
            visitor.try_out(CHANGES[number % len(CHANGES)] | {"steps": options.short, "seed": number} | dict(options.set))
            if (number + 1) % options.every == 0:
                rows.append(_row(server, number + 1))
        return {"rows": rows}


class Visitor:
    """Trains a run as the page does, with its stream open, and looks at all it has while and after it trains."""

    def __init__(self, port: int, token: str = TOKEN) -> None:
        self._port, self._token = port, token

    def try_out(self, knobs: dict) -> str:
        """One run, from Train to the last look; its id."""
        run = self._command("train", knobs=knobs)["run"]
        with closing(Stream(self._port, run)) as stream:
            while stream.newest.get("status") != "done":
                self._look(run, None, PANELS[:3])
                if stream.newest.get("status") in ("failed", "diverged", "stopped"):
                    raise RuntimeError(f"the run is {stream.newest['status']}")
            steps = stream.newest["replay"]
            for step in (*steps[:: max(1, len(steps) // LOOKS)], None):
                self._look(run, step, PANELS)
            self._look(run, None, LATER)
        return run

    def delete(self, run: str) -> None:
        self._command("delete", run=run)

    def _command(self, action: str, run: str = "", **values: object) -> dict:
        body = json.dumps({"action": action, "run": run, **values})
        connection = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        connection.request("POST", f"{ROUTES}/command", body, {"X-Playground-Token": self._token, "Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def _look(self, run: str, step: int | None, panels: tuple[str, ...]) -> None:
        """These panels, each until all of it is there; a refusal is an answer too (a run that is not yet prepared)."""
        client, at = Client(self._port), {} if step is None else {"step": step}
        for name in panels:
            with suppress(ValueError):
                while json.loads(client.get(f"{ROUTES}/panel/{name}", run=run, **at)[0]).get("more"):
                    pass
        client.close()
        time.sleep(0.05)


class Stream:
    """The live updates of a run, read by a thread of its own; `newest` is what they have said last of everything."""

    def __init__(self, port: int, run: str) -> None:
        self.newest: dict = {}
        self._socket = open_stream(port, run)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._socket.makefile("rb"):
            if line.startswith(UPDATE):
                self.newest = self.newest | json.loads(line.removeprefix(b"data: "))  # what has not changed is not said again

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def _row(server: Server, runs: int) -> dict:
    time.sleep(REST if runs else 0.0)
    row = {"runs": runs, **server.ask("held")}
    note(f"{runs} runs: " + ", ".join(f"{name} {_shown(name, value)}" for name, value in row.items() if name != "runs"))
    return row


def _shown(name: str, value: float) -> str:
    return f"{value:,.0f}" if name.startswith(("runs", "count")) else f"{value / MB:,.0f} MB"


def table(result: dict) -> str:
    rows = result["rows"]
    head = tuple(name.replace("_", " ") for name in rows[0])
    return markdown(head, [tuple(_shown(name, value) for name, value in row.items()) for row in rows])

"""Browser tabs opened and closed, as fast as it goes: what the process that serves them holds then."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator

from benchmarks.crowd import UPDATE, open_stream
from benchmarks.growth.memory import REST, SHIPPED, Visit
from benchmarks.server import Client, Server
from benchmarks.suite import Missing, note
from benchmarks.tables import markdown

ROWS = 5  # beside the first


def run(options: argparse.Namespace) -> dict:
    """{"rows": [{"tabs", "bytes", "threads", "files", "sessions", "streams"}]}, evenly over all of them, and the first after a few.

    Raises Missing where the system doesn't say what a process holds.
    """
    with Server() as server:
        if server.held()["bytes"] is None:
            raise Missing("sessions: only Linux says what a process holds")
        return {"rows": list(rows(server, options.tabs))}


def rows(server: Server, tabs: int) -> Iterator[dict]:
    every = max(1, tabs // (ROWS + 1))
    for number in range(1, tabs + 1):
        come_and_go(server, number)
        if number % every == 0:
            yield _row(server, number)


def come_and_go(server: Server, number: int) -> None:
    """A tab from its page to its first update, and its end."""
    with Visit(server.port, number), open_stream(server.port, SHIPPED) as stream:
        said = b""
        while UPDATE not in said:
            said += stream.recv(1 << 16)


def _row(server: Server, tabs: int) -> dict:
    time.sleep(REST)
    client = Client(server.port)
    told = json.loads(client.get("/health")[0])
    client.close()
    row = {"tabs": tabs, **server.held(), "sessions": told["sessions"], "streams": told["streams"]}
    note(f"{tabs} tabs: " + ", ".join(f"{name} {value:,}" for name, value in row.items() if name != "tabs"))
    return row


def table(result: dict) -> str:
    found = result["rows"]
    shown = [{**row, "bytes": f"{row['bytes'] / 2**20:,.0f} MB"} for row in found]
    return markdown(tuple(found[0]), [tuple(map(str, row.values())) for row in shown])

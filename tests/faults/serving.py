"""A server in this process with limits of its own, for clients that go to them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from playground.queries.reader import Reader
from playground.runs.limits import Limits
from playground.runs.registry import Runs
from playground.ui.server import start


@contextmanager
def serving(folder: Path, limits: Limits) -> Iterator[tuple[Runs, httpx.Client]]:
    """The runs of a server over an empty folder, and a client at its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    runs = Runs(folder, limits=limits)
    reader = Reader(runs)
    demo, _, url = start(runs, reader, port=port)
    try:
        with httpx.Client(base_url=url.rstrip("/"), timeout=60) as http:
            yield runs, http
    finally:
        demo.close()
        reader.close()
        runs.close()

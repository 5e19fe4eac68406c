"""Many at once: runs of several owners on one server, and visitors with streams open."""

from __future__ import annotations

import re
import selectors
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

from benchmarks.server import ENDLESS, PATIENCE, ROUTES, Server
from playground.runs.orders import WORKING

UPDATE = b"data: {"  # how an update begins
PICTURE = re.compile(rb'"picture":(\d+)')  # in it, the step of the newest picture


class Member(NamedTuple):
    """A run, and the token of who made it."""

    run: str
    owner: str


@contextmanager
def crowd(server: Server, each: Sequence[int], knobs: dict[str, Any], steps: int = 10) -> Iterator[list[Member]]:
    """So many runs of each owner, which train for as long as the block lasts; begins when each has done so many steps."""
    members: list[Member] = []
    try:
        join(server, members, each, knobs, steps)
        yield members
    finally:
        for member in members:
            server.ask("drop", run=member.run, owner=member.owner)


def join(server: Server, members: list[Member], each: Sequence[int], knobs: dict[str, Any], steps: int) -> None:
    """Adds so many runs of each new owner to the members, and waits until all have done so many steps. Raises RuntimeError."""
    for count in each:
        owner = f"owner-{len(members)}"
        members += [Member(server.ask("create", knobs=knobs | ENDLESS, owner=owner), owner) for _ in range(count)]
    while min((found := progress(server, members))["steps"]) < steps:
        if ended := [status for status in found["statuses"] if status not in WORKING]:
            raise RuntimeError(f"a run is {ended[0]}")
        time.sleep(0.05)


def progress(server: Server, members: Sequence[Member]) -> dict[str, Any]:
    return server.ask("progress_of", runs=[member.run for member in members])


class Streams:
    """An open stream of live updates for each of these runs, read by one thread that does nothing but count them. `picture` is the step of
    the newest picture that one of them told of."""

    def __init__(self, port: int, runs: Sequence[str]) -> None:
        self._port, self._runs, self._open = port, runs, True
        self.updates = self.bytes = self.picture = 0
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> Streams:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._open = False
        self._thread.join()

    def _read(self) -> None:
        with selectors.DefaultSelector() as ready:
            for run in self._runs:
                ready.register(open_stream(self._port, run), selectors.EVENT_READ, [b""])
            while self._open and ready.get_map():
                for key, _ in ready.select(0.1):
                    text = key.data[0] + (got := key.fileobj.recv(1 << 18))
                    self.updates += text.count(UPDATE)
                    self.bytes += len(got)
                    self.picture = max([self.picture, *map(int, PICTURE.findall(text))])
                    key.data[0] = text[-len(UPDATE) + 1 :]
                    if not got:
                        ready.unregister(key.fileobj)
                        key.fileobj.close()
            for key in list(ready.get_map().values()):
                key.fileobj.close()


def open_stream(port: int, run: str) -> socket.socket:
    """A connection on which a run's live updates are asked for, from the beginning, by somebody who has asked for none before: the server
    keeps count of a visitor's."""
    stream = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    address = f"{ROUTES}/live/{quote(run)}?since=0&by={uuid4().hex}"
    stream.sendall(f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    return stream


def first_update(port: int, run: str) -> float:
    """Seconds from asking for a run's stream to its first update. Raises ConnectionError when none comes."""
    started, text = time.perf_counter(), b""
    with open_stream(port, run) as stream:
        while UPDATE not in text:
            got = stream.recv(1 << 16)
            if not got:
                raise ConnectionError(f"no live updates of {run}")
            text += got
    return time.perf_counter() - started

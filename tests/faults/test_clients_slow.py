"""Clients that are slow on purpose, at the level of the socket: the server hangs up, and honest ones on poor lines are served."""

from __future__ import annotations

import select
import socket
from contextlib import suppress
from types import SimpleNamespace

import pytest

from playground.ui.assets import PREFIX, asset, asset_path
from playground.ui.connections import SLOWEST, Lines, Watched
from tests.faults.serving import serving
from tests.runs.tiny import limits, wait

PATIENCE = 0.6  # seconds
POST = f"POST {PREFIX}/command HTTP/1.1\r\nHost: here\r\nX-Playground-Token: ada\r\nContent-Length: %d\r\n\r\n"
CHUNKED = f"POST {PREFIX}/command HTTP/1.1\r\nHost: here\r\nX-Playground-Token: ada\r\nTransfer-Encoding: chunked\r\n\r\n"
MOST = 30_000_000  # bytes: more than any file may have


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    waits = dict.fromkeys(("head_seconds", "request_seconds", "unread_seconds"), PATIENCE)
    with serving(tmp_path_factory.mktemp("runs"), limits(**waits)) as (_, http):
        yield http


@pytest.fixture
def connect(server):
    """connect(buffer) -> a socket at the server, which takes so many bytes that nobody has read."""
    opened = []

    def made(buffer: int = 0) -> socket.socket:
        one = socket.socket()
        if buffer:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        one.settimeout(60)
        one.connect((server.base_url.host, server.base_url.port))
        opened.append(one)
        return one

    yield made
    for one in opened:
        one.close()


def read(one: socket.socket) -> int:
    """How many bytes there are to the end, or until the line is cut."""
    count = 0
    with suppress(ConnectionError):
        while more := len(one.recv(1_000_000)):
            count += more
    return count


WHOLE = f"GET {PREFIX}/runs HTTP/1.1\r\nHost: here\r\n\r\n"
HALVES = [
    "GET / HT", "", "GET / HTTP/1.1\r\nHost: here\r\nX-Long: ", POST % 100, POST % 100 + '{"action": ', CHUNKED + "9\r\n{",
]  # fmt: skip


@pytest.mark.fault("half a request, and then nothing", "the line is cut")
@pytest.mark.parametrize(("before", "halves"), [("", HALVES), (WHOLE, HALVES[3:5])], ids=["", "whole"])
def test_half_a_request_is_hung_up_on(connect, before, halves):
    """At once, or after a whole one, which is answered."""
    lines = [connect() for _ in halves]
    for one, half in zip(lines, halves, strict=True):
        one.sendall((before + half).encode())
    assert [read(one) > 0 for one in lines] == [bool(before)] * len(lines)


@pytest.mark.fault("a request that comes byte by byte", "the line is cut")
def test_one_byte_now_and_then_buys_no_time(connect):
    one, request = connect(), iter((POST % 1_000 + "x" * 1_000).encode())
    with suppress(ConnectionError):
        while not select.select([one], [], [], 0.05)[0]:
            one.send(bytes([next(request)]))
    assert read(one) == 0


@pytest.mark.fault("a body in chunks without end", "it is refused or cut, however fast it comes")
def test_chunks_without_end_are_not_taken_for_ever(connect):
    one, chunk, sent = connect(), b"10000\r\n" + b"x" * 65_536 + b"\r\n", 0
    one.sendall(CHUNKED.encode())
    with suppress(ConnectionError):
        while sent < MOST and not select.select([one], [], [], 0)[0]:
            one.sendall(chunk)
            sent += len(chunk)
    assert sent < MOST
    one = connect()
    one.sendall((CHUNKED + "zz\r\n{}\r\n0\r\n\r\n").encode())
    assert one.recv(65_536).startswith(b"HTTP/1.1 400"), "a chunk without a size"


class Wire:
    """A protocol below `Watched` and its loop, whose time is set."""

    cycle, client, more_body, response_complete, read_paused = None, None, True, False, False
    head_seconds, request_seconds, unread_seconds = PATIENCE / 2, PATIENCE, PATIENCE

    def __init__(self) -> None:
        self.lines = Lines(9, 9)
        self.now, self.calls, self.is_cut = 0.0, [], False
        self.loop = self.transport = self.flow = self

    def data_received(self, data: bytes) -> None:
        self.cycle = self

    def connection_made(self, transport: object) -> None: ...

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, act) -> SimpleNamespace:
        call = SimpleNamespace(at=self.now + seconds, act=act)
        call.when, call.cancel = (lambda: call.at), (lambda: self.calls.remove(call))
        self.calls.append(call)
        return call

    def abort(self) -> None:
        self.is_cut = True

    def wait(self, seconds: float) -> None:
        self.now += seconds
        for call in [one for one in self.calls if one.at <= self.now]:
            self.calls.remove(call)
            call.act()


@pytest.mark.parametrize(("speed", "is_cut"), [(1.01, False), (0.5, True)])
@pytest.mark.parametrize("is_paused", [False, True])
def test_a_poor_line_is_not_cut_and_a_slower_one_is_unless_the_server_is_the_slow_one(speed, is_cut, is_paused):
    line = type("Line", (Watched, Wire), {"read_paused": is_paused})()
    line.connection_made(line)
    for _ in range(200):
        line.data_received(b"x" * 1_500)
        line.wait(1_500 / SLOWEST / speed)
    assert line.is_cut == (is_cut and not is_paused)
    line.more_body = False
    line.data_received(b"the end")
    assert line.calls == []


@pytest.mark.fault("a client that does not read its answers", "the line is cut")
def test_who_does_not_read_is_hung_up_on(server, connect, monkeypatch):
    lost, real = set(), Watched.connection_lost
    monkeypatch.setattr(Watched, "connection_lost", lambda self, error: (lost.add(self.client), real(self, error)))
    times, path = 30, asset_path("plotly.js").removeprefix(".")
    server.get(path, headers={"Accept-Encoding": "gzip"})  # compressed once, which takes a while
    one = connect(buffer=65_536)
    one.sendall(f"GET {path} HTTP/1.1\r\nHost: here\r\n\r\n".encode() * times)
    wait(lambda: one.getsockname() in lost)
    assert read(one) < times * len(asset("plotly.js", "gzip")[0]) / 2, "no more than was under way"


def test_a_quiet_stream_stays_open(connect):
    one = connect()
    one.sendall(f"GET {PREFIX}/live/reverse HTTP/1.1\r\nHost: here\r\n\r\n".encode())
    assert b"text/event-stream" in one.recv(65_536)
    one.settimeout(2 * PATIENCE)
    with pytest.raises(TimeoutError):
        read(one)

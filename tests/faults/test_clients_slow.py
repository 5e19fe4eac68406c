"""Clients that are slow on purpose, at the level of the socket: the server hangs up, and honest ones on poor lines are served."""

from __future__ import annotations

import select
import socket
import time
from contextlib import suppress

import pytest

from playground.ui.assets import PREFIX, asset, asset_path
from playground.ui.connections import Watched
from tests.faults.serving import serving
from tests.runs.tiny import limits, wait

PATIENCE = 0.6  # seconds
POST = f"POST {PREFIX}/command HTTP/1.1\r\nHost: here\r\nX-Playground-Token: ada\r\nContent-Length: %d\r\n\r\n"

CHUNKED = f"POST {PREFIX}/command HTTP/1.1\r\nHost: here\r\nX-Playground-Token: ada\r\nTransfer-Encoding: chunked\r\n\r\n"
MOST = 30_000_000  # bytes: more than any file may have


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("runs"), limits(request_seconds=PATIENCE, unread_seconds=PATIENCE)) as (_, http):
        yield http


@pytest.fixture
def connect(server):
    """connect(buffer) -> a socket at the server, which takes so many bytes that nobody has read."""
    opened = []

    def made(buffer: int = 0) -> socket.socket:
        one = socket.socket()
        if buffer:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        one.settimeout(20)
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


def drip(one: socket.socket, sent: str) -> None:
    """A byte now and then, for ten seconds longer than the server should bear it."""
    end = time.monotonic() + PATIENCE + 10
    for letter in sent.encode():
        one.send(bytes([letter]))
        time.sleep(0.05)
        assert time.monotonic() < end


def closed_after(one: socket.socket) -> float:
    """Seconds until the server has hung up."""
    began = time.monotonic()
    read(one)
    return time.monotonic() - began


@pytest.mark.fault("half a request, and then nothing", "the line is cut")
def test_half_a_request_is_hung_up_on(connect):
    halves = ["", "GET / HT", "GET / HTTP/1.1\r\nHost: here\r\nX-Long: ", POST % 100, POST % 100 + '{"action": ', CHUNKED + "9\r\n{"]
    lines = [connect() for _ in halves]
    for one, sent in zip(lines, halves, strict=True):
        one.sendall(sent.encode())
    assert max(map(closed_after, lines)) < PATIENCE + 5


@pytest.mark.fault("a request that comes byte by byte", "the line is cut")
def test_one_byte_now_and_then_buys_no_time(connect):
    with pytest.raises(ConnectionError):
        drip(connect(), POST % 10_000 + "x" * 10_000)


@pytest.mark.fault("a body in chunks without end", "it is refused or cut, however fast it comes")
def test_chunks_without_end_are_not_taken_for_ever(connect):
    one, chunk, sent = connect(), b"10000\r\n" + b"x" * 65_536 + b"\r\n", 0
    one.sendall(CHUNKED.encode())
    with suppress(ConnectionError):
        while sent < MOST and not select.select([one], [], [], 0)[0]:
            one.sendall(chunk)
            sent += len(chunk)
    assert sent < MOST


def test_a_chunk_without_a_size_is_refused(connect):
    one = connect()
    one.sendall((CHUNKED + "zz\r\n{}\r\n0\r\n\r\n").encode())
    assert one.recv(65_536).startswith(b"HTTP/1.1 400")


def test_the_second_request_of_a_connection_must_come_whole_too(connect):
    one = connect()
    one.sendall(f"GET {PREFIX}/runs HTTP/1.1\r\nHost: here\r\n\r\n".encode())
    assert one.recv(65_536).startswith(b"HTTP/1.1 200")
    one.sendall(b"GET / HT")
    assert closed_after(one) < PATIENCE + 5


def test_a_poor_line_is_not_hung_up_on(connect):
    """Thirty kilobytes in twice the patience, as an upload over a telephone comes."""
    one, body = connect(), b"x" * 30_000
    one.sendall((POST % len(body)).encode())
    for start in range(0, len(body), 1_500):
        one.sendall(body[start : start + 1_500])
        time.sleep(2 * PATIENCE / 20)
    assert one.recv(65_536).startswith(b"HTTP/1.1 400"), "read to the end, and no JSON"


@pytest.mark.fault("a client that does not read its answers", "the line is cut")
def test_who_does_not_read_is_hung_up_on(server, connect, monkeypatch):
    lost, real = set(), Watched.connection_lost
    monkeypatch.setattr(Watched, "connection_lost", lambda self, error: (lost.add(self.client), real(self, error)))
    times, path = 30, asset_path("plotly.js").removeprefix(".")
    server.get(path, headers={"Accept-Encoding": "gzip"})  # compressed once, which takes a while
    one = connect(buffer=65_536)
    one.sendall(f"GET {path} HTTP/1.1\r\nHost: here\r\n\r\n".encode() * times)
    wait(lambda: one.getsockname() in lost, 20)
    assert read(one) < times * len(asset("plotly.js", "gzip")[0]) / 2, "no more than was under way"


def test_a_quiet_stream_stays_open(connect):
    one = connect()
    one.sendall(f"GET {PREFIX}/live/reverse HTTP/1.1\r\nHost: here\r\n\r\n".encode())
    assert b"text/event-stream" in one.recv(65_536)
    one.settimeout(2 * PATIENCE)
    with pytest.raises(TimeoutError):
        read(one)

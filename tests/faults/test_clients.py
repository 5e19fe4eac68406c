"""Clients that are slow, open connections without end or ask for too much: the server hangs up or refuses, and serves the others."""

import asyncio
import itertools
import select
import socket
import time
from contextlib import ExitStack, suppress
from http.client import HTTPConnection
from types import SimpleNamespace
from unittest.mock import Mock

import httpx
import pytest

from playground.runs.registry import Runs
from playground.ui.assets import PREFIX, asset_path, read_asset
from playground.ui.messages import TOKEN
from playground.ui.network import MIN_BYTES_PER_S, Connections, TimedProtocol
from tests.runs.tiny import limits, wait
from tests.ui.conftest import serving

PATIENCE = 0.6  # seconds
EACH, ADDRESS, STREAMS_EACH, STREAMS = 20, 60, 3, 5
LIMITS = limits(requests_each=EACH, requests_address=ADDRESS, streams_each=STREAMS_EACH, streams_address=STREAMS)
LINES_EACH, LINES = 20, 50  # of one address, and of all
MOST = 30_000_000  # bytes: more than any file may have
NUMBERS = itertools.count(1)
HEAD = " HTTP/1.1\r\nHost: here\r\n"
POST = f"POST {PREFIX}/command{HEAD}X-Playground-Token: ada\r\nContent-Length: %d\r\n\r\n"
CHUNKED = f"POST {PREFIX}/command{HEAD}X-Playground-Token: ada\r\nTransfer-Encoding: chunked\r\n\r\n"
WHOLE = f"GET {PREFIX}/runs{HEAD}\r\n"
HALVES = ["GET / HT", "", f"GET /{HEAD}X-Long: ", POST % 100, POST % 100 + '{"action": ', CHUNKED + "9\r\n{"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A client of a server that has little patience; `protocol` is that of its connections."""
    waits = dict.fromkeys(("head_seconds", "request_seconds", "unread_seconds"), PATIENCE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAYGROUND_PROXIES", "1")
        with serving(Runs(tmp_path_factory.mktemp("runs"), limits=limits(**{**vars(LIMITS), **waits}))) as site:
            site.http.protocol = site.demo.server.config.http_protocol_class
            yield site.http


@pytest.fixture
def connect(server):
    """connect(buffer) -> a socket at the server, which takes so many unread bytes."""
    with ExitStack() as opened:

        def open_line(buffer: int = 0) -> socket.socket:
            line = opened.enter_context(socket.socket())
            if buffer:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            line.settimeout(60)
            line.connect((server.base_url.host, server.base_url.port))
            return line

        yield open_line


def read(line: socket.socket) -> int:
    """How many bytes there are to the end, or until the line is cut."""
    count = 0
    with suppress(ConnectionError):
        while more := len(line.recv(1_000_000)):
            count += more
    return count


@pytest.mark.fault("half a request, and then nothing", "the line is cut")
@pytest.mark.parametrize(("before", "halves"), [("", HALVES), (WHOLE, HALVES[3:5])], ids=["", "whole"])
def test_half_a_request_is_hung_up_on(connect, before, halves):
    """At once, or after a whole one, which is answered."""
    lines = [connect() for _ in halves]
    for line, half in zip(lines, halves, strict=True):
        line.sendall((before + half).encode())
    assert [read(line) > 0 for line in lines] == [bool(before)] * len(lines)


@pytest.mark.fault("a request that comes byte by byte", "the line is cut")
def test_one_byte_now_and_then_buys_no_time(connect):
    line, request = connect(), iter((POST % 1_000 + "x" * 1_000).encode())
    with suppress(ConnectionError):
        while not select.select([line], [], [], 0.05)[0]:
            line.send(bytes([next(request)]))
    assert read(line) == 0


@pytest.mark.fault("a body in chunks without end", "it is refused or cut, however fast it comes")
def test_chunks_without_end_are_not_taken_for_ever(connect):
    line, chunk, sent = connect(), b"10000\r\n" + b"x" * 65_536 + b"\r\n", 0
    line.sendall(CHUNKED.encode())
    with suppress(ConnectionError):
        while sent < MOST and not select.select([line], [], [], 0)[0]:
            line.sendall(chunk)
            sent += len(chunk)
    assert sent < MOST
    line = connect()
    line.sendall((CHUNKED + "zz\r\n{}\r\n0\r\n\r\n").encode())
    assert line.recv(65_536).startswith(b"HTTP/1.1 400"), "a chunk without a size"


class Wire:
    cycle, client, more_body, response_complete = None, None, True, False
    head_seconds, request_seconds, unread_seconds = PATIENCE / 2, PATIENCE, PATIENCE

    def data_received(self, data: bytes) -> None:
        self.cycle = self

    def connection_made(self, transport: Mock) -> None:
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None: ...

    def resume_writing(self) -> None: ...


@pytest.mark.parametrize(("speed", "is_cut"), [(1.01, False), (0.5, True)])
@pytest.mark.parametrize("is_paused", [False, True])
def test_a_poor_line_is_not_cut_and_a_slower_one_is_unless_the_server_is_the_slow_one(speed, is_cut, is_paused):
    now, loop, line = [0.0], asyncio.new_event_loop(), type("Line", (TimedProtocol, Wire), {"open_connections": Connections(9, 9)})()
    loop.time, line.loop, line.flow = (lambda: now[0]), loop, SimpleNamespace(read_paused=is_paused)

    def come(count: int, seconds: float) -> None:
        line.data_received(b"x" * count)
        now[0] += seconds
        loop.run_until_complete(asyncio.sleep(0))

    line.connection_made(Mock())
    for _ in range(200):
        come(1_500, 1_500 / MIN_BYTES_PER_S / speed)
    assert line.transport.abort.called == (is_cut and not is_paused)
    come(20_000_000, 1.1 * PATIENCE)  # what came fast buys no silence
    assert line.transport.abort.called == (not is_paused)
    line.more_body = False
    come(7, 1.1 * PATIENCE)
    assert line._deadline is None
    line.connection_lost(None)
    assert not line.open_connections._by_address, "another may come in its place"
    loop.close()


@pytest.mark.fault("a client that does not read its answers", "the line is cut")
def test_who_does_not_read_is_hung_up_on(server, connect, monkeypatch):
    lost, real = set(), TimedProtocol.connection_lost
    monkeypatch.setattr(TimedProtocol, "connection_lost", lambda self, error: (lost.add(self.client), real(self, error)))
    times, path = 30, asset_path("plotly.js").removeprefix(".")
    server.get(path, headers={"Accept-Encoding": "gzip"})  # compressed once, which takes a while
    line = connect(buffer=65_536)
    line.sendall(f"GET {path}{HEAD}\r\n".encode() * times)
    wait(lambda: line.getsockname() in lost)
    assert read(line) < times * len(read_asset("plotly.js", "gzip")[0]) / 2, "no more than was under way"
    line = connect()
    line.sendall(f"GET {PREFIX}/live/reverse{HEAD}\r\n".encode())
    assert b"text/event-stream" in line.recv(65_536)
    line.settimeout(2 * PATIENCE)
    with pytest.raises(TimeoutError):
        read(line)


def status(server: tuple[str, int], address: str) -> int:
    visitor = HTTPConnection(*server, timeout=60, source_address=(address, 0))
    visitor.request("GET", f"{PREFIX}/runs")
    with visitor.getresponse() as answer:
        answer.read()
    visitor.close()
    return answer.status


def is_open(line: socket.socket) -> bool:
    line.setblocking(False)
    try:
        return bool(line.recv(1))
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


@pytest.mark.fault("half-open connections without end, of one address and of many", "the oldest give way; visitors are served")
@pytest.mark.parametrize("addresses", [["127.0.0.2"], [f"127.0.1.{n}" for n in range(1, 9)]])
def test_half_open_connections_give_way_and_visitors_are_served(server, addresses, monkeypatch):
    monkeypatch.setattr(server.protocol, "head_seconds", 600.0)
    monkeypatch.setattr(server.protocol, "open_connections", Connections(LINES, LINES_EACH))
    at = server.base_url.host, server.base_url.port
    with ExitStack() as stack:
        lines = []
        for n in range(3 * LINES):
            lines.append(stack.enter_context(socket.create_connection(at, 60, (addresses[n % len(addresses)], 0))))
            lines[-1].sendall(b"GET / HT")
            if n % 10 == 9:
                assert {status(at, address) for address in ("127.0.0.9", addresses[0])} == {200}, n
        still = [is_open(line) for line in lines]
        assert sum(still) <= (LINES_EACH if len(addresses) == 1 else LINES)
        assert not any(still[:LINES])
        assert still[-1]


@pytest.fixture
def here(server):
    """A client at an address without earlier visitors."""
    with httpx.Client(base_url=server.base_url, timeout=60, headers={"X-Forwarded-For": f"198.51.100.{next(NUMBERS)}"}) as http:
        yield http


def ask_runs(http: httpx.Client, token: str = "", **parameters: str) -> httpx.Response:
    return http.get(f"{PREFIX}/runs", params=parameters, headers={TOKEN: token} if token else {})


def until_refused(ask, most: int = 200) -> tuple[int, httpx.Response]:
    """How often it was answered, and then the refusal."""
    for count in range(most):
        if (answer := ask()).status_code != 200:
            return count, answer
    raise AssertionError(f"{most} were answered")


@pytest.mark.fault("a visitor who asks without end", "is told how long to wait; others are served")
def test_one_visitor_is_told_to_wait_and_how_long(here):
    count, answer = until_refused(lambda: ask_runs(here, "eve"))
    assert EACH <= count < 2 * EACH
    assert (answer.status_code, answer.json()["key"]) == (429, "page.too_many_requests")
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert answer.headers["Retry-After"] in answer.json()["error"]
    assert "请" in ask_runs(here, "eve", lang="zh").json()["error"]
    assert ask_runs(here, "bob").status_code == 200, "the one in the next seat goes on"
    assert {here.get("/theme.css", headers={TOKEN: "cyd"}).status_code for _ in range(3 * EACH)} == {200}, "files of the page hardly count"


@pytest.mark.fault("a new token for each of requests without end", "the address is told how long to wait")
def test_a_new_token_for_each_request_helps_nobody(here, server):
    count, answer = until_refused(lambda: ask_runs(here, f"token {next(NUMBERS)}"))
    assert ADDRESS <= count < 2 * ADDRESS
    assert (answer.json()["key"], ask_runs(server, "elsewhere").status_code) == ("page.too_many_requests", 200)


def test_members_of_a_room_are_not_held_up_by_their_address(here):
    def post(action: str, token: str, **values: object) -> dict:
        return here.post(f"{PREFIX}/room/{action}", json=values, headers={TOKEN: token}).json()

    code = post("open", "teacher", language="en", ends=time.time() + 3600)["room"]["code"]
    assert "room" in post("join", "student", code=code, nickname="Ada")
    until_refused(lambda: ask_runs(here, f"token {next(NUMBERS)}"))
    assert (ask_runs(here, "a stranger").status_code, ask_runs(here, "student").status_code) == (429, 200)


def opened(stack: ExitStack, http: httpx.Client, by: str) -> httpx.Response:
    return stack.enter_context(http.stream("GET", f"{PREFIX}/live/reverse", params={"by": by}))


@pytest.mark.fault("a client that opens streams without end", "so many and no more")
def test_so_many_streams_and_no_more(here, server):
    with ExitStack() as stack:
        assert [opened(stack, here, "ada").status_code for _ in range(STREAMS_EACH + 1)] == [200] * STREAMS_EACH + [429]
        bob = [opened(stack, here, "bob") for _ in range(STREAMS - STREAMS_EACH + 1)]
        assert [answer.status_code for answer in bob] == [200] * (STREAMS - STREAMS_EACH) + [429], "all of an address together"
        bob[-1].read()
        assert bob[-1].json()["key"] == "page.too_many_streams"
        assert opened(stack, server, "ada").status_code == 200, "at another address"

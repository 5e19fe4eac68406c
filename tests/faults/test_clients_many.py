"""Clients that open connections without end: the oldest that ask nothing give way, and everybody else is served."""

from __future__ import annotations

import socket
from contextlib import ExitStack, suppress
from http.client import HTTPConnection

import pytest

from playground.ui.assets import PREFIX
from playground.ui.connections import Watched
from tests.faults.serving import serving
from tests.faults.test_clients_slow import PATIENCE, Wire
from tests.runs.tiny import limits

EACH, ALL = 20, 50
LIMITS = limits(connections_address=EACH, connections=ALL, head_seconds=600.0)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("runs"), LIMITS) as (_, http):
        yield http.base_url.host, http.base_url.port


def status(server: tuple[str, int], address: str) -> int:
    """Of an answer to a visitor at this address."""
    visitor = HTTPConnection(*server, timeout=60, source_address=(address, 0))
    visitor.request("GET", f"{PREFIX}/runs")
    answer = visitor.getresponse()
    answer.read()
    visitor.close()
    return answer.status


def is_open(line: socket.socket) -> bool:
    with suppress(BlockingIOError):
        line.setblocking(False)
        with suppress(ConnectionError):
            return bool(line.recv(1))
        return False
    return True


@pytest.mark.fault("half-open connections without end, of one address and of many", "the oldest give way; visitors are served")
@pytest.mark.parametrize("addresses", [["127.0.0.2"], [f"127.0.1.{n}" for n in range(1, 9)]])
def test_half_open_connections_give_way_and_visitors_are_served(server, addresses):
    with ExitStack() as stack:
        lines = []
        for n in range(3 * ALL):
            lines.append(stack.enter_context(socket.create_connection(server, 60, (addresses[n % len(addresses)], 0))))
            lines[-1].sendall(b"GET / HT")
            if n % 10 == 9:
                assert {status(server, address) for address in ("127.0.0.9", addresses[0])} == {200}, n
        still = [is_open(line) for line in lines]
        assert sum(still) <= (EACH if len(addresses) == 1 else ALL)
        assert not any(still[:ALL])
        assert still[-1]


class Line(Watched, Wire):
    """Of a request whose body comes at once."""


class Head(Watched, Wire):
    """Of one whose head doesn't end."""

    def data_received(self, data: bytes) -> None:
        Wire.data_received, whole = lambda wire, data: None, Wire.data_received
        super().data_received(data)
        Wire.data_received = whole


def test_bytes_that_came_fast_buy_no_silence():
    line = Line()
    line.connection_made(line)
    for _ in range(3):
        line.data_received(b"x" * 20_000_000)
        line.wait(PATIENCE * 0.9)
        assert not line.is_cut
    line.wait(PATIENCE * 0.2)
    assert line.is_cut


def test_a_head_that_comes_in_pieces_has_no_more_time_for_that():
    line = Head()
    line.connection_made(line)
    for _ in range(4):
        line.data_received(b"GE")
        line.wait(PATIENCE / 10)
        assert not line.is_cut
    line.data_received(b"GE")
    line.wait(PATIENCE / 5)
    assert line.is_cut

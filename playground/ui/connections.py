"""Connections of clients that are slow on purpose: what they begin to ask must come in time, what they are told be read in time, and those
that ask nothing give way where there is no room for another.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Hashable

from gradio.http_server import Server

from playground.runs.limits import Limits
from playground.ui.address import household, proxies

SLOWEST = 8_192  # bytes a second at which a long request, such as an upload over a poor line, may come
KEEP_ALIVE = 15  # seconds that a connection stays open for the next request
SPARE = 100  # connections that are counted for a moment more, while those that give way close


def watch(server: Server, limits: Limits) -> None:
    """From now on, for every connection that comes."""
    config = server.config
    config.timeout_keep_alive, config.limit_concurrency = KEEP_ALIVE, limits.connections + SPARE
    seconds = {name: getattr(limits, name) for name in ("head_seconds", "request_seconds", "unread_seconds")}
    lines = Lines(limits.connections, limits.connections if proxies() else limits.connections_address)
    config.http_protocol_class = type("WatchedProtocol", (Watched, config.http_protocol_class), {**seconds, "lines": lines})


class Lines:
    """The connections that are open: so many of one address, and so many in all. Behind a proxy all come from its address."""

    def __init__(self, most: int, most_address: int) -> None:
        self._most, self._most_address = most, most_address
        self._open: dict[Watched, None] = {}  # the oldest first
        self._by_address: defaultdict[Hashable, dict[Watched, None]] = defaultdict(dict)

    def add(self, line: Watched, address: Hashable) -> bool:
        """Whether there is room for one more; the oldest on which nothing is asked gives way to it, if need be."""
        for among, most in ((self._by_address[address], self._most_address), (self._open, self._most)):
            if len(among) >= most:
                idle = next((one for one in among if one.is_idle), None)
                if idle is None:
                    return False
                self.remove(idle, idle.address)
                idle.transport.abort()
        self._open[line] = self._by_address[address][line] = None
        return True

    def remove(self, line: Watched, address: Hashable) -> None:
        """One that is closed."""
        self._open.pop(line, None)
        self._by_address[address].pop(line, None)
        if not self._by_address[address]:
            del self._by_address[address]


class Watched:
    """Before one of uvicorn's HTTP protocols, whose `cycle` is the request that has come last: None until the head of the first one is
    there. While a request has not come whole, `_late` is the time at which the connection is cut; uvicorn itself sees to the time
    between two requests."""

    lines: Lines
    head_seconds: float
    request_seconds: float
    unread_seconds: float
    address: Hashable = ""
    _late: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.address = household(self.client[0] if self.client else "")
        if not self.lines.add(self, self.address):
            return self.transport.abort()
        self._expect(self.head_seconds)

    def connection_lost(self, error: Exception | None) -> None:
        self.lines.remove(self, self.address)
        self._forget()
        self.resume_writing()
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        was_idle = self.is_idle
        super().data_received(data)
        if not self.is_idle and not self.cycle.more_body:
            self._forget()
        elif self.is_idle:  # a head has begun: more of it brings no more time
            if self._late is None:
                self._expect(self.head_seconds)
        elif was_idle or self._late is None:  # a head is whole
            self._expect(self.request_seconds)
        else:  # more of it: a little more time, and never more than without it: what came fast buys no silence
            self._expect(min(self._late.when() - self.loop.time() + len(data) / SLOWEST, self.request_seconds))

    def on_response_complete(self) -> None:
        self._forget()
        super().on_response_complete()
        if not self.is_idle and self.cycle.more_body:  # the next one had begun to come before this answer was over
            self._expect(self.request_seconds)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self._unread or self.loop.call_later(self.unread_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread:
            self._unread.cancel()
            self._unread = None

    @property
    def is_idle(self) -> bool:
        """Whether no request is being read or answered of which the head is whole."""
        return self.cycle is None or self.cycle.response_complete

    def _expect(self, seconds: float) -> None:
        self._forget()
        self._late = self.loop.call_later(seconds, self._cut)

    def _forget(self) -> None:
        if self._late:
            self._late.cancel()
            self._late = None

    def _cut(self) -> None:
        """Unless it is the server that doesn't take what has come."""
        self._late = None
        if self.flow.read_paused:
            self._expect(self.request_seconds)
        else:
            self.transport.abort()

"""Slowloris protection: deadlines for receiving a request and for the client reading the response; idle connections are closed where there
is no room for another."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Hashable

from playground.runs.limits import Limits
from playground.ui.network import count_proxies, is_tunnelled, normalise_address

MIN_BYTES_PER_S = 8_192  # minimum bytes a second of a long request, such as an upload over a poor connection
KEEP_ALIVE_S = 15  # seconds that a connection stays open for the next request
CLOSING_CONNECTIONS = 100  # connections counted a moment longer, while evicted ones close


def limited_protocol(protocol: type[asyncio.Protocol], limits: Limits) -> type[asyncio.Protocol]:
    """Returns an HTTP protocol of uvicorn's with limits and deadlines."""
    seconds = {name: getattr(limits, name) for name in ("head_seconds", "request_seconds", "unread_seconds")}
    most_address = limits.connections if count_proxies() or is_tunnelled() else limits.connections_address
    return type("Timed", (TimedProtocol, protocol), {**seconds, "open_connections": Connections(limits.connections, most_address)})


class Connections:
    """Open connections, limited per address and in all. Behind a proxy all come from its address."""

    def __init__(self, most: int, most_address: int) -> None:
        self._most, self._most_address = most, most_address
        self._open: dict[TimedProtocol, None] = {}  # oldest first
        self._by_address: defaultdict[Hashable, dict[TimedProtocol, None]] = defaultdict(dict)

    def add(self, connection: TimedProtocol, address: Hashable) -> bool:
        """Adds a connection, aborting the oldest idle one if need be. Returns False without room."""
        for connections, most in ((self._by_address[address], self._most_address), (self._open, self._most)):
            if len(connections) >= most:
                idle = next((candidate for candidate in connections if candidate.is_idle), None)
                if idle is None:
                    return False
                self.remove(idle, idle.address)
                idle.transport.abort()
        self._open[connection] = self._by_address[address][connection] = None
        return True

    def remove(self, connection: TimedProtocol, address: Hashable) -> None:
        """Removes a closed connection."""
        self._open.pop(connection, None)
        self._by_address[address].pop(connection, None)
        if not self._by_address[address]:
            del self._by_address[address]


class TimedProtocol:
    """Mixin before one of uvicorn's HTTP protocols, whose `cycle` is the latest request, None until the first head is complete. `_deadline`
    aborts the connection while a request is incomplete; uvicorn itself limits the time between two requests."""

    open_connections: Connections
    head_seconds: float
    request_seconds: float
    unread_seconds: float
    address: Hashable = ""
    _deadline: asyncio.TimerHandle | None = None
    _write_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.address = normalise_address(self.client[0] if self.client else "")
        if not self.open_connections.add(self, self.address):
            return self.transport.abort()
        self._set_deadline(self.head_seconds)

    def connection_lost(self, error: Exception | None) -> None:
        self.open_connections.remove(self, self.address)
        self._clear_deadline()
        self.resume_writing()
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        was_idle = self.is_idle
        super().data_received(data)
        if not self.is_idle and not self.cycle.more_body:
            self._clear_deadline()
        elif self.is_idle:  # a head has begun: more bytes don't extend its deadline
            if self._deadline is None:
                self._set_deadline(self.head_seconds)
        elif was_idle or self._deadline is None:  # the head is complete
            self._set_deadline(self.request_seconds)
        else:  # a body's bytes extend the deadline, never beyond its maximum: fast bytes buy no silence
            self._set_deadline(min(self._deadline.when() - self.loop.time() + len(data) / MIN_BYTES_PER_S, self.request_seconds))

    def on_response_complete(self) -> None:
        self._clear_deadline()
        super().on_response_complete()
        if not self.is_idle and self.cycle.more_body:  # the next request began to arrive before this response was over
            self._set_deadline(self.request_seconds)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_deadline = self._write_deadline or self.loop.call_later(self.unread_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._write_deadline:
            self._write_deadline.cancel()
            self._write_deadline = None

    @property
    def is_idle(self) -> bool:
        """Whether no request with a complete head is being read or answered."""
        return self.cycle is None or self.cycle.response_complete

    def _set_deadline(self, seconds: float) -> None:
        self._clear_deadline()
        self._deadline = self.loop.call_later(seconds, self._abort_late)

    def _clear_deadline(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def _abort_late(self) -> None:
        """Aborts the connection, unless the server itself has paused reading."""
        self._deadline = None
        if self.flow.read_paused:
            self._set_deadline(self.request_seconds)
        else:
            self.transport.abort()

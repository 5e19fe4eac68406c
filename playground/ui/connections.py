"""Connections of clients that are slow on purpose: what they begin to ask must come in time, and what they are told be read in time."""

from __future__ import annotations

import asyncio

from gradio.http_server import Server

from playground.runs.limits import Limits

SLOWEST = 8_192  # bytes a second at which a long request, such as an upload over a poor line, may come
KEEP_ALIVE = 15  # seconds that a connection stays open for the next request


def watch(server: Server, limits: Limits) -> None:
    """From now on, for every connection that comes."""
    config = server.config
    config.timeout_keep_alive, config.limit_concurrency = KEEP_ALIVE, limits.connections
    waits = {"request_seconds": limits.request_seconds, "unread_seconds": limits.unread_seconds}
    config.http_protocol_class = type("WatchedProtocol", (Watched, config.http_protocol_class), waits)


class Watched:
    """Before one of uvicorn's HTTP protocols, whose `cycle` is the request that has come last: None until the head of the first one is
    there. While a request has not come whole, `_late` is the time at which the connection is cut; uvicorn itself sees to the time
    between two requests."""

    request_seconds: float
    unread_seconds: float
    _late: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._expect(self.request_seconds)

    def connection_lost(self, error: Exception | None) -> None:
        self._forget()
        self.resume_writing()
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        answered = self._is_idle()
        super().data_received(data)
        if self.cycle and not self.cycle.response_complete and not self.cycle.more_body:
            self._forget()
        elif self._late is None:
            self._expect(self.request_seconds)
        elif not answered:  # more of it: a little more time, and never more than without it: what came fast buys no silence
            self._expect(min(self._late.when() - self.loop.time() + len(data) / SLOWEST, self.request_seconds))

    def on_response_complete(self) -> None:
        self._forget()
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self._unread or self.loop.call_later(self.unread_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread:
            self._unread.cancel()
            self._unread = None

    def _is_idle(self) -> bool:
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

"""Notifies the open pages of a room. A slow listener skips intermediate news: it is woken and then reads the newest state."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from playground.rooms.room import TEACHER


class Listener:
    """An open event stream of one member. Created in the event loop; notified from any thread."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._loop, self._news = asyncio.get_running_loop(), asyncio.Event()
        self._news.set()  # the first news is the room as it is

    def notify(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._news.set)

    async def wait(self, seconds: float) -> bool:
        """Waits up to `seconds` for news; returns whether there was any."""
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except asyncio.TimeoutError:  # the builtin TimeoutError only since Python 3.11
            return False
        self._news.clear()
        return True


class Hub:
    """The listeners of every room, and the members who don't follow the teacher. Thread-safe; in memory only."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[str, list[Listener]] = {}
        self._exploring: dict[str, set[int]] = {}

    @contextmanager
    def listen(self, code: str, number: int) -> Iterator[Listener]:
        listener = Listener(number)
        with self._lock:
            self._listeners.setdefault(code, []).append(listener)
        self.notify(code)
        try:
            yield listener
        finally:
            with self._lock:
                remaining = [other for other in self._listeners[code] if other is not listener]
                self._listeners[code] = remaining
                if not remaining:
                    del self._listeners[code]
            self.notify(code)

    def notify(self, code: str) -> None:
        """Wakes every listener of this room."""
        for listener in self._find_listeners(code):
            listener.notify()

    def find_present(self, code: str) -> set[int]:
        """Returns the numbers of the members who have the page open."""
        return {listener.number for listener in self._find_listeners(code)} - {TEACHER}

    def is_open(self, code: str) -> bool:
        """Returns whether the teacher or any member has the page open."""
        return bool(self._find_listeners(code))

    def find_followers(self, code: str) -> set[int]:
        """Returns the members present whose page follows the teacher's cursor."""
        return self.find_present(code) - self._exploring.get(code, set())

    def follow(self, code: str, number: int, follows: bool) -> None:
        with self._lock:
            exploring = self._exploring.get(code, set()) - {number}
            self._exploring[code] = exploring if follows else exploring | {number}
        self.notify(code)

    def end(self, code: str) -> None:
        """Forgets a deleted room and wakes its listeners."""
        with self._lock:
            self._exploring.pop(code, None)
        self.notify(code)

    def _find_listeners(self, code: str) -> list[Listener]:
        with self._lock:
            return list(self._listeners.get(code, ()))

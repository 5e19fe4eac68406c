"""Who listens to which room. A listener that is slow misses what came in between: it is told that there is news, and reads the newest."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from playground.rooms.room import TEACHER


class Listener:
    """An open stream of one member's. Made in the event loop; told from any thread."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._loop, self._news = asyncio.get_running_loop(), asyncio.Event()
        self._news.set()  # the first news is the room as it is

    def tell(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._news.set)

    async def wait(self, seconds: float) -> bool:
        """Whether there was news, at most so many seconds later."""
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except asyncio.TimeoutError:  # which is Python's own only since 3.11
            return False
        self._news.clear()
        return True


class Hub:
    """The listeners of every room, and which members have let go of the teacher. Thread-safe; in memory only."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[str, list[Listener]] = {}
        self._exploring: dict[str, set[int]] = {}

    @contextmanager
    def listen(self, code: str, number: int) -> Iterator[Listener]:
        listener = Listener(number)
        with self._lock:
            self._listeners.setdefault(code, []).append(listener)
        self.tell(code)
        try:
            yield listener
        finally:
            with self._lock:
                others = [other for other in self._listeners[code] if other is not listener]
                self._listeners[code] = others
                if not others:
                    del self._listeners[code]
            self.tell(code)

    def tell(self, code: str) -> None:
        """There is news of this room."""
        for listener in self._of(code):
            listener.tell()

    def here(self, code: str) -> set[int]:
        """The members who have the page open."""
        return {listener.number for listener in self._of(code)} - {TEACHER}

    def is_open(self, code: str) -> bool:
        """Whether somebody has the page open, the teacher or a member."""
        return bool(self._of(code))

    def followers(self, code: str) -> set[int]:
        """Those of them who see what the teacher sees."""
        return self.here(code) - self._exploring.get(code, set())

    def follow(self, code: str, number: int, follows: bool) -> None:
        with self._lock:
            exploring = self._exploring.get(code, set()) - {number}
            self._exploring[code] = exploring if follows else exploring | {number}
        self.tell(code)

    def end(self, code: str) -> None:
        """The room is no more."""
        with self._lock:
            self._exploring.pop(code, None)
        self.tell(code)

    def _of(self, code: str) -> list[Listener]:
        with self._lock:
            return list(self._listeners.get(code, ()))

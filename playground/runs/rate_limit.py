"""Rate limits by name, such as an address, a visitor or a room's guessed code."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

MAX_NAMES = 10_000  # the most recently used names kept


class RateLimit:
    """A token bucket per name: holds `most` tokens and refills in `seconds`. Not thread-safe: for the event loop, or under a lock."""

    def __init__(self, most: float, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity, self._rate, self._clock = most, most / seconds, clock
        self._tokens: dict[Hashable, tuple[float, float]] = {}  # name -> (tokens left, time of the last request)

    def take(self, name: Hashable, cost: float = 1.0) -> float:
        """Takes `cost` tokens. Returns 0, or the seconds until there are enough, having taken none."""
        seconds, tokens = self.wait(name, cost), self._count(name)
        self._tokens.pop(name, None)
        self._tokens[name] = (tokens if seconds else tokens - cost, self._clock())
        if len(self._tokens) > MAX_NAMES:
            del self._tokens[next(iter(self._tokens))]
        return seconds

    def wait(self, name: Hashable, cost: float = 1.0) -> float:
        """Returns the seconds until there are `cost` tokens, 0 if there are, and takes none."""
        return max(0.0, cost - self._count(name)) / self._rate

    def _count(self, name: Hashable) -> float:
        tokens, updated = self._tokens.get(name, (self._capacity, self._clock()))
        return min(self._capacity, tokens + (self._clock() - updated) * self._rate)

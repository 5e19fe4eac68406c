"""A rate limit on guessing secrets such as room codes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from playground.config import Refusal

MAX_ADDRESSES = 10_000  # remembered at a time, the most recent


class Attempts:
    """A rate limit of `most` attempts per address in a sliding window of `seconds`. Not thread-safe: the caller holds a lock."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float]) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        self._by_address: dict[str, deque[float]] = {}

    def count(self, address: str) -> int:
        """Returns the attempts of this address in the window."""
        times = self._by_address.get(address, deque())
        while times and times[0] <= self._clock() - self._seconds:
            times.popleft()
        return len(times)

    def check(self, address: str, most: int | None = None) -> None:
        """Raises Refusal when no attempt is left; `most` replaces the usual limit for this address."""
        if self.count(address) >= (most or self._most):
            raise Refusal("rooms.too_often", minutes=f"{self._seconds / 60:g}")

    def note(self, address: str) -> None:
        """Records one attempt."""
        times = self._by_address.pop(address, deque())
        times.append(self._clock())
        self._by_address[address] = times
        if len(self._by_address) > MAX_ADDRESSES:
            del self._by_address[next(iter(self._by_address))]

"""How often somebody may try what is not theirs to know."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from playground.config import Refusal

MAX_ADDRESSES = 10_000  # remembered at a time: those that tried last


class Attempts:
    """So many by each address in so many seconds. Not thread-safe: whoever calls holds a lock."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float]) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        self._by_address: dict[str, deque[float]] = {}

    def count(self, address: str) -> int:
        """How many there were."""
        times = self._by_address.get(address, deque())
        while times and times[0] <= self._clock() - self._seconds:
            times.popleft()
        return len(times)

    def check(self, address: str, most: int | None = None) -> None:
        """Raises Refusal when there is none left; `most` is how many an address may that is no usual one."""
        if self.count(address) >= (most or self._most):
            raise Refusal("rooms.too_often", minutes=f"{self._seconds / 60:g}")

    def note(self, address: str) -> None:
        """One more."""
        times = self._by_address.pop(address, deque())
        times.append(self._clock())
        self._by_address[address] = times
        if len(self._by_address) > MAX_ADDRESSES:
            del self._by_address[next(iter(self._by_address))]

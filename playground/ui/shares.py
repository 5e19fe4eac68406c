"""What there is for each name, such as an address or a visitor: so many requests in a while, so many open streams. For the event loop."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager

MOST_NAMES = 10_000  # remembered at a time: those that asked last


class Buckets:
    """A token bucket for each name: `most` at once when it is full, and it fills in `seconds`."""

    def __init__(self, most: float, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._rate, self._clock = most, most / seconds, clock
        self._left: dict[Hashable, tuple[float, float]] = {}  # name -> what was left, and when

    def take(self, name: Hashable, cost: float = 1.0) -> float:
        """Takes so much. Returns 0; or, having taken nothing, the seconds until there is enough."""
        now = self._clock()
        left, then = self._left.pop(name, (self._most, now))
        left = min(self._most, left + (now - then) * self._rate)
        enough = left >= cost
        self._left[name] = (left - cost if enough else left, now)
        if len(self._left) > MOST_NAMES:
            del self._left[next(iter(self._left))]
        return 0.0 if enough else (cost - left) / self._rate


class Open:
    """How much is open of each name."""

    def __init__(self) -> None:
        self._open: Counter[Hashable] = Counter()

    def __contains__(self, name: Hashable) -> bool:
        return name in self._open

    def count(self, kind: str) -> int:
        """Of all names of this kind, which are tuples that begin with it."""
        return sum(number for name, number in list(self._open.items()) if name[0] == kind)

    def full(self, most: Mapping[Hashable, int]) -> bool:
        """Whether one of these names has as much as it may."""
        return any(self._open[name] >= limit for name, limit in most.items())

    @contextmanager
    def holding(self, *names: Hashable) -> Iterator[None]:
        """One more of each meanwhile."""
        self._open.update(names)
        try:
            yield
        finally:
            self._open.subtract(names)
            for name in names:
                if not self._open[name]:
                    del self._open[name]

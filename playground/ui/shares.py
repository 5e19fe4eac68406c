"""Rate limits and counters by name, such as an address or a visitor: requests per interval and open streams. For the event loop only."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager

MAX_NAMES = 10_000  # the most recently used names kept


class Buckets:
    """A token bucket per name: holds `most` tokens and refills in `seconds`."""

    def __init__(self, most: float, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity, self._rate, self._clock = most, most / seconds, clock
        self._tokens: dict[Hashable, tuple[float, float]] = {}  # name -> (tokens left, time of the last request)

    def take(self, name: Hashable, cost: float = 1.0) -> float:
        """Takes `cost` tokens. Returns 0, or the seconds until there are enough, having taken none."""
        now = self._clock()
        tokens, updated = self._tokens.pop(name, (self._capacity, now))
        tokens = min(self._capacity, tokens + (now - updated) * self._rate)
        is_enough = tokens >= cost
        self._tokens[name] = (tokens - cost if is_enough else tokens, now)
        if len(self._tokens) > MAX_NAMES:
            del self._tokens[next(iter(self._tokens))]
        return 0.0 if is_enough else (cost - tokens) / self._rate


class Tally:
    """Counts open streams by name."""

    def __init__(self) -> None:
        self._open: Counter[Hashable] = Counter()

    def __contains__(self, name: Hashable) -> bool:
        return name in self._open

    def count(self, kind: str) -> int:
        """Counts the streams of all names of a kind; names are tuples that begin with it."""
        return sum(number for name, number in list(self._open.items()) if name[0] == kind)

    def is_full(self, most: Mapping[Hashable, int]) -> bool:
        """Whether any of these names has reached its limit."""
        return any(self._open[name] >= limit for name, limit in most.items())

    @contextmanager
    def holding(self, *names: Hashable) -> Iterator[None]:
        """Counts one more for each name while the context is open."""
        self._open.update(names)
        try:
            yield
        finally:
            self._open.subtract(names)
            for name in names:
                if not self._open[name]:
                    del self._open[name]

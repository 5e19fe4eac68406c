"""Refresh rates for pages that follow a training run: updates and new pictures, shared fairly among the visitors present."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

REFRESH_MS = 400  # between two pictures of a training run, for a lone visitor
CPU_BUDGET = 0.15  # share of a core for all pictures
COST_WEIGHT = 0.1  # weight of the newest picture in the running average
MAX_REFRESH_MS = 60 * REFRESH_MS  # the interval of a full room
ACTIVE_S = 30.0  # seconds that a visitor counts after a request for a picture: longer than the longest interval
MIN_POLL_S, MAX_POLL_S, POLLS_PER_S = 0.1, 0.5, 50  # seconds between two checks of a run's version, and checks a second of all streams


class Pace:
    """Counts active visitors, not the streams each holds open. The interval grows with the number of visitors at the caller's own address,
    as if every address had as many: a crowd slows itself down first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.streams = 0
        self._cost = CPU_BUDGET * REFRESH_MS / 1000  # running average of a picture's cost, in CPU seconds
        self._clock, self._requested_at = clock, dict[tuple[str, str], float]()

    def record_request(self, address: str, visitor: str, seconds: float) -> None:
        """Records a visitor's request for a picture of a training run, and its cost in CPU seconds."""
        now = self._clock()
        self._cost += COST_WEIGHT * (seconds - self._cost)
        self._requested_at.pop((address, visitor), None)
        self._requested_at[address, visitor] = now
        for key, requested_at in list(self._requested_at.items()):  # oldest first
            if now - requested_at <= ACTIVE_S:
                break
            self._requested_at.pop(key, None)

    def refresh_ms(self, address: str) -> int:
        """Returns the refresh interval in milliseconds: almost every picture for a lone visitor; a class shares the CPU budget at the
        current cost, which is lower where all follow one run."""
        by_address = Counter(source for source, _ in list(self._requested_at))
        visitors = min(by_address.total(), len(by_address) * by_address[address])
        return round(min(MAX_REFRESH_MS, REFRESH_MS + 1000 * max(visitors - 1, 0) * self._cost / CPU_BUDGET))

    @property
    def poll_s(self) -> float:
        """Seconds between two events: 0.1 for a lone visitor, 0.5 for each of thirty."""
        return min(MAX_POLL_S, max(MIN_POLL_S, self.streams / POLLS_PER_S))

    @property
    def until_poll_s(self) -> float:
        """Seconds until all streams check again, at the same moment: a run's update is serialised once for all followers, and its training
        is interrupted once."""
        return self.poll_s - self._clock() % self.poll_s

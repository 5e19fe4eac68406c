"""The pace of a training, and how long the rest takes at it: at least and at most, as far as what was measured supports that."""

from __future__ import annotations

import statistics
from collections import deque

STRETCHES = 20  # the newest that count: a pace of long ago says little of the next steps
FEWEST = 2  # one says nothing of how much they differ


class Pace:
    """`note` is told now and then how far the training is; time is the caller's, in seconds."""

    def __init__(self, now: float, step: int) -> None:
        self._last = (now, step)
        self._stretches: deque[tuple[float, int]] = deque(maxlen=STRETCHES)  # (seconds, steps)

    def note(self, now: float, step: int) -> None:
        """A stretch is over. One without a whole step goes on."""
        then, before = self._last
        if step > before:
            self._stretches.append((now - then, step - before))
            self._last = (now, step)

    def left(self, steps: int) -> tuple[float, float] | None:
        """Seconds for so many steps more, at least and at most: the mean pace, give or take one standard deviation of the pace of single
        stretches. None while there are too few."""
        if len(self._stretches) < FEWEST:
            return None
        seconds, done = map(sum, zip(*self._stretches, strict=True))
        mean, spread = seconds / done, statistics.stdev(seconds / count for seconds, count in self._stretches)
        return steps * max(mean - spread, 0.0), steps * (mean + spread)

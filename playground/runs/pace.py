"""The speed of a training so far, and the remaining time with its uncertainty."""

from __future__ import annotations

import statistics
from collections import deque

MAX_STRETCHES = 20  # moving window: an old speed predicts little of the next steps
MIN_STRETCHES = 2  # minimum for a standard deviation


class Pace:
    """Estimates the remaining time. `note` records progress; time is the caller's, in seconds."""

    def __init__(self, now: float, step: int) -> None:
        self._last = (now, step)
        self._stretches: deque[tuple[float, int]] = deque(maxlen=MAX_STRETCHES)  # (seconds, steps)

    def record(self, now: float, step: int) -> None:
        """Ends a stretch, unless no step was completed in it."""
        start, before = self._last
        if step > before:
            self._stretches.append((now - start, step - before))
            self._last = (now, step)

    def estimate_left(self, steps: int) -> tuple[float, float] | None:
        """Returns (lower, upper) seconds for `steps` more: the mean speed, plus or minus one standard deviation over the stretches. None
        while there are too few."""
        if len(self._stretches) < MIN_STRETCHES:
            return None
        seconds, done = map(sum, zip(*self._stretches, strict=True))
        mean, spread = seconds / done, statistics.stdev(seconds / count for seconds, count in self._stretches)
        return steps * max(mean - spread, 0.0), steps * (mean + spread)

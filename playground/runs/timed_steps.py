"""Replans the number of steps for a training with a time limit, at a few moments, from its speed so far.

The learning rate schedule goes by steps, so it ends with the time under any load. Each new plan is an event of the run's history: with
these events the run can be repeated anywhere, however long it takes there.
"""

from __future__ import annotations

# Fractions of the time left at each replanning: soon after the start, often enough that no plan made under load ends before the next one,
# and again near the end, so that load can distort only the last 64th of the schedule.
REPLANNING_MOMENTS = (63 / 64, 31 / 32, *(left / 16 for left in range(15, 0, -1)), 1 / 32, 1 / 64)


class TimedSteps:
    """Plans a run of `minutes` that is at `step` after `seconds` of training, with at most `most` steps."""

    def __init__(self, minutes: float, most: int, step: int, seconds: float) -> None:
        self._total_seconds, self._most, self._start = 60 * minutes, most, (step, seconds)
        self._replanning_moments = [moment for moment in REPLANNING_MOMENTS if moment < self._fraction_left(seconds)]

    def plan(self, step: int, seconds: float) -> int | None:
        """Returns the new last step when a replanning is due; otherwise None."""
        left = self._fraction_left(seconds)
        before, then = self._start
        if not self._replanning_moments or left > self._replanning_moments[0] or step == before:
            return None
        self._replanning_moments = [moment for moment in self._replanning_moments if moment < left]
        each = max(seconds - then, 1e-9) / (step - before)
        return min(self._most, step + max(int(left * self._total_seconds / each), 1))

    def _fraction_left(self, seconds: float) -> float:
        return 1 - seconds / self._total_seconds

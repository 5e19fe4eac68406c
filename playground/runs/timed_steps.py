"""As many steps as fit into the time that a run is given: planned anew at a few moments, from its pace so far.

The schedule of the learning rate goes by steps, so it ends with the time, whatever else the machine does. Each new plan is an event of the
run's history: with these events the run can be repeated anywhere, however long it takes there.
"""

from __future__ import annotations

# The shares of the time that are left when it is planned anew: soon after the beginning, so often that no plan made under load is over
# before the next one, and again at the end, so that what load can spoil is the last 64th of the schedule.
MOMENTS = (63 / 64, 31 / 32, *(left / 16 for left in range(15, 0, -1)), 1 / 32, 1 / 64)


class TimedSteps:
    """Of a run with `minutes`, which was at `step` after so many `seconds` of training, and is to have `most` steps."""

    def __init__(self, minutes: float, most: int, step: int, seconds: float) -> None:
        self._all, self._most, self._began = 60 * minutes, most, (step, seconds)
        self._moments = [moment for moment in MOMENTS if moment < self._left(seconds)]

    def plan(self, step: int, seconds: float) -> int | None:
        """The step at which the run should end, where it is time for a new plan; else None."""
        left = self._left(seconds)
        before, then = self._began
        if not self._moments or left > self._moments[0] or step == before:
            return None
        self._moments = [moment for moment in self._moments if moment < left]
        each = max(seconds - then, 1e-9) / (step - before)
        return min(self._most, step + max(int(left * self._all / each), 1))

    def _left(self, seconds: float) -> float:
        return 1 - seconds / self._all

"""The time of day for long periods: when a run was last viewed, until when a room is open. Durations are measured elsewhere, by monotonic
clocks.

A machine's clock may be set back a day, or start in another century: nothing must be deleted for that. So time continues steadily from the
first reading, and a jump is accepted once it has lasted.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

log = logging.getLogger(__name__)
JUMP_SECONDS = 60.0  # smaller differences are clock adjustments or load
LASTING_SECONDS = 3600.0  # after which the jump was meant, or would have been corrected


class SteadyClock:
    """Returns seconds since 1970 when called, which must happen now and then. Lock-free: a late caller changes nothing."""

    def __init__(self, wall: Callable[[], float] = time.time, even: Callable[[], float] = time.monotonic) -> None:
        self._wall, self._even = wall, even
        self._offset = wall() - even()
        self._jump: tuple[float, float] | None = None  # when the clocks diverged, and their present offset

    def __call__(self) -> float:
        even = self._even()
        offset = self._wall() - even
        if abs(offset - self._offset) < JUMP_SECONDS:
            self._offset, self._jump = offset, None
        elif self._jump is None or abs(offset - self._jump[1]) >= JUMP_SECONDS:
            self._jump = even, offset
            log.warning("the machine's clock has jumped by %.0f s, which counts if it lasts", offset - self._offset)
        elif even - self._jump[0] >= LASTING_SECONDS:
            self._offset, self._jump = offset, None
        return even + self._offset


_clock = SteadyClock()


def now() -> float:
    """Returns the seconds since 1970 by this process's clock."""
    return _clock()

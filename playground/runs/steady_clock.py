"""The time of day for what lasts days: when a run was last looked at, and until when a room is open. Durations are measured elsewhere, by
clocks that only go forward.

Somebody sets the machine's clock a day back, or it wakes up in another century: nothing is to be deleted for that. So time goes on evenly
here, from what the machine's clock said first, and a jump is believed once it has lasted.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

log = logging.getLogger(__name__)
JUMP_SECONDS = 60.0  # less is a clock that is put right a little, or a machine that is busy
LASTING_SECONDS = 3600.0  # after which whoever set the clock meant it, or has noticed


class SteadyClock:
    """Called, it says the seconds since 1970. Somebody must ask it now and then; it keeps no lock, since who comes late changes nothing."""

    def __init__(self, wall: Callable[[], float] = time.time, even: Callable[[], float] = time.monotonic) -> None:
        self._wall, self._even = wall, even
        self._offset = wall() - even()
        self._jump: tuple[float, float] | None = None  # when the clocks came apart, and by what offset they are now

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
    """The same for all of this process."""
    return _clock()

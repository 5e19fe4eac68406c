"""The watch over those who train: a turn that never ends keeps a thread, which can't be killed, and with its threads a server stands still.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from weakref import WeakKeyDictionary

from playground.runs.queue.scheduler import Scheduler, Turn
from playground.runs.runtime import REAL, Runtime

log = logging.getLogger(__name__)
LOOK_S = 1.0  # seconds between two looks
FIRST = 5  # times the patience for a turn that also prepares: it reads data and makes tokenizers
LONGER = 20  # times the longest turn that the run has had, where that is more than the patience
DELETED_S, DELETED_LONGER = 5.0, 5  # the same for a run whose end somebody waits for, to delete it


class Watchdog:
    """A thread that looks at every turn now and then, until it is closed. `lost` is called with each that has gone on for too long, after
    its worker was replaced; `waits` says of a thread that it waits for the disk, which comes back or leaves nobody anything to do."""

    def __init__(
        self, schedulers: Iterable[Scheduler], seconds: float, waits: Callable[[int], bool], lost: Callable[[Turn, float], object],
        runtime: Runtime = REAL,
    ) -> None:  # fmt: skip
        """`seconds` is how long a step may take, unless the run's own have shown that they take longer."""
        self._schedulers, self._seconds, self._waits, self._lost = tuple(schedulers), seconds, waits, lost
        self._waited: WeakKeyDictionary[threading.Thread, float] = WeakKeyDictionary()  # when each was last seen to wait for the disk
        self._closing, self._clock = threading.Event(), runtime.monotonic
        self._thread = runtime.spawn(self._watch, "watchdog")

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def close(self) -> None:
        """Returns when the thread is gone."""
        self._closing.set()
        self._thread.join()

    def patience(self, turn: Turn) -> float:
        """Seconds that this turn may take."""
        if turn.longest and getattr(turn.job, "unwanted", False):
            return max(min(DELETED_S, self._seconds), DELETED_LONGER * turn.longest)
        return max(self._seconds * (1 if turn.longest else FIRST), LONGER * turn.longest)

    def look(self) -> None:
        """Once over all turns."""
        now = self._clock()
        for scheduler in self._schedulers:
            for turn in scheduler.replace(lambda turn: self._is_overdue(turn, now)):
                self._lost(turn, now - turn.began)

    def _is_overdue(self, turn: Turn, now: float) -> bool:
        if self._waits(turn.thread.ident):
            self._waited[turn.thread] = now
        return now - max(turn.began, self._waited.get(turn.thread, 0.0)) > self.patience(turn)

    def _watch(self) -> None:
        while not self._closing.wait(min(LOOK_S, self._seconds / 2)):
            try:
                self.look()
            except BaseException:
                log.exception("a look at the workers was broken off")

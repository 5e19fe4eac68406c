"""A watchdog for hung turns: each keeps a thread, which can't be killed, and without threads a server stands still."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from weakref import WeakKeyDictionary

from playground.runs.queue.scheduler import Scheduler, Turn
from playground.runs.runtime import REAL, Runtime

log = logging.getLogger(__name__)
CHECK_PERIOD_S = 1.0  # seconds between two checks
PREPARE_FACTOR = 5  # times the timeout for a turn that also prepares: it reads data and builds tokenizers
TURN_FACTOR = 20  # times the run's longest turn so far, if that exceeds the timeout
DELETION_TIMEOUT_S, DELETION_FACTOR = 5.0, 5  # the same for a run that is being deleted


class Watchdog:
    """A thread that checks every turn periodically until closed. `lost` is called with each overdue turn, once its worker is replaced;
    `waits_for_disk` tells whether a thread waits for the disk, which is not a hang."""

    def __init__(
        self, schedulers: Iterable[Scheduler], seconds: float, waits_for_disk: Callable[[int], bool], lost: Callable[[Turn, float], object],
        runtime: Runtime = REAL,
    ) -> None:  # fmt: skip
        """`seconds` is the timeout of a step, unless the run's own have taken longer."""
        self._schedulers, self._seconds, self._waits_for_disk, self._lost = tuple(schedulers), seconds, waits_for_disk, lost
        self._last_disk_wait: WeakKeyDictionary[threading.Thread, float] = WeakKeyDictionary()  # when each thread last waited for the disk
        self._closing, self._clock = threading.Event(), runtime.monotonic
        self._thread = runtime.spawn(self._watch, "watchdog")

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def close(self) -> None:
        """Stops and joins the thread."""
        self._closing.set()
        self._thread.join()

    def timeout(self, turn: Turn) -> float:
        """Returns the turn's timeout in seconds."""
        if turn.longest and getattr(turn.job, "is_dropped", False):
            return max(min(DELETION_TIMEOUT_S, self._seconds), DELETION_FACTOR * turn.longest)
        return max(self._seconds * (1 if turn.longest else PREPARE_FACTOR), TURN_FACTOR * turn.longest)

    def check_turns(self) -> None:
        """Checks all turns once."""
        now = self._clock()
        for scheduler in self._schedulers:
            for turn in scheduler.replace(lambda turn: self._is_overdue(turn, now)):
                self._lost(turn, now - turn.began)

    def _is_overdue(self, turn: Turn, now: float) -> bool:
        if self._waits_for_disk(turn.thread.ident):
            self._last_disk_wait[turn.thread] = now
        return now - max(turn.began, self._last_disk_wait.get(turn.thread, 0.0)) > self.timeout(turn)

    def _watch(self) -> None:
        while not self._closing.wait(min(CHECK_PERIOD_S, self._seconds / 2)):
            try:
                self.check_turns()
            except BaseException:
                log.exception("a look at the workers was broken off")

"""Housekeeping: a background thread that stops idle runs, evicts old ones and frees memory."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from playground.logs import event, reason
from playground.runs.admission import Admission
from playground.runs.disk.store import Store
from playground.runs.heap import give_back
from playground.runs.limits import Limits
from playground.runs.loaded import LoadedRuns
from playground.runs.memory import Memory
from playground.runs.queue.workers import Workers
from playground.runs.retention import Retention
from playground.runs.run import Run
from playground.runs.runtime import REAL, Runtime

log = logging.getLogger(__name__)
TIDY_SECONDS = 10.0  # between two rounds


class Housekeeper:
    """A thread that runs its tasks periodically until closed."""

    def __init__(
        self, admission: Admission, workers: Workers, store: Store, limits: Limits, retention: Retention, memory: Memory,
        runtime: Runtime = REAL,
    ) -> None:  # fmt: skip
        self._admission, self._workers, self._store, self._limits, self._retention = admission, workers, store, limits, retention
        self._memory, self._loaded = memory, LoadedRuns(admission, store)
        memory.add("runs", self._loaded)
        self._closing, self._at_work = threading.Event(), set()
        self.full = False  # whether the last round found no room for another run
        self._others: list[Callable[[], object]] = []
        self._thread = runtime.spawn(self._go_rounds, "housekeeper")

    def close(self) -> None:
        """Stops and joins the thread after a last round of the added tasks, so that nothing pending is lost."""
        self._closing.set()
        self._thread.join()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def also(self, duty: Callable[[], object]) -> None:
        """Adds a task to each round and to the end."""
        self._others.append(duty)

    def stop_idle(self) -> None:
        """Stops idle runs that are paused or queued; each can be resumed. Runs that train check this themselves."""
        with self._admission.lock:  # so that none is resumed meanwhile
            idle = [run for run in self._admission.all() if run.unseen_seconds > self._limits.idle_seconds]
            paused, queued = ([run for run in idle if run.status == status] for status in ("paused", "queued"))
            for run in paused:
                run.say("stopped", self._limits.nobody_looked(run.step))
        for run in queued:
            self._workers.ask(run, "stop", self._limits.nobody_looked(run.step))
        self.note(paused)

    def note(self, stopped: Sequence[Run]) -> None:
        """Saves the status of stopped runs."""
        for run in stopped:
            try:
                self._store.note(run, "status", "message")
            except OSError as error:  # after a restart it is paused, and stopped once more
                event(log, "save_failed", logging.WARNING, run=run.id, name=run.name, error=reason(error))

    def free_memory(self) -> None:
        """Releases replays and weights of resting runs, least recently viewed first, then whatever exceeds the memory budget. Returns free
        pages to the system if anything was released or a run has ended; while the same runs train they stay, for reuse."""
        released = False
        while self._loaded.bytes > self._limits.bytes_loaded and self._loaded.oldest < math.inf:
            self._loaded.give_up()
            released = True
        self._memory.keep_within()
        if self._memory.used > self._memory.limit:  # although every share is empty
            self._workers.end_what_grows()
        self._workers.poke()
        before, self._at_work = self._at_work, {run.id for run in self._admission.all() if run.working}
        if released or before - self._at_work or not self._at_work:
            give_back()

    def retire(self) -> None:
        """Evicts overdue runs, except those viewed at this very moment."""
        for run in self._retention.overdue(self._admission.all()):
            if self._admission.leave(run, lambda run: self._workers.busy(run) or self._retention.stays(run)):
                event(log, "run_made_room", run=run.id, name=run.name, owner=run.owner)
                self._store.delete(run)
        self.full = self._retention.full(self._admission.all())

    def note_looks(self) -> None:
        """Saves when runs were last viewed, so that a restart doesn't age them."""
        for run in self._admission.all():
            if not (run.shipped or run.working):
                with suppress(OSError):  # retried in the next round
                    self._store.note_look(run)

    def write_waiting(self) -> None:
        """Retries final saves that failed."""
        for run in self._admission.all():
            if not run.working:
                with suppress(OSError):  # already logged
                    self._store.write_waiting(run)

    def go_round(self) -> None:
        """Runs all tasks once."""
        looks = self._store.disk.look, self._store.look_at_others
        _do(*looks, self.stop_idle, self.write_waiting, self.note_looks, self.retire, self.free_memory, *self._others)

    def _go_rounds(self) -> None:
        while not self._closing.wait(TIDY_SECONDS):
            self.go_round()
        _do(*self._others)


def _do(*duties: Callable[[], object]) -> None:
    """Runs all tasks, even if some fail."""
    for duty in duties:
        try:
            duty()
        except Exception:
            log.exception("a round was broken off")

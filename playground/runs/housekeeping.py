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
from playground.runs.heap import trim_heap
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
        self._closing, self._working_ids = threading.Event(), set()
        self.is_full = False  # whether the last round found no room for another run
        self._tasks: list[Callable[[], object]] = []
        self._thread = runtime.spawn(self._run, "housekeeper")

    def close(self) -> None:
        """Stops and joins the thread after a last round of the added tasks, so that nothing pending is lost."""
        self._closing.set()
        self._thread.join()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def add_task(self, duty: Callable[[], object]) -> None:
        """Adds a task to each round and to the end."""
        self._tasks.append(duty)

    def stop_idle(self) -> None:
        """Stops idle runs that are paused or queued; each can be resumed. Runs that train check this themselves."""
        with self._admission.lock:  # so that none is resumed meanwhile
            idle = [run for run in self._admission.all() if run.unseen_seconds > self._limits.idle_seconds]
            paused, queued = ([run for run in idle if run.status == status] for status in ("paused", "queued"))
            for run in paused:
                run.set_status("stopped", self._limits.idle_message(run.step))
        for run in queued:
            self._workers.ask(run, "stop", self._limits.idle_message(run.step))
        self.save_statuses(paused)

    def save_statuses(self, stopped: Sequence[Run]) -> None:
        """Saves the status of stopped runs."""
        for run in stopped:
            try:
                self._store.write_card(run, "status", "message")
            except OSError as error:  # after a restart it is paused, and stopped once more
                event(log, "save_failed", logging.WARNING, run=run.id, name=run.name, error=reason(error))

    def free_memory(self) -> None:
        """Releases replays and weights of resting runs, least recently viewed first, then whatever exceeds the memory budget. Returns free
        pages to the system if anything was released or a run has ended; while the same runs train they stay, for reuse."""
        released = False
        while self._loaded.bytes > self._limits.bytes_loaded and self._loaded.oldest < math.inf:
            self._loaded.evict_oldest()
            released = True
        self._memory.keep_within()
        if self._memory.used > self._memory.limit:  # although every share is empty
            self._workers.end_leaking_process()
        self._workers.wake_workers()
        before, self._working_ids = self._working_ids, {run.id for run in self._admission.all() if run.working}
        if released or before - self._working_ids or not self._working_ids:
            trim_heap()

    def evict_overdue(self) -> None:
        """Evicts overdue runs, except those viewed at this very moment."""
        for run in self._retention.find_evictable(self._admission.all()):
            if self._admission.remove(run, lambda run: self._workers.busy(run) or self._retention.is_protected(run)):
                event(log, "run_made_room", run=run.id, name=run.name, owner=run.owner)
                self._store.delete(run)
        self.is_full = self._retention.is_full(self._admission.all())

    def save_view_times(self) -> None:
        """Saves when runs were last viewed, so that a restart doesn't age them."""
        for run in self._admission.all():
            if not (run.shipped or run.working):
                with suppress(OSError):  # retried in the next round
                    self._store.save_view_time(run)

    def retry_saves(self) -> None:
        """Retries final saves that failed."""
        for run in self._admission.all():
            if not run.working:
                with suppress(OSError):  # already logged
                    self._store.retry_save(run)

    def run_round(self) -> None:
        """Runs all tasks once."""
        measurements = self._store.disk.check, self._store.measure_other_files
        _run_all(*measurements, self.stop_idle, self.retry_saves, self.save_view_times, self.evict_overdue, self.free_memory, *self._tasks)

    def _run(self) -> None:
        while not self._closing.wait(TIDY_SECONDS):
            self.run_round()
        _run_all(*self._tasks)


def _run_all(*duties: Callable[[], object]) -> None:
    """Runs all tasks, even if some fail."""
    for duty in duties:
        try:
            duty()
        except Exception:
            log.exception("a round was broken off")

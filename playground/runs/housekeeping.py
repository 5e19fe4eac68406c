"""Housekeeping: a background thread that stops idle runs, evicts old ones and frees memory.

Saved runs are evicted least recently viewed first, never shipped ones, those that wait, train or are paused, those shown in a room, and
those viewed just now. The link of a run that visitors other than its owner have opened may be anywhere, on a sheet or in a letter, and a
server can't know. Such a run is protected for `shared_days` after its last view; after that it is evicted like any other, or a visitor
could fill the server for ever by opening their own runs in a second browser.
"""

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from playground.config import Refusal
from playground.logs import event, reason
from playground.runs.admission import Admission
from playground.runs.disk.store import Store
from playground.runs.identity import owns
from playground.runs.limits import Limits
from playground.runs.memory import Memory, trim_heap
from playground.runs.queue.workers import Workers
from playground.runs.run import Run
from playground.runs.runtime import REAL, Loop, Runtime, now

log = logging.getLogger(__name__)
TIDY_SECONDS = 10.0  # between two rounds
DAY, HOUR = 86_400.0, 3_600.0
CROWDED = 0.9  # fraction of the runs or bytes above which owners are told which run goes next


@dataclass(frozen=True)
class DiskShare:
    """A visitor's disk usage, and the run to be evicted first."""

    count: int
    used: int  # bytes
    limit: int  # bytes
    next: Run | None  # the first to be evicted; None when all stay
    expires_at: float  # seconds since 1970: when it is evicted if no visitor opens it; inf: never, while there is room
    crowded: bool  # a new run may replace it at any time


class Retention:
    """The eviction policy, consulted before a run is created and by the housekeeper. Modifies nothing."""

    def __init__(
        self, limits: Limits, size: Callable[[Run], int], in_room: Callable[[Run], bool], clock: Callable[[], float] = now,
        other_bytes: Callable[[], int] = lambda: 0,
    ) -> None:  # fmt: skip
        """`size` returns a run's bytes on the disk, `in_room` whether a class depends on it, `other_bytes` those besides runs."""
        self._limits, self._size, self._in_room, self._clock, self._other_bytes = limits, size, in_room, clock, other_bytes

    @property
    def _most_bytes(self) -> int:
        """Bytes available to all runs."""
        return max(0, self._limits.bytes_kept - self._other_bytes())

    def is_protected(self, run: Run) -> bool:
        """Returns whether this run is protected from eviction now."""
        unseen = self._clock() - run.looked_at
        shared = run.visited and unseen < self._limits.shared_days * DAY
        return run.shipped or run.unfinished or shared or unseen < self._limits.recent_hours * HOUR or self._in_room(run)

    def admit(self, runs: Iterable[Run], new: Sequence[Run]) -> None:
        """Raises Refusal when no possible eviction makes room for the new runs, in their owners' share or on the server."""
        saved_runs = [run for run in runs if not run.shipped]
        for owner in {run.owner for run in new}:
            share = self._usage_after_eviction([run for run in saved_runs if run.owner == owner], len(saved_runs), self._limits.bytes_each)
            if share[1] >= self._limits.bytes_each:
                raise Refusal("runs.share_full", used=megabytes(share[1]), most=megabytes(self._limits.bytes_each))
        if staying := self._find_shortage(saved_runs, len(new)):
            count, used = staying
            raise Refusal("runs.server_full", count=count, used=megabytes(used), hours=f"{self._limits.recent_hours:g}")

    def is_full(self, runs: Iterable[Run]) -> bool:
        """Returns whether no run can be created even after every possible eviction."""
        return self._find_shortage([run for run in runs if not run.shipped], 1) is not None

    def find_evictable(self, runs: Iterable[Run]) -> list[Run]:
        """Returns the runs to evict: expired, then beyond their owner's share, then beyond the server's limits."""
        saved_runs = [run for run in runs if not run.shipped]
        evicted = [run for run in saved_runs if self._clock() >= self._expires(run) and not self.is_protected(run)]
        for owner in {run.owner for run in saved_runs}:
            left = [run for run in saved_runs if run.owner == owner and run not in evicted]
            evicted += self._choose_evicted(left, len(left), self._limits.bytes_each)
        return evicted + self._choose_evicted([run for run in saved_runs if run not in evicted], self._limits.runs_kept, self._most_bytes)

    def share(self, runs: Iterable[Run], token: str) -> DiskShare:
        """Returns the caller's disk usage, and which run is evicted first."""
        saved_runs = [run for run in runs if not run.shipped]
        owned_runs = [run for run in saved_runs if owns(run.owner, token)]
        used, most, all_used = sum(map(self._size, owned_runs)), self._limits.bytes_each, sum(map(self._size, saved_runs))
        crowded = used > CROWDED * most or all_used > CROWDED * self._most_bytes or len(saved_runs) > CROWDED * self._limits.runs_kept
        first = min((run for run in owned_runs if not self.is_protected(run)), key=lambda run: run.looked_at, default=None)
        expires_at = self._expires(first) if first else 0.0
        return DiskShare(len(owned_runs), used, most, first if crowded or expires_at < math.inf else None, expires_at, crowded)

    def _find_shortage(self, saved_runs: list[Run], new_count: int) -> tuple[int, int] | None:
        """Returns the (runs, bytes) left after every possible eviction if that leaves no room for the new runs, otherwise None."""
        count, used = self._usage_after_eviction(saved_runs, self._limits.runs_kept - new_count, self._most_bytes)
        return (count, used) if count + new_count > self._limits.runs_kept or used >= self._most_bytes else None

    def _expires(self, run: Run) -> float:
        return run.looked_at + self._limits.unseen_days * DAY

    def _choose_evicted(self, runs: list[Run], most: int, most_bytes: int) -> list[Run]:
        """Returns the runs to evict until both limits hold, as far as possible. Tests the protection of each only when its turn comes,
        since asking a room is slow."""
        count, size = len(runs), sum(map(self._size, runs))
        evicted = []
        for run in sorted(runs, key=lambda run: run.looked_at):
            if count <= most and size <= most_bytes:
                break
            if not self.is_protected(run):
                evicted.append(run)
                count, size = count - 1, size - self._size(run)
        return evicted

    def _usage_after_eviction(self, runs: list[Run], most: int, most_bytes: int) -> tuple[int, int]:
        """Returns the (runs, bytes) left after evicting down to the limits."""
        evicted = self._choose_evicted(runs, most, most_bytes - 1)
        return len(runs) - len(evicted), sum(map(self._size, runs)) - sum(map(self._size, evicted))


def megabytes(size: float) -> str:
    """Formats a size in MB, without the unit."""
    return f"{size / 1e6:,.1f}"


class LoadedRuns:
    """Replays and weights in memory of runs that do not train: a share of the memory, since all of it is on the disk. Watched runs stay."""

    def __init__(self, admission: Admission, store: Store) -> None:
        self._admission, self._store = admission, store

    @property
    def bytes(self) -> int:
        return sum(map(self._store.size, self._loaded()))

    @property
    def oldest(self) -> float:
        return min((run.seen_at for run in self._unseen()), default=math.inf)

    def evict_oldest(self) -> None:
        for run in sorted(self._unseen(), key=lambda run: run.seen_at)[:1]:
            run.release()

    def _loaded(self) -> list[Run]:
        return [run for run in self._admission.all() if not run.working and run.loaders and run.parts]

    def _unseen(self) -> list[Run]:
        return [run for run in self._loaded() if not run.watched]


class Housekeeper:
    """Runs its tasks periodically, in the thread `loop`, until closed."""

    def __init__(
        self, admission: Admission, workers: Workers, store: Store, limits: Limits, memory: Memory, runtime: Runtime = REAL
    ) -> None:
        self._admission, self._workers, self._store, self._limits = admission, workers, store, limits
        self.retention = Retention(
            limits, store.disk_size, lambda run: admission.rules.shared(run), runtime.date, lambda: store.other_bytes
        )
        self._memory, self._loaded = memory, LoadedRuns(admission, store)
        memory.add("runs", self._loaded)
        self._working_ids: set[str] = set()  # runs at work in the last round
        self.is_full = False  # whether the last round found no room for another run
        self._tasks: list[Callable[[], object]] = []
        self.loop = Loop(self.run_round, "housekeeper", TIDY_SECONDS, runtime)

    def close(self) -> None:
        """Stops and joins the thread, then runs the added tasks once more, so that nothing pending is lost."""
        self.loop.close()
        _run_all(*self._tasks)

    def add_task(self, duty: Callable[[], object]) -> None:
        """Adds a task to each round and to the end."""
        self._tasks.append(duty)

    def stop_idle(self) -> None:
        """Stops idle runs that are paused or queued; each can be resumed. Runs that train check this themselves."""
        with self._admission.lock:  # so that none is resumed meanwhile
            idle = [run for run in self._admission.all() if run.unseen_seconds > self._limits.idle_seconds]
            paused, queued = ([run for run in idle if run.status == status] for status in ("paused", "queued"))
            for run in paused:
                run.obey("stop", self._limits.idle_message(run.step))
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
        for run in self.retention.find_evictable(self._admission.all()):
            if self._admission.remove(run, lambda run: self._workers.busy(run) or self.retention.is_protected(run)):
                event(log, "run_made_room", run=run.id, name=run.name, owner=run.owner)
                self._store.delete(run)
        self.is_full = self.retention.is_full(self._admission.all())

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


def _run_all(*duties: Callable[[], object]) -> None:
    """Runs all tasks, even if some fail."""
    for duty in duties:
        try:
            duty()
        except Exception:
            log.exception("a round was broken off")

"""Turns on the cores: who trains next, and on how many of them.

A job says how many cores it can use. It gets them while nobody else waits for a turn, and one as soon as somebody does: that serves a
class best, and a run's numbers are the same either way. Turns go to the owner who has had the least, then to that owner's run that has had
the least. Jobs whose memory doesn't fit beside the others wait, first come first.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable
from typing import Protocol

from playground.runs.queue.parallel import Helpers, ParallelMap

log = logging.getLogger(__name__)
RECOVERY_S = 1.0  # seconds until a worker tries again after an error that is not a job's


class Job(Protocol):
    """What is given turns. `urgent` jobs only have something to put away: they go first and need no core."""

    key: Hashable  # two jobs with the same key never run at once
    lane: Hashable | None  # nor do two with the same lane, if they have one: a process that trains one of them at a time
    owner: str
    cores: int  # the most it can use
    bytes: int
    urgent: bool
    place: int  # written here: its place in the queue for memory, 0 when it has turns

    def turn(self, seconds: float, parallel_map: ParallelMap) -> bool:
        """Works for about so long; `parallel_map` is a `map` over the cores of this turn. Returns whether it wants another."""


class Scheduler:
    """Worker threads over a set of jobs."""

    def __init__(self, cores: int, memory: int, turn_seconds: float = 0.1, warm_up: Callable[[], object] | None = None) -> None:
        self.cores, self.memory, self.turn_seconds, self._warm_up = cores, memory, turn_seconds, warm_up
        self._changed = threading.Condition()
        self._waiting: list[Job] = []  # for memory
        self._jobs: list[Job] = []  # with turns, in order of arrival
        self._running: set[Job] = set()
        self._job_used: dict[Job, float] = {}  # core seconds
        self._owner_used: dict[str, float] = {}
        self._free, self._closing, self._helpers = cores, False, Helpers(cores - 1)
        self._threads = [threading.Thread(target=self._work, name=f"worker-{n}", daemon=True) for n in range(cores)]
        for thread in self._threads:
            thread.start()

    def add(self, job: Job) -> None:
        """The job gets turns as soon as there is memory for it."""
        with self._changed:
            self._waiting.append(job)
            self._let_in()
            self._changed.notify_all()

    def poke(self) -> None:
        """A job has become urgent."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """No new turns; returns when the present ones are over and every thread is gone. Jobs stay where they were."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()
        self._helpers.close()

    def _let_in(self) -> None:
        """First come, first served: the next in the queue joins when its memory fits beside those who train, or when it is alone."""
        while self._waiting:
            job = self._waiting[0]
            if self._jobs and job.bytes + sum(other.bytes for other in self._jobs) > self.memory:
                break
            self._waiting.pop(0)
            self._job_used[job] = min((self._job_used[other] for other in self._jobs if other.owner == job.owner), default=0.0)
            # who comes back starts level with the others: time not taken is not saved up
            floor = min((self._owner_used[other.owner] for other in self._jobs), default=0.0)
            self._owner_used[job.owner] = max(self._owner_used.get(job.owner, floor), floor)
            self._jobs.append(job)
            job.place = 0
        for place, job in enumerate(self._waiting, 1):
            job.place = place

    def _next(self) -> tuple[Job, int] | None:
        """(job, cores) of the turn that is due; None when there is none, or no core is free for it."""
        busy, lanes = {job.key for job in self._running}, {job.lane for job in self._running} - {None}
        ready = [job for job in (*self._jobs, *self._waiting) if job.key not in busy and job.lane not in lanes]
        for job in ready:
            if job.urgent:
                return job, 0
        due = sorted((job for job in ready if job in self._job_used), key=self._had)
        if not due or not self._free:
            return None
        return due[0], 1 if len(due) > 1 else min(due[0].cores, self._free)

    def _had(self, job: Job) -> tuple[float, float]:
        return self._owner_used[job.owner], self._job_used[job]

    def _work(self) -> None:
        """A worker's life: it ends when the scheduler is closed and for no other reason."""
        try:
            if self._warm_up:
                self._warm_up()
        except BaseException:  # whoever trains will say what is wrong, to whom it belongs
            log.exception("the warm-up failed")
        while not self._closing:
            try:
                self._give_turn()
            except BaseException:
                log.exception("a turn could not be given")
                with self._changed:
                    self._changed.wait(RECOVERY_S)

    def _give_turn(self) -> None:
        """Waits for the turn that is due, and gives it. Returns without one when the scheduler is closed."""
        with self._changed:
            self._let_in()  # whom an error may have left out
            while not self._closing and (turn := self._next()) is None:
                self._changed.wait()
            if self._closing:
                return
            job, cores = turn
            self._charge(job, cores * self.turn_seconds)  # at once, so that the other workers see it
            self._running.add(job)
            self._free -= cores
        started, more = time.perf_counter(), False
        try:
            more = job.turn(self.turn_seconds, self._helpers.parallel_map(cores))
        except BaseException:  # a job handles what can go wrong in it; a worker must outlive what can't
            log.exception("a job broke off")
        with self._changed:
            self._running.discard(job)
            self._free += cores
            self._changed.notify_all()
            try:
                self._charge(job, cores * (time.perf_counter() - started - self.turn_seconds))
            finally:
                if not more:
                    self._leave(job)

    def _charge(self, job: Job, seconds: float) -> None:
        if job in self._job_used:
            self._job_used[job] += seconds
            self._owner_used[job.owner] += seconds

    def _leave(self, job: Job) -> None:
        for jobs in (self._jobs, self._waiting):
            if job in jobs:
                jobs.remove(job)
        self._job_used.pop(job, None)
        if not any(other.owner == job.owner for other in self._jobs):
            self._owner_used.pop(job.owner, None)
        self._let_in()

"""Turns on the cores: who trains next, and on how many of them.

A job says how many cores it can use. It gets them while nobody else waits for a turn, and one as soon as somebody does: that serves a
class best, and a run's numbers are the same either way. Jobs whose memory doesn't fit beside the others wait, first come first.

Of the owners who have had LEAD_S core seconds more than another at most, turns go to the job that is nearest to its end: of thirty equal
ones half have ended well before the time is over, and the last is no later than if all had ended together. Every FAIR-th turn goes to
the owner who has had the least, then to that owner's run that has had the least: so all are seen to move, and none waits for ever.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Hashable
from typing import NamedTuple, Protocol

from playground.logs import event
from playground.runs.queue.parallel import Helpers, ParallelMap
from playground.runs.runtime import REAL, Runtime

log = logging.getLogger(__name__)
LEAD_S, FAIR = 10.0, 4
RECOVERY_S = 1.0  # seconds until a worker tries again after an error that is not a job's
CROWD = 15  # processes elsewhere, whose answers to short turns take half of this one's interpreter: with more of them turns are longer


class Job(Protocol):
    """What is given turns. `urgent` jobs only have something to put away: they go first and need no core."""

    key: Hashable  # two jobs with the same key never run at once
    lane: Hashable | None  # nor do two with the same lane, if they have one: a process that trains one of them at a time
    owner: str
    node: Hashable | None  # another machine, where it takes its cores and its memory; None: this one
    cores: int  # the most it can use
    bytes: int
    urgent: bool
    left: float  # seconds of training until its end, as far as is known; inf before its first step
    place: int  # written here: its place in the queue for memory, 0 when it has turns

    def turn(self, seconds: float, parallel_map: ParallelMap) -> bool:
        """Works for about so long; `parallel_map` is a `map` over the cores of this turn. Returns whether it wants another."""


class Turn(NamedTuple):
    """What a worker is doing. `longest` is the longest turn that the job has had before, in seconds; 0 at its first."""

    job: Job
    cores: int
    thread: threading.Thread
    began: float  # Runtime.monotonic()
    longest: float


class Scheduler:
    """Worker threads over a set of jobs. A thread can't be killed: one that doesn't come back from a turn is replaced, see `replace`."""

    def __init__(
        self, cores: int, memory: int, turn_seconds: float = 0.1, warm_up: Callable[[], object] | None = None,
        unaccounted: Callable[[], int] = int, room: Callable[[Hashable], float] = lambda node: math.inf, runtime: Runtime = REAL,
    ) -> None:  # fmt: skip
        """`unaccounted` says how much of the `memory` is taken by what is no job, `room` how many bytes another machine has for jobs."""
        self.cores, self.memory, self.turn_seconds, self._warm_up, self._unaccounted = cores, memory, turn_seconds, warm_up, unaccounted
        self._room, self._runtime = room, runtime
        self._changed = threading.Condition()
        self._waiting: list[Job] = []  # for memory
        self._jobs: list[Job] = []  # with turns, in order of arrival
        self._turns: list[Turn] = []
        self._lost: list[Turn] = []  # that have not ended, and whose thread was replaced
        self._longest: dict[Job, float] = {}
        self._job_used: dict[Job, float] = {}  # core seconds
        self._owner_used: dict[str, float] = {}
        self._given = 0  # turns, so far
        self._free, self._closing, self._helpers = cores, False, Helpers(cores - 1)
        self._far_seconds = turn_seconds
        self.replaced = 0  # threads, so far
        self._threads = [self._started(number) for number in range(cores)]

    def _started(self, number: int) -> threading.Thread:
        return self._runtime.spawn(self._work, f"worker-{number}")

    def grow(self, elsewhere: int) -> None:
        """So many jobs may have turns on other machines at once, if not more already. Each turn there ends with an answer that is read
        here: a crowd has turns that are as much longer as it is larger."""
        with self._changed:
            self._far_seconds = self.turn_seconds * max(1.0, elsewhere / CROWD)
            if not self._closing:
                self._threads += [self._started(number) for number in range(len(self._threads), self.cores + elsewhere)]

    def add(self, job: Job) -> None:
        """The job gets turns as soon as there is memory for it."""
        with self._changed:
            self._waiting.append(job)
            self._let_in()
            self._changed.notify_all()

    def poke(self) -> None:
        """A job has become urgent, or there is more memory."""
        with self._changed:
            self._let_in()
            self._changed.notify_all()

    @property
    def reserved(self) -> int:
        """Bytes here of the jobs that have turns, and of those that were lost and have not let go yet."""
        return self._taken(None)

    def count(self) -> dict[str, int]:
        """Of jobs those "training" and "waiting"; of workers those "alive", "replaced" so far, and "lost" in a turn that has not ended."""
        threads = {"alive": sum(thread.is_alive() for thread in self._threads), "replaced": self.replaced, "lost": len(self._lost)}
        return {"training": len(self._jobs), "waiting": len(self._waiting), **threads}

    def replace(self, is_overdue: Callable[[Turn], bool]) -> list[Turn]:
        """Puts a new worker in the place of each that is dead, or whose turn is overdue. Such a turn's job is out; it is returned, and what
        it comes to, if ever, is nobody's business any more."""
        with self._changed:
            if self._closing:
                return []
            over = [turn for turn in self._turns if not turn.thread.is_alive() or is_overdue(turn)]
            for turn in over:
                self._turns.remove(turn)
                self._free += turn.cores
                if turn.cores > 1:  # one of them may be what doesn't come back
                    self._helpers.leave()
                    self._helpers = Helpers(self.cores - 1)
                if turn.thread.is_alive():
                    self._lost.append(turn)
                self._leave(turn.job)
            lost = [turn.thread for turn in self._lost]
            for number, thread in enumerate(self._threads):
                if thread in lost or not thread.is_alive():
                    event(log, "worker_replaced", logging.ERROR, worker=thread.name, came_to="hang" if thread in lost else "end")
                    self._threads[number] = self._started(number)
                    self.replaced += 1
            self._changed.notify_all()
            return over

    def close(self, seconds: float = math.inf) -> list[Job]:
        """No new turns; returns when the present ones are over and every thread is gone, or after so many seconds, with the jobs that still
        have a turn. The others stay where they were."""
        clock = self._runtime.monotonic
        until = clock() + seconds
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(None if until == math.inf else max(0.0, until - clock()))
        if self._turns or self._lost:
            self._helpers.leave()
        else:
            self._helpers.close()
        return [turn.job for turn in self._turns]

    def _let_in(self) -> None:
        """First come, first served: the next in the queue joins when its memory fits beside those who train, or when it is alone."""
        while self._waiting:
            job = self._waiting[0]
            if self._jobs and not self._fits(job):
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

    def _fits(self, job: Job) -> bool:
        if job.node is None:
            return job.bytes + self.reserved + self._unaccounted() <= self.memory
        there = job.bytes + self._taken(job.node) <= self._room(job.node)
        return there and self.reserved + self._unaccounted() <= self.memory  # what a run shows is here in any case

    def _taken(self, node: Hashable | None) -> int:
        return sum(job.bytes for job in (*self._jobs, *(turn.job for turn in self._lost)) if job.node == node)

    def _next(self) -> tuple[Job, int] | None:
        """(job, cores of this machine) of the turn that is due; None when there is none, or no core is free for it."""
        busy, lanes = {turn.job.key for turn in self._turns}, {turn.job.lane for turn in self._turns} - {None}
        ready = [job for job in (*self._jobs, *self._waiting) if job.key not in busy and job.lane not in lanes]
        for job in ready:
            if job.urgent:
                return job, 0
        due = sorted((job for job in ready if job in self._job_used), key=self._order())
        here = [job for job in due if job.node is None]
        for job in due:
            if job.node is not None:
                return job, 0
            if self._free:
                return job, 1 if len(here) > 1 else min(job.cores, self._free)
        return None

    def _had(self, job: Job) -> tuple[float, float]:
        return self._owner_used[job.owner], self._job_used[job]

    def _order(self) -> Callable[[Job], tuple]:
        """What the next turn goes by: who has had least, or else who is nearest to the end of those whose owner has not had far more."""
        if self._given % FAIR == 0:
            return self._had
        most = min((self._owner_used[job.owner] for job in self._jobs), default=0.0) + LEAD_S
        return lambda job: (self._owner_used[job.owner] > most, job.left, self._had(job))

    def _work(self) -> None:
        """A worker's life: it ends when the scheduler is closed, or when another has its place."""
        try:
            if self._warm_up:
                self._warm_up()
        except BaseException:  # whoever trains will say what is wrong, to whom it belongs
            log.exception("the warm-up failed")
        mine = True
        while mine and not self._closing:
            try:
                mine = self.give_turn()
            except BaseException:
                log.exception("a turn could not be given")
                with self._changed:
                    self._changed.wait(RECOVERY_S)

    def give_turn(self, blocking: bool = True) -> bool:
        """Gives the turn that is due in the thread that calls; waits for it if `blocking`, and does without one when the scheduler is
        closed. Returns whether this thread still has its place, or where it doesn't wait, whether a turn was due."""
        with self._changed:
            self._let_in()  # whom an error may have left out
            while not self._closing and (due := self._next()) is None:
                if not blocking:
                    return False
                self._changed.wait()
            if self._closing:
                return blocking
            job, cores = due
            seconds = self.turn_seconds if job.node is None else self._far_seconds
            self._charge(job, max(cores, 1) * seconds)  # at once, so that the other workers see it
            turn = Turn(job, cores, threading.current_thread(), self._runtime.monotonic(), self._longest.get(job, 0.0))
            self._turns.append(turn)
            self._given += 1
            self._free -= cores
        more = False
        try:
            more = job.turn(seconds, self._helpers.parallel_map(cores))
        except BaseException:  # a job handles what can go wrong in it; a worker must outlive what can't
            log.exception("a job broke off")
        with self._changed:
            self._changed.notify_all()
            if turn in self._lost:
                self._lost.remove(turn)
                self._let_in()
                return False
            self._turns.remove(turn)
            self._free += cores
            try:
                took = self._runtime.monotonic() - turn.began
                self._longest[job] = max(turn.longest, took)
                self._charge(job, max(cores, 1) * (took - seconds))
            finally:
                if not more:
                    self._leave(job)
        return True

    def _charge(self, job: Job, seconds: float) -> None:
        if job in self._job_used:
            self._job_used[job] += seconds
            self._owner_used[job.owner] += seconds

    def _leave(self, job: Job) -> None:
        for jobs in (self._jobs, self._waiting):
            if job in jobs:
                jobs.remove(job)
        for known in (self._job_used, self._longest):
            known.pop(job, None)
        least = min((self._owner_used[other.owner] for other in self._jobs), default=math.inf)
        here = {other.owner for other in self._jobs}  # others are remembered while they are ahead, and may come back
        self._owner_used = {owner: used for owner, used in self._owner_used.items() if owner in here or used > least}
        self._let_in()

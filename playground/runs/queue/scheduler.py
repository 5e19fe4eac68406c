"""Fair scheduling of time slices: which run trains next, and on how many cores.

A job gets all the cores it can use while no other waits, otherwise one: that serves a class best, and results are the same either way. Jobs
whose memory doesn't fit wait, first come first served.

Among owners with at most LEAD_S core seconds more than the least served, the shortest remaining job goes first: of thirty equal jobs half
end well before the total time is over, and the last is no later than with equal shares. Every FAIR_EVERY-th turn goes to the least-served
owner's least-served run: so all make visible progress, and none starves.
"""

import logging
import math
import threading
from collections.abc import Callable, Hashable
from typing import NamedTuple, Protocol

from playground.logs import event
from playground.runs.queue.parallel import Helpers, ParallelMap
from playground.runs.runtime import REAL, Runtime

log = logging.getLogger(__name__)
LEAD_S, FAIR_EVERY = 10.0, 4
RECOVERY_S = 1.0  # seconds until a worker retries after an error outside a job
REMOTE_CROWD = 15  # remote processes whose replies to short turns take half of this interpreter: beyond that turns are longer


class Job(Protocol):
    """The scheduler's unit of work. `urgent` jobs only have to save or close: they go first and need no core."""

    key: Hashable  # jobs with the same key never run at once
    lane: Hashable | None  # nor do jobs with the same lane, if not None: a process that trains one of them at a time
    owner: str
    node: Hashable | None  # the machine whose cores and memory it uses; None: this one
    cores: int  # the maximum it can use
    bytes: int
    urgent: bool
    left: float  # estimated training seconds until its end; inf before its first step
    place: int  # set by the scheduler: its position in the queue for memory, 0 when it has turns

    def turn(self, seconds: float, parallel_map: ParallelMap) -> bool:
        """Works for about `seconds`; `parallel_map` is a `map` over the turn's cores. Returns whether another turn is needed."""


class Turn(NamedTuple):
    """A turn in progress. `longest` is the job's longest turn so far in seconds; 0 at its first."""

    job: Job
    cores: int
    thread: threading.Thread
    began: float  # Runtime.monotonic()
    longest: float


class Scheduler:
    """Worker threads over a set of jobs. A hung thread can't be killed; it is replaced, see `replace`."""

    def __init__(
        self, cores: int, memory: int, turn_seconds: float = 0.1, warm_up: Callable[[], object] | None = None,
        unaccounted: Callable[[], int] = int, capacity: Callable[[Hashable], float] = lambda node: math.inf, runtime: Runtime = REAL,
    ) -> None:  # fmt: skip
        """`unaccounted` returns the bytes of `memory` used by anything but jobs, `capacity` another machine's bytes for jobs."""
        self.cores, self.memory, self.turn_seconds, self._warm_up, self._unaccounted = cores, memory, turn_seconds, warm_up, unaccounted
        self._capacity, self._runtime = capacity, runtime
        self._changed = threading.Condition()
        self._waiting: list[Job] = []  # for memory
        self._jobs: list[Job] = []  # with turns, in order of arrival
        self._turns: list[Turn] = []
        self._lost: list[Turn] = []  # hung, with a replaced thread
        self._longest: dict[Job, float] = {}
        self._job_used: dict[Job, float] = {}  # core seconds
        self._owner_used: dict[str, float] = {}
        self._turn_count = 0  # turns so far
        self._free, self._closing, self._helpers = cores, False, Helpers(cores - 1)
        self._remote_turn_seconds = turn_seconds
        self.replaced = 0  # threads so far
        self._threads = [self._start_worker(number) for number in range(cores)]

    def _start_worker(self, number: int) -> threading.Thread:
        return self._runtime.spawn(self._work, f"worker-{number}")

    def grow(self, elsewhere: int) -> None:
        """Starts a worker thread for each of `elsewhere` more turns on other machines, as each waits for a reply. This interpreter reads
        the replies, so turns lengthen with their number."""
        with self._changed:
            self._remote_turn_seconds = self.turn_seconds * max(1.0, elsewhere / REMOTE_CROWD)
            if not self._closing:
                self._threads += [self._start_worker(number) for number in range(len(self._threads), self.cores + elsewhere)]

    def add(self, job: Job) -> None:
        """Adds a job; it gets turns once there is memory for it."""
        with self._changed:
            self._waiting.append(job)
            self._admit_waiting()
            self._changed.notify_all()

    def wake(self) -> None:
        """Wakes the workers: a job has become urgent, or memory has been freed."""
        with self._changed:
            self._admit_waiting()
            self._changed.notify_all()

    @property
    def reserved(self) -> int:
        """Bytes of this machine reserved by jobs with turns, and by hung ones that haven't released theirs."""
        return self._reserved_on(None)

    def count(self) -> dict[str, int]:
        """Returns the jobs "training" and "waiting", and the workers "alive", "replaced" so far, and "lost" in a hung turn."""
        threads = {"alive": sum(thread.is_alive() for thread in self._threads), "replaced": self.replaced, "lost": len(self._lost)}
        return {"training": len(self._jobs), "waiting": len(self._waiting), **threads}

    def replace(self, is_overdue: Callable[[Turn], bool]) -> list[Turn]:
        """Replaces workers that are dead or whose turn is overdue. Removes their jobs and returns the turns; a late result is ignored."""
        with self._changed:
            if self._closing:
                return []
            over = [turn for turn in self._turns if not turn.thread.is_alive() or is_overdue(turn)]
            for turn in over:
                self._turns.remove(turn)
                self._free += turn.cores
                if turn.cores > 1:  # a helper thread may be the one that hangs
                    self._helpers.abandon()
                    self._helpers = Helpers(self.cores - 1)
                if turn.thread.is_alive():
                    self._lost.append(turn)
                self._remove(turn.job)
            lost = [turn.thread for turn in self._lost]
            for number, thread in enumerate(self._threads):
                if thread in lost or not thread.is_alive():
                    event(log, "worker_replaced", logging.ERROR, worker=thread.name, came_to="hang" if thread in lost else "end")
                    self._threads[number] = self._start_worker(number)
                    self.replaced += 1
            self._changed.notify_all()
            return over

    def close(self, seconds: float = math.inf) -> list[Job]:
        """Stops giving turns; waits for the present ones and joins the threads, or times out after `seconds` and returns the jobs that
        still have a turn."""
        clock = self._runtime.monotonic
        until = clock() + seconds
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(None if until == math.inf else max(0.0, until - clock()))
        if self._turns or self._lost:
            self._helpers.abandon()
        else:
            self._helpers.close()
        return [turn.job for turn in self._turns]

    def _admit_waiting(self) -> None:
        """Admits waiting jobs, first come first served, while their memory fits or no other job has turns."""
        while self._waiting:
            job = self._waiting[0]
            if self._jobs and not self._fits(job):
                break
            self._waiting.pop(0)
            self._job_used[job] = min((self._job_used[other] for other in self._jobs if other.owner == job.owner), default=0.0)
            # a returning owner starts level with the others: unused time is not saved up
            floor = min((self._owner_used[other.owner] for other in self._jobs), default=0.0)
            self._owner_used[job.owner] = max(self._owner_used.get(job.owner, floor), floor)
            self._jobs.append(job)
            job.place = 0
        for place, job in enumerate(self._waiting, 1):
            job.place = place

    def _fits(self, job: Job) -> bool:
        if job.node is None:
            return job.bytes + self.reserved + self._unaccounted() <= self.memory
        fits_node = job.bytes + self._reserved_on(job.node) <= self._capacity(job.node)
        return fits_node and self.reserved + self._unaccounted() <= self.memory  # a remote run's snapshots are held here in any case

    def _reserved_on(self, node: Hashable | None) -> int:
        return sum(job.bytes for job in (*self._jobs, *(turn.job for turn in self._lost)) if job.node == node)

    def _next(self) -> tuple[Job, int] | None:
        """Returns (job, cores of this machine) of the next turn; None when there is none, or no core is free."""
        busy, lanes = {turn.job.key for turn in self._turns}, {turn.job.lane for turn in self._turns} - {None}
        ready = [job for job in (*self._jobs, *self._waiting) if job.key not in busy and job.lane not in lanes]
        for job in ready:
            if job.urgent:
                return job, 0
        due = sorted((job for job in ready if job in self._job_used), key=self._turn_key())
        local_jobs = [job for job in due if job.node is None]
        for job in due:
            if job.node is not None:
                return job, 0
            if self._free:
                return job, 1 if len(local_jobs) > 1 else min(job.cores, self._free)
        return None

    def _used_seconds(self, job: Job) -> tuple[float, float]:
        return self._owner_used[job.owner], self._job_used[job]

    def _turn_key(self) -> Callable[[Job], tuple]:
        """Returns the sort key of the next turn: least served first, or shortest remaining first among owners who are not far ahead."""
        if self._turn_count % FAIR_EVERY == 0:
            return self._used_seconds
        most = min((self._owner_used[job.owner] for job in self._jobs), default=0.0) + LEAD_S
        return lambda job: (self._owner_used[job.owner] > most, job.left, self._used_seconds(job))

    def _work(self) -> None:
        """Runs a worker until the scheduler is closed or the thread is replaced."""
        try:
            if self._warm_up:
                self._warm_up()
        except BaseException:  # the first training will report it to its owner
            log.exception("the warm-up failed")
        is_worker = True
        while is_worker and not self._closing:
            try:
                is_worker = self.give_turn()
            except BaseException:
                log.exception("a turn could not be given")
                with self._changed:
                    self._changed.wait(RECOVERY_S)

    def give_turn(self, blocking: bool = True) -> bool:
        """Gives the next turn in the calling thread, waiting for one if `blocking`. Returns whether this thread is still a worker, or, if
        not blocking, whether there was a turn."""
        with self._changed:
            self._admit_waiting()  # admits jobs skipped by an earlier error
            while not self._closing and (due := self._next()) is None:
                if not blocking:
                    return False
                self._changed.wait()
            if self._closing:
                return blocking
            job, cores = due
            seconds = self.turn_seconds if job.node is None else self._remote_turn_seconds
            self._charge(job, max(cores, 1) * seconds)  # in advance, so that other workers take it into account
            turn = Turn(job, cores, threading.current_thread(), self._runtime.monotonic(), self._longest.get(job, 0.0))
            self._turns.append(turn)
            self._turn_count += 1
            self._free -= cores
        continues = False
        try:
            continues = job.turn(seconds, self._helpers.parallel_map(cores))
        except BaseException:  # jobs handle their own errors; a worker must survive any other
            log.exception("a job broke off")
        with self._changed:
            self._changed.notify_all()
            if turn in self._lost:
                self._lost.remove(turn)
                self._admit_waiting()
                return False
            self._turns.remove(turn)
            self._free += cores
            try:
                took = self._runtime.monotonic() - turn.began
                self._longest[job] = max(turn.longest, took)
                self._charge(job, max(cores, 1) * (took - seconds))
            finally:
                if not continues:
                    self._remove(job)
        return True

    def _charge(self, job: Job, seconds: float) -> None:
        if job in self._job_used:
            self._job_used[job] += seconds
            self._owner_used[job.owner] += seconds

    def _remove(self, job: Job) -> None:
        for jobs in (self._jobs, self._waiting):
            if job in jobs:
                jobs.remove(job)
        for table in (self._job_used, self._longest):
            table.pop(job, None)
        least = min((self._owner_used[other.owner] for other in self._jobs), default=math.inf)
        present_owners = {other.owner for other in self._jobs}  # absent owners are remembered while they are ahead, as they may return
        self._owner_used = {owner: used for owner, used in self._owner_used.items() if owner in present_owners or used > least}
        self._admit_waiting()

"""Data parallelism: the parts of one batch on several cores, and a thread pool for readers.

Torch can share a single matrix product among threads, but at these sizes they wait for each other more than they compute. Parts of a batch
are independent until the end.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent import futures
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

import torch

from playground.logs import event
from playground.runs.memory import LRU
from playground.runs.runtime import Clock

log = logging.getLogger(__name__)
HUNG_FRACTION = 0.5  # fraction of the timeout after which a running thread counts as hung; a request that waited longer was only queued
LONG_S = 0.05  # a request that has run for so long no longer keeps the next one waiting
DEADLINE_FACTOR = 50  # a request yields to later, shorter ones for at most this many times its own cost
MAX_COSTS, LATEST_WEIGHT = 1_000, 0.2  # kinds of requests with a known cost, and the weight of the newest one in the moving average
ParallelMap = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


def map_in_processes(
    work: Callable[[Any], Any], count: int, prepare: Callable[..., None], arguments: tuple[Any, ...], inputs: Iterable[Any]
) -> Iterator[Any]:
    """Yields work(input) in order, computed in `count` new processes, each of which first calls prepare(*arguments)."""
    with ProcessPoolExecutor(count, get_context("spawn"), prepare, arguments) as pool:
        yield from pool.map(work, inputs)


class Helpers:
    """Helper threads for turns on more than one core."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, "helper", initializer=lambda: torch.set_num_threads(1)) if count else None

    def parallel_map(self, cores: int) -> ParallelMap:
        """Returns a `map` over `cores` cores, the caller's included. Results are in order; errors are raised once all parts have ended."""
        if cores < 2 or self._pool is None:
            return map

        def run_in_parallel(work: Callable[[Any], Any], inputs: Iterable[Any]) -> list[Any]:
            inputs = list(inputs)
            shares = [range(first, len(inputs), cores) for first in range(min(cores, len(inputs)))]
            pending = [self._pool.submit(lambda share: [work(inputs[n]) for n in share], share) for share in shares[1:]]
            try:
                results = [[work(inputs[n]) for n in shares[0]]] if shares else []
            finally:
                wait(pending)
            results += [future.result() for future in pending]
            return [results[n % cores][n // cores] for n in range(len(inputs))]

        run_in_parallel.cores = cores  # for engines that send the work to another process
        return run_in_parallel

    def close(self) -> None:
        """Stops and joins the threads."""
        if self._pool:
            self._pool.shutdown()

    def abandon(self) -> None:
        """Stops the threads without waiting: one of them may hang."""
        if self._pool:
            self._pool.shutdown(wait=False)

    def __enter__(self) -> Helpers:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


class _Request:
    """A request to the reader threads, with its arrival time. `callers` wait for its answer, which is the same to all."""

    def __init__(self, work: Callable[[], Any], kind: Hashable, arrival: float, key: Hashable) -> None:
        self.work, self.kind, self.arrival, self.key = work, kind, arrival, key
        self.answer, self.seconds, self.callers = Future(), 0.0, 0


class ReaderThreads:
    """A thread pool that bounds the cores used by all requests to models. Hung threads can't be killed; they are abandoned and replaced.

    Two threads of many small operations hand Python's lock to and fro at each: together they take 1.7 times as long as one after the other
    and three times the processor time. So a request waits for the one that runs, unless that one is long.

    Shortest job first, so that a viewer doesn't wait behind a class that translates. To prevent starvation, a request's deadline is its
    arrival plus DEADLINE_FACTOR times the cost of its kind.
    """

    def __init__(self, count: int, clock: Clock = time.monotonic) -> None:
        self._count, self._lock, self._clock = count, threading.Lock(), clock
        self._waiting: list[_Request] = []
        self._unanswered: dict[Hashable, _Request] = {}  # by key
        self._costs = LRU(most=MAX_COSTS)  # moving average of processor seconds, by kind
        self._local = threading.local()
        self._short, self._short_since = threading.Lock(), 0.0  # held by the request that others wait for, since then
        self._pool = self._create_pool()
        self._start_times: dict[object, float] = {}  # start times of running requests
        self._lost: set[object] = set()  # of these, those whose threads were replaced

    @property
    def lost(self) -> int:
        """The number of replaced threads that are still running."""
        return len(self._lost)

    @property
    def seconds(self) -> float:
        """Processor time of the calling thread and of its requests so far."""
        return time.thread_time() + getattr(self._local, "seconds", 0.0)

    def ask(self, work: Callable[[], Any], seconds: float, kind: Hashable = None, key: Hashable = None) -> Any:
        """Runs `work` in the pool; returns its result or raises its error. Requests of one `kind` cost about the same; those of one `key`,
        unless None, have the same answer, and share one thread while the first of them is unanswered. Raises TimeoutError after `seconds`;
        work not started by then is cancelled."""
        request = _Request(work, kind, getattr(self._local, "arrival", None) or self._clock(), object() if key is None else key)
        with self._lock:
            if (first := self._unanswered.setdefault(request.key, request)) is request:
                self._waiting.append(request)
                self._pool.submit(self._run_next)
            first.arrival = min(first.arrival, request.arrival)
            first.callers += 1
        try:
            return first.answer.result(seconds)
        except futures.TimeoutError as error:  # distinct from Python's own before 3.11
            with self._lock:
                first.callers -= 1
                if not first.callers and first.answer.cancel():
                    self._unanswered.pop(first.key, None)
            self._replace_hung(HUNG_FRACTION * seconds)
            raise TimeoutError from error
        finally:
            self._local.seconds = getattr(self._local, "seconds", 0.0) + request.seconds

    @contextmanager
    def shared_deadline(self, postponement: float = 0.0) -> Iterator[None]:
        """Gives all requests of the calling thread the deadline of the first, so that a multi-part response queues only once.
        `postponement` in seconds lets others go first."""
        self._local.arrival = self._clock() + postponement
        try:
            yield
        finally:
            self._local.arrival = None

    def close(self) -> None:
        """Joins every thread but hung ones. Pending requests are cancelled."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for request in self._waiting:
            request.answer.cancel()

    def _run_next(self) -> None:
        """Runs a pending request once no other runs, or once that one is long."""
        alone = self._short.acquire(timeout=max(0.0, self._short_since + LONG_S - self._clock()))
        try:
            if alone:
                self._short_since = self._clock()
            self._run_first()
        finally:
            if alone:
                self._short.release()

    def _run_first(self) -> None:
        """Runs the pending request with the earliest deadline, by the present cost estimate of its kind."""

        def deadline(request: _Request) -> float:
            return request.arrival + DEADLINE_FACTOR * (self._costs.get(request.kind) or 0.0)

        with self._lock:
            request = min(self._waiting, key=deadline, default=None)
            if request:
                self._waiting.remove(request)
        if request is None or not request.answer.set_running_or_notify_cancel():
            return
        self._start_times[request] = self._clock()
        before = time.thread_time()
        try:
            result = request.work()
        except BaseException as error:
            self._record_cost(request, time.thread_time() - before)
            request.answer.set_exception(error)
        else:
            self._record_cost(request, time.thread_time() - before)
            request.answer.set_result(result)

    def _record_cost(self, request: _Request, seconds: float) -> None:
        """Records the processor seconds of a request."""
        request.seconds, average = seconds, self._costs.get(request.kind)
        self._costs.put(request.kind, seconds if average is None else average + LATEST_WEIGHT * (seconds - average))
        with self._lock:
            self._unanswered.pop(request.key, None)
            del self._start_times[request]
            self._lost.discard(request)

    def _replace_hung(self, seconds: float) -> None:
        """Replaces the pool if a request has run for longer than `seconds`; the old threads end with their present request, if ever."""
        with self._lock:
            latest_start = self._clock() - seconds
            overdue = {request for request, began in list(self._start_times.items()) if began < latest_start} - self._lost
            if overdue:
                self._lost |= overdue
                event(log, "reader_hung", logging.ERROR, seconds=round(seconds, 1), lost=self.lost)
                self._pool.shutdown(wait=False, cancel_futures=True)
                self._pool = self._create_pool()
                for _ in self._waiting:
                    self._pool.submit(self._run_next)

    def _create_pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._count, "reader", initializer=lambda: torch.set_num_threads(1))

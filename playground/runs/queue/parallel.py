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
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

import torch

from playground.logs import event
from playground.runs.lru import LRU
from playground.runs.runtime import Clock

log = logging.getLogger(__name__)
HUNG = 0.5  # fraction of the timeout after which a running thread counts as hung; a request that waited longer was only queued
PATIENCE = 50  # a request yields to later, shorter ones for at most this many times its own cost
COSTS, LATEST = 1_000, 0.2  # kinds of requests with a known cost, and the weight of the newest one in the moving average
ParallelMap = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


class Helpers:
    """Helper threads for turns on more than one core."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, "helper", initializer=lambda: torch.set_num_threads(1)) if count else None

    def parallel_map(self, cores: int) -> ParallelMap:
        """Returns a `map` over `cores` cores, the caller's included. Results are in order; errors are raised once all parts have ended."""
        if cores < 2 or self._pool is None:
            return map

        def side_by_side(work: Callable[[Any], Any], things: Iterable[Any]) -> list[Any]:
            things = list(things)
            shares = [range(first, len(things), cores) for first in range(min(cores, len(things)))]
            others = [self._pool.submit(lambda share: [work(things[n]) for n in share], share) for share in shares[1:]]
            try:
                found = [[work(things[n]) for n in shares[0]]] if shares else []
            finally:
                wait(others)
            found += [other.result() for other in others]
            return [found[n % cores][n // cores] for n in range(len(things))]

        side_by_side.cores = cores  # for engines that send the work to another process
        return side_by_side

    def close(self) -> None:
        """Stops and joins the threads."""
        if self._pool:
            self._pool.shutdown()

    def leave(self) -> None:
        """Stops the threads without waiting: one of them may hang."""
        if self._pool:
            self._pool.shutdown(wait=False)

    def __enter__(self) -> Helpers:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


class _Question:
    """A request to the reader threads, with its arrival time."""

    def __init__(self, work: Callable[[], Any], kind: Hashable, asked: float) -> None:
        self.work, self.kind, self.asked, self.answer, self.seconds = work, kind, asked, Future(), 0.0


class ReaderThreads:
    """A thread pool that bounds the cores used by all requests to models. Hung threads can't be killed; they are abandoned and replaced.

    Shortest job first, so that a viewer doesn't wait behind a class that translates. To prevent starvation, a request's deadline is its
    arrival plus PATIENCE times the cost of its kind.
    """

    def __init__(self, count: int, clock: Clock = time.monotonic) -> None:
        self._count, self._changing, self._clock = count, threading.Lock(), clock
        self._waiting: list[_Question] = []
        self._costs = LRU(most=COSTS)  # moving average of processor seconds, by kind
        self._mine = threading.local()
        self._pool = self._made()
        self._begun: dict[object, float] = {}  # start times of running requests
        self._lost: set[object] = set()  # of these, those whose threads were replaced

    @property
    def lost(self) -> int:
        """The number of replaced threads that are still running."""
        return len(self._lost)

    @property
    def seconds(self) -> float:
        """Processor time of the calling thread and of its requests so far."""
        return time.thread_time() + getattr(self._mine, "seconds", 0.0)

    def ask(self, work: Callable[[], Any], seconds: float, kind: Hashable = None) -> Any:
        """Runs `work` in the pool; returns its result or raises its error. Requests of one `kind` cost about the same. Raises TimeoutError
        after `seconds`; work not started by then is cancelled."""
        question = _Question(work, kind, getattr(self._mine, "asked", None) or self._clock())
        with self._changing:
            self._waiting.append(question)
            self._pool.submit(self._answer_next)
        try:
            return question.answer.result(seconds)
        except futures.TimeoutError as error:  # distinct from Python's own before 3.11
            question.answer.cancel()
            self._replace(HUNG * seconds)
            raise TimeoutError from error
        finally:
            self._mine.seconds = getattr(self._mine, "seconds", 0.0) + question.seconds

    @contextmanager
    def one_answer(self, patience: float = 0.0) -> Iterator[None]:
        """Gives all requests of the calling thread the deadline of the first, so that a multi-part response queues only once. `patience`
        postpones it by so many seconds, to let others go first."""
        self._mine.asked = self._clock() + patience
        try:
            yield
        finally:
            self._mine.asked = None

    def close(self) -> None:
        """Joins every thread but hung ones. Pending requests are cancelled."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for question in self._waiting:
            question.answer.cancel()

    def _answer_next(self) -> None:
        """Runs the pending request with the earliest deadline."""
        with self._changing:
            question = min(self._waiting, key=self._due, default=None)
            if question:
                self._waiting.remove(question)
        if question is None or not question.answer.set_running_or_notify_cancel():
            return
        self._begun[question] = self._clock()
        before = time.thread_time()
        try:
            found = question.work()
        except BaseException as error:
            self._over(question, time.thread_time() - before)
            question.answer.set_exception(error)
        else:
            self._over(question, time.thread_time() - before)
            question.answer.set_result(found)

    def _due(self, question: _Question) -> float:
        """Returns the deadline, by the present cost estimate of its kind."""
        return question.asked + PATIENCE * (self._costs.get(question.kind) or 0.0)

    def _over(self, question: _Question, seconds: float) -> None:
        """Records the processor seconds of a request."""
        question.seconds, known = seconds, self._costs.get(question.kind)
        self._costs.put(question.kind, seconds if known is None else known + LATEST * (seconds - known))
        with self._changing:
            del self._begun[question]
            self._lost.discard(question)

    def _replace(self, seconds: float) -> None:
        """Replaces the pool if a request has run for longer than `seconds`; the old threads end with their present request, if ever."""
        with self._changing:
            late = self._clock() - seconds
            overdue = {question for question, began in list(self._begun.items()) if began < late} - self._lost
            if overdue:
                self._lost |= overdue
                event(log, "reader_hung", logging.ERROR, seconds=round(seconds, 1), lost=self.lost)
                self._pool.shutdown(wait=False, cancel_futures=True)
                self._pool = self._made()
                for _ in self._waiting:
                    self._pool.submit(self._answer_next)

    def _made(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._count, "reader", initializer=lambda: torch.set_num_threads(1))

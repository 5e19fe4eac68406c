"""Side by side: the parts of one piece of work on several cores.

Torch can share a single product of matrices among threads, but at these sizes they wait for each other more than they compute. Whole parts
of a batch need nothing from each other until the end.
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
HUNG = 0.5  # of the time that somebody waits for an answer: who waits longer than that for a thread waits in a crowd, and no thread hangs
PATIENCE = 50  # times what its answer takes, a question waits for those that came later and take less
COSTS, LATEST = 1_000, 0.2  # kinds of questions whose cost is known, and how much the newest one says of it
ParallelMap = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


class Helpers:
    """Threads that lend a hand to whoever has a turn on more than one core."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, "helper", initializer=lambda: torch.set_num_threads(1)) if count else None

    def parallel_map(self, cores: int) -> ParallelMap:
        """A `map` that uses so many cores, the caller's among them. Results are in order; an error is raised when all have come to rest."""
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

        side_by_side.cores = cores  # for who sends the work elsewhere
        return side_by_side

    def close(self) -> None:
        """Returns when every thread is gone."""
        if self._pool:
            self._pool.shutdown()

    def leave(self) -> None:
        """Its threads end when they have nothing more to do, if ever; nobody waits for them."""
        if self._pool:
            self._pool.shutdown(wait=False)

    def __enter__(self) -> Helpers:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


class _Question:
    """What somebody asks of a reader's thread, and when."""

    def __init__(self, work: Callable[[], Any], kind: Hashable, asked: float) -> None:
        self.work, self.kind, self.asked, self.answer, self.seconds = work, kind, asked, Future(), 0.0


class ReaderThreads:
    """A few threads for those who ask something of a model, so that all their questions together never take more cores than that. A thread
    can't be killed: one that doesn't come to an end is left to itself, and another has its place.

    What is answered soon is answered first: behind a class that translates, somebody who only looks would wait for all of it. A question
    is due PATIENCE times what its kind takes after it was asked, so that a long one waits for the short ones, but not for ever.
    """

    def __init__(self, count: int, clock: Clock = time.monotonic) -> None:
        self._count, self._changing, self._clock = count, threading.Lock(), clock
        self._waiting: list[_Question] = []
        self._costs = LRU(most=COSTS)  # by kind: seconds of a processor, of late
        self._mine = threading.local()
        self._pool = self._made()
        self._begun: dict[object, float] = {}  # when each question was begun that is being answered
        self._lost: set[object] = set()  # of these, those whose threads were replaced

    @property
    def lost(self) -> int:
        """Threads that have been replaced and are still at it."""
        return len(self._lost)

    @property
    def seconds(self) -> float:
        """Processor time that the thread which calls has taken so far, and what was asked for by it."""
        return time.thread_time() + getattr(self._mine, "seconds", 0.0)

    def ask(self, work: Callable[[], Any], seconds: float, kind: Hashable = None) -> Any:
        """What `work` returns or raises; questions of one `kind` take about the same time. Raises TimeoutError after so many seconds; what
        has not begun by then is left undone."""
        question = _Question(work, kind, getattr(self._mine, "asked", None) or self._clock())
        with self._changing:
            self._waiting.append(question)
            self._pool.submit(self._answer_next)
        try:
            return question.answer.result(seconds)
        except futures.TimeoutError as error:  # which is Python's own only since 3.11
            question.answer.cancel()
            self._replace(HUNG * seconds)
            raise TimeoutError from error
        finally:
            self._mine.seconds = getattr(self._mine, "seconds", 0.0) + question.seconds

    @contextmanager
    def one_answer(self, patience: float = 0.0) -> Iterator[None]:
        """All that the thread which calls asks for belongs to one answer: what it asks for later is due as what it asked for first, and
        doesn't wait behind a crowd once more. Who has `patience` lets those go first who come within so many seconds."""
        self._mine.asked = self._clock() + patience
        try:
            yield
        finally:
            self._mine.asked = None

    def close(self) -> None:
        """Returns when every thread is gone but those that are lost. What has not begun is left undone."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for question in self._waiting:
            question.answer.cancel()

    def _answer_next(self) -> None:
        """What is due first of all that wait, whoever this thread was called for."""
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
        """By what is known of its kind now, which may be more than when it was asked."""
        return question.asked + PATIENCE * (self._costs.get(question.kind) or 0.0)

    def _over(self, question: _Question, seconds: float) -> None:
        """It has taken so many seconds of a processor."""
        question.seconds, known = seconds, self._costs.get(question.kind)
        self._costs.put(question.kind, seconds if known is None else known + LATEST * (seconds - known))
        with self._changing:
            del self._begun[question]
            self._lost.discard(question)

    def _replace(self, seconds: float) -> None:
        """New threads, if one has been at a question for longer; the old ones go when they have answered what they were asked, if ever."""
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

"""Side by side: the parts of one piece of work on several cores.

Torch can share a single product of matrices among threads, but at these sizes they wait for each other more than they compute. Whole parts
of a batch need nothing from each other until the end.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import torch

from playground.logs import event

log = logging.getLogger(__name__)
HUNG = 0.5  # of the time that somebody waits for an answer: who waits longer than that for a thread waits in a crowd, and no thread hangs
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


class ReaderThreads:
    """A few threads for those who ask something of a model, so that all their questions together never take more cores than that. A thread
    can't be killed: one that doesn't come to an end is left to itself, and another has its place."""

    def __init__(self, count: int) -> None:
        self._count, self._changing = count, threading.Lock()
        self._pool = self._made()
        self._begun: dict[object, float] = {}  # when each question was begun that is being answered
        self._lost: set[object] = set()  # of these, those whose threads were replaced

    @property
    def lost(self) -> int:
        """Threads that have been replaced and are still at it."""
        return len(self._lost)

    def ask(self, work: Callable[[], Any], seconds: float) -> Any:
        """What `work` returns or raises. Raises TimeoutError after so many seconds; what has not begun by then is left undone."""
        question = object()

        def answer() -> Any:
            self._begun[question] = time.monotonic()
            try:
                return work()
            finally:
                with self._changing:
                    del self._begun[question]
                    self._lost.discard(question)

        with self._changing:
            future = self._pool.submit(answer)
        try:
            return future.result(seconds)
        except futures.TimeoutError as error:  # which is Python's own only since 3.11
            future.cancel()
            self._replace(HUNG * seconds)
            raise TimeoutError from error

    def close(self) -> None:
        """Returns when every thread is gone but those that are lost."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _replace(self, seconds: float) -> None:
        """New threads, if one has been at a question for longer; the old ones go when they have answered what they were asked, if ever."""
        with self._changing:
            late = time.monotonic() - seconds
            overdue = {question for question, began in list(self._begun.items()) if began < late} - self._lost
            if overdue:
                self._lost |= overdue
                event(log, "reader_hung", logging.ERROR, seconds=round(seconds, 1), lost=self.lost)
                self._pool.shutdown(wait=False)
                self._pool = self._made()

    def _made(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._count, "reader", initializer=lambda: torch.set_num_threads(1))

"""Side by side: the parts of one piece of work on several cores.

Torch can share a single product of matrices among threads, but at these sizes they wait for each other more than they compute. Whole parts
of a batch need nothing from each other until the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, TimeoutError, wait
from typing import Any

import torch

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
    """A few threads for those who ask something of a model, so that all their questions together never take more cores than that."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, "reader", initializer=lambda: torch.set_num_threads(1))

    def ask(self, work: Callable[[], Any], seconds: float) -> Any:
        """What `work` returns or raises. Raises TimeoutError after so many seconds; what has not begun by then is left undone."""
        future = self._pool.submit(work)
        try:
            return future.result(seconds)
        except TimeoutError:
            future.cancel()
            raise

    def close(self) -> None:
        """Returns when every thread is gone."""
        self._pool.shutdown(wait=True, cancel_futures=True)

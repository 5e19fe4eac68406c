"""Steps against the clock: how long one takes, on so many cores."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from playground.config import Experiment
from playground.runs.queue.parallel import Helpers, ParallelMap

LEAST = 2  # steps that are timed, however long they take
# A training that doesn't end while it is timed, and whose rate is so low that no width diverges. A step takes no less time for it.
STEADY = {"steps": 100_000, "schedule": "constant", "learning_rate": 0.001}


def cacheable(experiment: Experiment) -> Experiment:
    """The same model and batches, trained on and on."""
    return experiment.with_(**STEADY)


def timed(step: Callable[[], object], seconds: float) -> list[float]:
    """Seconds of each step, for about so many seconds; the first, which finds the caches cold, is not among them."""
    step()
    times: list[float] = []
    until = time.perf_counter() + seconds
    while len(times) < LEAST or time.perf_counter() < until:
        started = time.perf_counter()
        step()
        times.append(time.perf_counter() - started)
    return times


@contextmanager
def cores(count: int) -> Iterator[ParallelMap]:
    """Yields the map that works on the parts of a batch, on so many cores side by side as a run on a server does."""
    torch.set_num_threads(1)
    with Helpers(count - 1) as helpers:
        yield helpers.parallel_map(count)

"""Admission: the runs there are, and whether there may be another unfinished one. Bookkeeping in memory, under one lock.

Whoever holds the lock waits for nothing: neither for the disk nor for a worker. A new run takes its place first, then it is written, and
when that is done it is there for all to see.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from playground.config import Refusal
from playground.model.size import admit, training_bytes
from playground.runs.corpora import sizes
from playground.runs.limits import Limits
from playground.runs.names import new_name
from playground.runs.run import Run


class Admission:
    """So many unfinished runs for each owner, and so many altogether."""

    def __init__(self, runs: Iterable[Run], limits: Limits) -> None:
        self.lock = threading.Lock()
        self.runs = {run.id: run for run in runs}
        self._coming: dict[str, Run] = {}  # being written: they have their places, and nobody else sees them
        self._limits = limits

    def all(self) -> list[Run]:
        """As they are now, whoever comes and goes meanwhile."""
        return list(self.runs.values())

    def reserve(self, new: Sequence[Run]) -> None:
        """Gives new runs their places and names: all of them, or raises Refusal."""
        with self.lock:
            for owner, count in Counter(run.owner for run in new if run.unfinished).items():
                self.check(owner, count)
            for run in new:
                run.name = new_name({other.name for other in (*self.all(), *self._coming.values())})
                self._coming[run.id] = run

    def release(self, new: Sequence[Run]) -> None:
        """They don't come after all."""
        with self.lock:
            for run in new:
                self._coming.pop(run.id, None)

    def enter(self, new: Sequence[Run], begin: Callable[[Run], object]) -> None:
        """They are there from now on, and `begin` is called for each."""
        with self.lock:
            for run in new:
                self.runs[run.id] = self._coming.pop(run.id)
                begin(run)

    def leave(self, run: Run, busy: Callable[[Run], bool]) -> bool:
        """The run is gone, unless it is `busy`. Returns whether it is."""
        with self.lock:
            gone = not busy(run)
            if gone:
                self.runs.pop(run.id, None)
            return gone

    def check(self, owner: str, more: int = 1) -> None:
        """Raises Refusal when there is no place for so many more runs of this owner. Whoever calls holds the lock."""
        unfinished = [run for run in (*self.all(), *self._coming.values()) if run.unfinished]
        mine = [run for run in unfinished if run.owner == owner]
        if len(mine) + more > self._limits.runs_each:
            names = [run.name for run in mine] or "–"
            raise Refusal("runs.too_many_yours", most=self._limits.runs_each, count=len(mine), more=more, names=names)
        if len(unfinished) + more > self._limits.runs_unfinished:
            raise Refusal("runs.too_many", most=self._limits.runs_unfinished, minutes=self._limits.idle_minutes)


def bytes_needed(run: Run, memory: int) -> int:
    """What its training takes. Raises Refusal when that is more than all the `memory` there is."""
    size = sizes(run.experiment, run.pairs)
    admit(run.experiment, *size, memory)
    return training_bytes(run.experiment, *size)

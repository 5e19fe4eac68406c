"""Resting runs whose replay and weights are in memory: an evictable share, since all of it is on the disk."""

from __future__ import annotations

import math

from playground.runs.admission import Admission
from playground.runs.disk.store import Store
from playground.runs.run import Run


class LoadedRuns:
    """The loaded parts of runs that do not train. Watched runs are not evicted."""

    def __init__(self, admission: Admission, store: Store) -> None:
        self._admission, self._store = admission, store

    @property
    def bytes(self) -> int:
        return sum(map(self._store.size, self._loaded()))

    @property
    def oldest(self) -> float:
        return min((run.seen_at for run in self._unseen()), default=math.inf)

    def evict_oldest(self) -> None:
        for run in sorted(self._unseen(), key=lambda run: run.seen_at)[:1]:
            run.release()

    def _loaded(self) -> list[Run]:
        return [run for run in self._admission.all() if not run.working and run.loaders and run.parts]

    def _unseen(self) -> list[Run]:
        return [run for run in self._loaded() if not run.watched]

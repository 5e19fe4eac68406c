"""The memory budget: one limit for everything that this server holds beyond its footprint at start.

Trainings reserve their estimate. All else are shares: caches that can be rebuilt. When memory runs out, the least recently used entry is
evicted, whichever share it is in. The measured memory of this process and its children counts too: estimates may be wrong or incomplete.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from playground.runs.heap import trim_heap

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
PROCESSES = Path("/proc")


class Share(Protocol):
    """Evictable memory. Called from any thread."""

    @property
    def bytes(self) -> float:
        """The estimated size."""

    @property
    def oldest(self) -> float:
        """The time.monotonic() of the last access to the next entry to be evicted; inf when none can be."""

    def evict_oldest(self) -> None:
        """Evicts that entry."""


class Memory:
    """A budget of `limit` bytes for trainings and shares. One thread calls `measure` and `keep_within`; any thread may read."""

    def __init__(self, limit: int, held: Callable[[], int | None] | None = None) -> None:
        """`held` measures the server's bytes, None when unknown."""
        self.limit, self._measure = limit, held or held_bytes
        self._shares: dict[str, list[Share]] = {}
        self._reserved: Callable[[], int] = int
        self._at_start, self._has_baseline = self._measure() or 0, False
        self._growth: int | None = None
        self.held: int | None = self._at_start or None  # at the last measurement
        self.held_elsewhere: int | None = None  # of that, outside this process

    def add(self, name: str, *shares: Share) -> None:
        """Registers shares under a name. Those already registered keep theirs and are not counted twice."""
        registered = self._shares.setdefault(name, [])
        registered += [share for share in shares if share not in registered]

    def reserve_by(self, reserved: Callable[[], int]) -> None:
        """Sets the function that returns the trainings' reserved bytes."""
        self._reserved = reserved

    def by_share(self) -> dict[str, int]:
        """Returns the estimated bytes of each share, and the trainings' reservations."""
        return {"trainings": self._reserved()} | {name: int(sum(share.bytes for share in shares)) for name, shares in self._shares.items()}

    @property
    def used(self) -> int:
        """Used bytes of the budget: estimated or last measured, whichever is more."""
        return max(sum(self.by_share().values()), self._growth or 0)

    @property
    def unaccounted(self) -> int:
        """Measured bytes that belong to no share and no training; the next training can't use them."""
        return max(0, (self._growth or 0) - sum(self.by_share().values()))

    def ready(self) -> None:
        """Sets the baseline once everything for a first training is loaded: the memory held now, minus the shares."""
        if not self._has_baseline:
            self._has_baseline = True
            self._at_start = max(self._at_start, (self._measure() or 0) - sum(self.by_share().values()))

    def measure(self) -> None:
        """Measures the memory held."""
        self.held = self._measure()
        self._growth = None if self.held is None else max(0, self.held - self._at_start)
        self.held_elsewhere = None if self.held is None else max(0, self.held - (_resident(os.getpid()) or 0))

    def keep_within(self) -> int:
        """Evicts from shares until the budget holds. Returns the estimated bytes evicted."""
        self.measure()
        if self.used > self.limit:  # memory that is already free may be enough
            trim_heap()
            self.measure()
        evicted = self._evict(self.used - self.limit)
        if evicted:
            trim_heap()
            self.measure()
        return evicted

    def _evict(self, excess: int) -> int:
        evicted = 0
        while evicted < excess:
            share = min((share for shares in self._shares.values() for share in shares), key=lambda share: share.oldest, default=None)
            if share is None or share.oldest == math.inf:
                break
            before = share.bytes
            share.evict_oldest()
            evicted += int(before - share.bytes)
        return evicted


def held_bytes() -> int | None:
    """Returns the memory of this process and its descendants, shared pages counted once. None where unknown: only Linux reports it."""
    own = _resident(os.getpid())
    return None if own is None else own + sum(map(own_bytes, descendants()))


def descendants() -> list[int]:
    """Returns the ids of this process's living children, grandchildren and so on."""
    parents = {}
    for path in PROCESSES.glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has just ended
            _, _, rest = path.read_text().rpartition(") ")  # a program's name may contain blanks and brackets
            parents[int(path.parent.name)] = int(rest.split()[1])
    ids, new = [], [os.getpid()]
    while new := [process for process, parent in parents.items() if parent in new]:
        ids += new
    return ids


def _resident(process: int) -> int | None:
    try:
        return PAGE * int((PROCESSES / str(process) / "statm").read_text().split()[1])
    except OSError:
        return None


def own_bytes(process: int) -> int:
    """Returns a process's proportional set size: private pages, and its part of shared ones, such as libraries after a fork."""
    try:
        lines = (PROCESSES / str(process) / "smaps_rollup").read_text().splitlines()
    except OSError:  # ended, or another user's
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))

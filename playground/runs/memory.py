"""Memory as a whole: one budget for everything that this server holds beyond what it takes just to be there.

Trainings reserve what they will need. All else are shares: what can be made or read again, and is only kept because somebody may ask for
it. Where there is no room for both, what nobody has asked for longest goes, whichever share it is in. What the system says that this
process and its children hold counts too: estimates may be wrong, and not everything is estimated.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from playground.runs.heap import give_back

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
PROCESSES = Path("/proc")


class Share(Protocol):
    """Memory that can be given up, bit by bit. Called from any thread."""

    @property
    def bytes(self) -> float:
        """About how much it is."""

    @property
    def oldest(self) -> float:
        """The time.monotonic() at which what would go first was last asked for; inf when nothing can go."""

    def give_up(self) -> None:
        """That goes."""


class Memory:
    """`limit` bytes for trainings and shares together. One thread calls `look` and `keep_within`; whoever likes reads."""

    def __init__(self, limit: int, held: Callable[[], int | None] | None = None) -> None:
        """`held` says how many bytes the server holds by now, None where nobody knows."""
        self.limit, self._measure = limit, held or held_bytes
        self._shares: dict[str, list[Share]] = {}
        self._reserved: Callable[[], int] = int
        self._at_start, self._ready = self._measure() or 0, False
        self._beyond: int | None = None
        self.held: int | None = self._at_start or None  # at the last look
        self.beside: int | None = None  # of that, what is not in this process

    def add(self, name: str, *shares: Share) -> None:
        """Counts these under a name. What is there already stays where it was, and is not counted twice."""
        mine = self._shares.setdefault(name, [])
        mine += [share for share in shares if share not in mine]

    def reserve_by(self, reserved: Callable[[], int]) -> None:
        """Whom to ask how many bytes the trainings have reserved."""
        self._reserved = reserved

    def by_share(self) -> dict[str, int]:
        """Bytes of each share, as estimated, and what the trainings have reserved."""
        return {"trainings": self._reserved()} | {name: int(sum(share.bytes for share in mine)) for name, mine in self._shares.items()}

    @property
    def used(self) -> int:
        """Bytes of the budget that are taken: as estimated, or as measured at the last look where that is more."""
        return max(sum(self.by_share().values()), self._beyond or 0)

    @property
    def unaccounted(self) -> int:
        """Bytes that were there at the last look and belong to no share and no training: they are in the way of the next one."""
        return max(0, (self._beyond or 0) - sum(self.by_share().values()))

    def ready(self) -> None:
        """Everything is loaded that a first training needs: what is held now, but for the shares, is what it takes just to be there."""
        if not self._ready:
            self._ready = True
            self._at_start = max(self._at_start, (self._measure() or 0) - sum(self.by_share().values()))

    def look(self) -> None:
        """Measures."""
        self.held = self._measure()
        self._beyond = None if self.held is None else max(0, self.held - self._at_start)
        self.beside = None if self.held is None else max(0, self.held - (_resident(os.getpid()) or 0))

    def keep_within(self) -> int:
        """Has shares give up what is too much. Returns how many bytes they gave up, as estimated."""
        self.look()
        if self.used > self.limit:  # what is free already may be enough
            give_back()
            self.look()
        given = self._give_up(self.used - self.limit)
        if given:
            give_back()
            self.look()
        return given

    def _give_up(self, excess: int) -> int:
        given = 0
        while given < excess:
            share = min((share for mine in self._shares.values() for share in mine), key=lambda share: share.oldest, default=None)
            if share is None or share.oldest == math.inf:
                break
            before = share.bytes
            share.give_up()
            given += int(before - share.bytes)
        return given


def held_bytes() -> int | None:
    """What this process and those that it has started hold; what they share with it counts once. None where the system doesn't say: Linux
    does."""
    mine = _resident(os.getpid())
    return None if mine is None else mine + sum(map(own_bytes, descendants()))


def descendants() -> list[int]:
    """The processes that this one has started, and that those have, and that are still there."""
    parents = {}
    for path in PROCESSES.glob("[0-9]*/stat"):
        with suppress(OSError):  # gone in this moment
            _, _, rest = path.read_text().rpartition(") ")  # a program's name may have blanks and brackets in it
            parents[int(path.parent.name)] = int(rest.split()[1])
    found, new = [], [os.getpid()]
    while new := [process for process, parent in parents.items() if parent in new]:
        found += new
    return found


def _resident(process: int) -> int | None:
    try:
        return PAGE * int((PROCESSES / str(process) / "statm").read_text().split()[1])
    except OSError:
        return None


def own_bytes(process: int) -> int:
    """What a process holds of its own, and its part of what it shares: those that were forked have the libraries in common."""
    try:
        lines = (PROCESSES / str(process) / "smaps_rollup").read_text().splitlines()
    except OSError:  # gone, or somebody else's
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))

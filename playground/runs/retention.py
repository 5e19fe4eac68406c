"""Retention: chooses the saved runs to evict, least recently viewed first.

Never evicted: shipped runs, runs that wait, train or are paused, runs shown in a room, and runs viewed just now. The link of a run that
visitors other than its owner have opened may be anywhere, on a sheet or in a letter, and a server can't know. Such a run is protected for
`shared_days` after its last view; after that it is evicted like any other, or a visitor could fill the server for ever by opening their own
runs in a second browser.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from playground.config import Refusal
from playground.runs.limits import Limits
from playground.runs.names import owns
from playground.runs.run import Run
from playground.runs.steady_clock import now

DAY, HOUR = 86_400.0, 3_600.0
NEARLY = 0.9  # fraction of the runs or bytes above which owners are told which run goes next


@dataclass(frozen=True)
class Share:
    """A visitor's disk usage, and the run to be evicted first."""

    count: int
    used: int  # bytes
    most: int  # limit in bytes
    next: Run | None  # the first to be evicted; None when all stay
    goes: float  # seconds since 1970: when it is evicted if no visitor opens it; inf: never, while there is room
    crowded: bool  # a new run may replace it at any time


class Retention:
    """The eviction policy, consulted before a run is created and by the housekeeper. Modifies nothing."""

    def __init__(
        self, limits: Limits, size: Callable[[Run], int], in_room: Callable[[Run], bool], clock: Callable[[], float] = now,
        others: Callable[[], int] = lambda: 0,
    ) -> None:  # fmt: skip
        """`size` returns a run's bytes on the disk, `in_room` whether a class depends on it, and `others` the bytes there besides runs."""
        self._limits, self._size, self._in_room, self._clock, self._others = limits, size, in_room, clock, others

    @property
    def _most_bytes(self) -> int:
        """Bytes available to all runs."""
        return max(0, self._limits.bytes_kept - self._others())

    def stays(self, run: Run) -> bool:
        """Returns whether this run is protected from eviction now."""
        unseen = self._clock() - run.looked_at
        shared = run.visited and unseen < self._limits.shared_days * DAY
        return run.shipped or run.unfinished or shared or unseen < self._limits.recent_hours * HOUR or self._in_room(run)

    def admit(self, runs: Iterable[Run], new: Sequence[Run]) -> None:
        """Raises Refusal when no possible eviction makes room for the new runs, in their owners' share or on the server."""
        kept = [run for run in runs if not run.shipped]
        for owner in {run.owner for run in new}:
            theirs = self._least([run for run in kept if run.owner == owner], len(kept), self._limits.bytes_each)
            if theirs[1] >= self._limits.bytes_each:
                raise Refusal("runs.share_full", used=megabytes(theirs[1]), most=megabytes(self._limits.bytes_each))
        if staying := self._in_the_way(kept, len(new)):
            count, used = staying
            raise Refusal("runs.server_full", count=count, used=megabytes(used), hours=f"{self._limits.recent_hours:g}")

    def full(self, runs: Iterable[Run]) -> bool:
        """Returns whether no run can be created even after every possible eviction."""
        return self._in_the_way([run for run in runs if not run.shipped], 1) is not None

    def overdue(self, runs: Iterable[Run]) -> list[Run]:
        """Returns the runs to evict: expired, then beyond their owner's share, then beyond the server's limits."""
        kept = [run for run in runs if not run.shipped]
        gone = [run for run in kept if self._clock() >= self._expires(run) and not self.stays(run)]
        for owner in {run.owner for run in kept}:
            left = [run for run in kept if run.owner == owner and run not in gone]
            gone += self._beyond(left, len(left), self._limits.bytes_each)
        return gone + self._beyond([run for run in kept if run not in gone], self._limits.runs_kept, self._most_bytes)

    def share(self, runs: Iterable[Run], token: str) -> Share:
        """Returns the caller's disk usage, and which run is evicted first."""
        kept = [run for run in runs if not run.shipped]
        mine = [run for run in kept if owns(run.owner, token)]
        used, most, all_used = sum(map(self._size, mine)), self._limits.bytes_each, sum(map(self._size, kept))
        crowded = used > NEARLY * most or all_used > NEARLY * self._most_bytes or len(kept) > NEARLY * self._limits.runs_kept
        first = min((run for run in mine if not self.stays(run)), key=lambda run: run.looked_at, default=None)
        goes = self._expires(first) if first else 0.0
        return Share(len(mine), used, most, first if crowded or goes < math.inf else None, goes, crowded)

    def _in_the_way(self, kept: list[Run], new: int) -> tuple[int, int] | None:
        """Returns the (runs, bytes) left after every possible eviction if that leaves no room for the new runs, otherwise None."""
        count, used = self._least(kept, self._limits.runs_kept - new, self._most_bytes)
        return (count, used) if count + new > self._limits.runs_kept or used >= self._most_bytes else None

    def _expires(self, run: Run) -> float:
        return run.looked_at + self._limits.unseen_days * DAY

    def _beyond(self, runs: list[Run], most: int, most_bytes: int) -> list[Run]:
        """Returns the runs to evict until both limits hold, as far as possible. Tests the protection of each only when its turn comes,
        since asking a room is slow."""
        count, size = len(runs), sum(map(self._size, runs))
        gone = []
        for run in sorted(runs, key=lambda run: run.looked_at):
            if count <= most and size <= most_bytes:
                break
            if not self.stays(run):
                gone.append(run)
                count, size = count - 1, size - self._size(run)
        return gone

    def _least(self, runs: list[Run], most: int, most_bytes: int) -> tuple[int, int]:
        """Returns the (runs, bytes) left after evicting down to the limits."""
        gone = self._beyond(runs, most, most_bytes - 1)
        return len(runs) - len(gone), sum(map(self._size, runs)) - sum(map(self._size, gone))


def megabytes(size: float) -> str:
    """Formats a size in MB, without the unit."""
    return f"{size / 1e6:,.1f}"

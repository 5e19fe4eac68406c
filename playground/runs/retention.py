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
CROWDED = 0.9  # fraction of the runs or bytes above which owners are told which run goes next


@dataclass(frozen=True)
class Share:
    """A visitor's disk usage, and the run to be evicted first."""

    count: int
    used: int  # bytes
    limit: int  # bytes
    next: Run | None  # the first to be evicted; None when all stay
    expires_at: float  # seconds since 1970: when it is evicted if no visitor opens it; inf: never, while there is room
    crowded: bool  # a new run may replace it at any time


class Retention:
    """The eviction policy, consulted before a run is created and by the housekeeper. Modifies nothing."""

    def __init__(
        self, limits: Limits, size: Callable[[Run], int], in_room: Callable[[Run], bool], clock: Callable[[], float] = now,
        other_bytes: Callable[[], int] = lambda: 0,
    ) -> None:  # fmt: skip
        """`size` returns a run's bytes on the disk, `in_room` whether a class depends on it, `other_bytes` those besides runs."""
        self._limits, self._size, self._in_room, self._clock, self._other_bytes = limits, size, in_room, clock, other_bytes

    @property
    def _most_bytes(self) -> int:
        """Bytes available to all runs."""
        return max(0, self._limits.bytes_kept - self._other_bytes())

    def is_protected(self, run: Run) -> bool:
        """Returns whether this run is protected from eviction now."""
        unseen = self._clock() - run.looked_at
        shared = run.visited and unseen < self._limits.shared_days * DAY
        return run.shipped or run.unfinished or shared or unseen < self._limits.recent_hours * HOUR or self._in_room(run)

    def admit(self, runs: Iterable[Run], new: Sequence[Run]) -> None:
        """Raises Refusal when no possible eviction makes room for the new runs, in their owners' share or on the server."""
        saved_runs = [run for run in runs if not run.shipped]
        for owner in {run.owner for run in new}:
            share = self._usage_after_eviction([run for run in saved_runs if run.owner == owner], len(saved_runs), self._limits.bytes_each)
            if share[1] >= self._limits.bytes_each:
                raise Refusal("runs.share_full", used=megabytes(share[1]), most=megabytes(self._limits.bytes_each))
        if staying := self._find_shortage(saved_runs, len(new)):
            count, used = staying
            raise Refusal("runs.server_full", count=count, used=megabytes(used), hours=f"{self._limits.recent_hours:g}")

    def is_full(self, runs: Iterable[Run]) -> bool:
        """Returns whether no run can be created even after every possible eviction."""
        return self._find_shortage([run for run in runs if not run.shipped], 1) is not None

    def find_evictable(self, runs: Iterable[Run]) -> list[Run]:
        """Returns the runs to evict: expired, then beyond their owner's share, then beyond the server's limits."""
        saved_runs = [run for run in runs if not run.shipped]
        evicted = [run for run in saved_runs if self._clock() >= self._expires(run) and not self.is_protected(run)]
        for owner in {run.owner for run in saved_runs}:
            left = [run for run in saved_runs if run.owner == owner and run not in evicted]
            evicted += self._choose_evicted(left, len(left), self._limits.bytes_each)
        return evicted + self._choose_evicted([run for run in saved_runs if run not in evicted], self._limits.runs_kept, self._most_bytes)

    def share(self, runs: Iterable[Run], token: str) -> Share:
        """Returns the caller's disk usage, and which run is evicted first."""
        saved_runs = [run for run in runs if not run.shipped]
        owned_runs = [run for run in saved_runs if owns(run.owner, token)]
        used, most, all_used = sum(map(self._size, owned_runs)), self._limits.bytes_each, sum(map(self._size, saved_runs))
        crowded = used > CROWDED * most or all_used > CROWDED * self._most_bytes or len(saved_runs) > CROWDED * self._limits.runs_kept
        first = min((run for run in owned_runs if not self.is_protected(run)), key=lambda run: run.looked_at, default=None)
        expires_at = self._expires(first) if first else 0.0
        return Share(len(owned_runs), used, most, first if crowded or expires_at < math.inf else None, expires_at, crowded)

    def _find_shortage(self, saved_runs: list[Run], new_count: int) -> tuple[int, int] | None:
        """Returns the (runs, bytes) left after every possible eviction if that leaves no room for the new runs, otherwise None."""
        count, used = self._usage_after_eviction(saved_runs, self._limits.runs_kept - new_count, self._most_bytes)
        return (count, used) if count + new_count > self._limits.runs_kept or used >= self._most_bytes else None

    def _expires(self, run: Run) -> float:
        return run.looked_at + self._limits.unseen_days * DAY

    def _choose_evicted(self, runs: list[Run], most: int, most_bytes: int) -> list[Run]:
        """Returns the runs to evict until both limits hold, as far as possible. Tests the protection of each only when its turn comes,
        since asking a room is slow."""
        count, size = len(runs), sum(map(self._size, runs))
        evicted = []
        for run in sorted(runs, key=lambda run: run.looked_at):
            if count <= most and size <= most_bytes:
                break
            if not self.is_protected(run):
                evicted.append(run)
                count, size = count - 1, size - self._size(run)
        return evicted

    def _usage_after_eviction(self, runs: list[Run], most: int, most_bytes: int) -> tuple[int, int]:
        """Returns the (runs, bytes) left after evicting down to the limits."""
        evicted = self._choose_evicted(runs, most, most_bytes - 1)
        return len(runs) - len(evicted), sum(map(self._size, runs)) - sum(map(self._size, evicted))


def megabytes(size: float) -> str:
    """Formats a size in MB, without the unit."""
    return f"{size / 1e6:,.1f}"

"""Retention: which kept runs stay, and which go to make room, those that nobody has looked at for longest first.

Never those that came with the app, that wait, train or are paused, that a room shows, or that somebody looked at just now. A run that
others than its owner have opened has its link somewhere, on a sheet or in a letter, and no server can know whether it still stands there.
So it stays as long as somebody opens it now and then; once nobody has for `shared_days` it makes room like any other, for else whoever
opens runs of their own with a second browser would fill the server for ever.
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
NEARLY = 0.9  # of the places or the bytes: from then on whoever has runs is told which goes next


@dataclass(frozen=True)
class Share:
    """What a visitor's runs take, and which of them goes first."""

    count: int
    used: int  # bytes
    most: int  # bytes that they may take
    next: Run | None  # the first to go; None when all stay
    goes: float  # seconds since 1970: when it goes at the latest, if nobody looks at it; inf: never, while there is room
    crowded: bool  # a new run may take its place any time


class Retention:
    """Asked by the registry before a new run, and by the housekeeper now and then. Changes nothing itself."""

    def __init__(
        self, limits: Limits, size: Callable[[Run], int], in_room: Callable[[Run], bool], clock: Callable[[], float] = now,
        others: Callable[[], int] = lambda: 0,
    ) -> None:  # fmt: skip
        """`size` says what a run takes on the disk, `in_room` whether a class counts on it, and `others` what lies there beside runs."""
        self._limits, self._size, self._in_room, self._clock, self._others = limits, size, in_room, clock, others

    @property
    def _most_bytes(self) -> int:
        """What all runs may take."""
        return max(0, self._limits.bytes_kept - self._others())

    def stays(self, run: Run) -> bool:
        """Whether nothing may take this run away now."""
        unseen = self._clock() - run.looked_at
        shared = run.visited and unseen < self._limits.shared_days * DAY
        return run.shipped or run.unfinished or shared or unseen < self._limits.recent_hours * HOUR or self._in_room(run)

    def admit(self, runs: Iterable[Run], new: Sequence[Run]) -> None:
        """Raises Refusal when the new runs would find no room, whatever went for them: of their owners' share, or on the server."""
        kept = [run for run in runs if not run.shipped]
        for owner in {run.owner for run in new}:
            theirs = self._least([run for run in kept if run.owner == owner], len(kept), self._limits.bytes_each)
            if theirs[1] >= self._limits.bytes_each:
                raise Refusal("runs.share_full", used=megabytes(theirs[1]), most=megabytes(self._limits.bytes_each))
        if staying := self._in_the_way(kept, len(new)):
            count, used = staying
            raise Refusal("runs.server_full", count=count, used=megabytes(used), hours=f"{self._limits.recent_hours:g}")

    def full(self, runs: Iterable[Run]) -> bool:
        """Whether nobody can make a run now, whatever went for it."""
        return self._in_the_way([run for run in runs if not run.shipped], 1) is not None

    def overdue(self, runs: Iterable[Run]) -> list[Run]:
        """Those to let go: unseen for too long, beyond their owner's share, and then beyond what the server keeps."""
        kept = [run for run in runs if not run.shipped]
        gone = [run for run in kept if self._clock() >= self._expires(run) and not self.stays(run)]
        for owner in {run.owner for run in kept}:
            left = [run for run in kept if run.owner == owner and run not in gone]
            gone += self._beyond(left, len(left), self._limits.bytes_each)
        return gone + self._beyond([run for run in kept if run not in gone], self._limits.runs_kept, self._most_bytes)

    def share(self, runs: Iterable[Run], token: str) -> Share:
        """What the caller's runs take, and which goes first."""
        kept = [run for run in runs if not run.shipped]
        mine = [run for run in kept if owns(run.owner, token)]
        used, most, all_used = sum(map(self._size, mine)), self._limits.bytes_each, sum(map(self._size, kept))
        crowded = used > NEARLY * most or all_used > NEARLY * self._most_bytes or len(kept) > NEARLY * self._limits.runs_kept
        first = min((run for run in mine if not self.stays(run)), key=lambda run: run.looked_at, default=None)
        goes = self._expires(first) if first else 0.0
        return Share(len(mine), used, most, first if crowded or goes < math.inf else None, goes, crowded)

    def _in_the_way(self, kept: list[Run], new: int) -> tuple[int, int] | None:
        """How many runs there would be, and of how many bytes, once those that may go are gone, where that leaves no room for new ones."""
        count, used = self._least(kept, self._limits.runs_kept - new, self._most_bytes)
        return (count, used) if count + new > self._limits.runs_kept or used >= self._most_bytes else None

    def _expires(self, run: Run) -> float:
        return run.looked_at + self._limits.unseen_days * DAY

    def _beyond(self, runs: list[Run], most: int, most_bytes: int) -> list[Run]:
        """Those to let go so that the others keep within both numbers, as far as they may go. Whether one may is asked only of those whose
        turn it is: a room is slow to say."""
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
        """How many there would be, and of how many bytes, once those beyond the numbers are gone."""
        gone = self._beyond(runs, most, most_bytes - 1)
        return len(runs) - len(gone), sum(map(self._size, runs)) - sum(map(self._size, gone))


def megabytes(size: float) -> str:
    """A size for people, without its unit."""
    return f"{size / 1e6:,.1f}"

"""How many runs a class may have: at once, which means waiting, training or paused, and kept in all; each student, and the whole room.

A room keeps the numbers that its teacher has set, by the names in `USUAL`. Which runs are a room's is known in memory only: the disk never
says who trained what in which room.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playground.config import Refusal
from playground.rooms.room import Room
from playground.runs.limits import Limits
from playground.runs.run import Run

# Thirty students on two cores: everybody has two runs on their way, or the arms of a lab while others read; none is deleted in a lesson.
USUAL = {"each_at_once": 5, "each_kept": 20, "room_at_once": 60, "room_kept": 400}


class RunLimits:
    """What a server of these limits lets a room have."""

    def __init__(self, limits: Limits) -> None:
        at_once, kept = limits.runs_unfinished, limits.runs_kept
        self.most = {"each_at_once": limits.runs_each, "each_kept": kept, "room_at_once": at_once, "room_kept": kept}

    def made(self, wanted: Any) -> dict[str, int]:
        """The wanted numbers, each checked. Raises Refusal for one that this server can't keep to."""
        if not isinstance(wanted, dict) or not wanted.keys() <= USUAL.keys():
            raise Refusal("page.not_a_command")
        for name, value in wanted.items():
            if type(value) is not int or not 1 <= value <= self.most[name]:
                raise Refusal("rooms.bad_limit", most=self.most[name])
        return dict(wanted)

    def of(self, room: Room) -> dict[str, int]:
        """What holds in this room: what its teacher has set, else what is usual, as far as the server allows it."""
        return {name: min(room.limits.get(name, usual), self.most[name]) for name, usual in USUAL.items()}

    def seen(self, room: Room) -> dict[str, list[int]]:
        """For its teacher: each limit, and the most that it can be."""
        return {name: [value, self.most[name]] for name, value in self.of(room).items()}


class Tally:
    """Which runs were begun in which room. Thread-safe."""

    def __init__(self, limits: RunLimits, find: Callable[[str], Run | None]) -> None:
        self._limits, self._find, self._lock = limits, find, threading.Lock()
        self._runs: dict[str, list[str]] = {}  # room -> ids of runs
        self._coming: Counter[str] = Counter()  # room -> runs that are being made

    @contextmanager
    def beginning(self, room: Room, owner: str, new: list[Run]) -> Iterator[None]:
        """These runs of one owner are made meanwhile, and then they are the room's. Raises Refusal when they are too many."""
        with self._lock:
            self._check(room, owner, new)
            self._coming[room.code] += len(new)
        try:
            yield
            with self._lock:
                self._runs[room.code] += [run.id for run in new]
        finally:
            with self._lock:
                self._coming[room.code] -= len(new)

    def _check(self, room: Room, owner: str, new: list[Run]) -> None:
        runs = [run for id in self._runs.get(room.code, ()) if (run := self._find(id))]  # those that are deleted don't count
        self._runs[room.code] = [run.id for run in runs]
        coming, most = self._coming[room.code], self._limits.of(room)
        mine = [run for run in runs if run.owner == owner]
        more, working = len(new), sum(run.unfinished for run in new)
        counts = {
            "each_at_once": sum(run.unfinished for run in mine) + working,
            "room_at_once": sum(run.unfinished for run in runs) + coming + working,
            "each_kept": len(mine) + more,
            "room_kept": len(runs) + coming + more,
        }
        for name, count in counts.items():
            if count > most[name] and (working or name.endswith("kept")):
                raise Refusal(f"rooms.{name}", most=most[name], code=room.code)

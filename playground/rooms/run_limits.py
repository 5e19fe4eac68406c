"""Limits on the runs of a class: unfinished at once (waiting, training or paused) and kept in all, per student and for the whole room.

A room stores the numbers its teacher has set, by the names in `USUAL`. The runs of a room are known in memory only: the disk never shows
which member of which room trained a run.
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

# Thirty students on two cores: each may have two runs under way, or the arms of a lab while others read; none is deleted in a lesson.
USUAL = {"each_at_once": 5, "each_kept": 20, "room_at_once": 60, "room_kept": 400}


class RunLimits:
    """The limits a teacher may set on this server."""

    def __init__(self, limits: Limits) -> None:
        at_once, in_all = limits.runs_unfinished, limits.runs_kept
        self.most = {"each_at_once": limits.runs_each, "each_kept": in_all, "room_at_once": at_once, "room_kept": in_all}

    def check_limits(self, wanted: Any) -> dict[str, int]:
        """Validates the limits a teacher asks for. Raises Refusal for one above the server's own."""
        if not isinstance(wanted, dict) or not wanted.keys() <= USUAL.keys():
            raise Refusal("page.not_a_command")
        for name, value in wanted.items():
            if type(value) is not int or not 1 <= value <= self.most[name]:
                raise Refusal("rooms.bad_limit", most=self.most[name])
        return dict(wanted)

    def limits_of(self, room: Room) -> dict[str, int]:
        """Returns the limits in force in this room: the teacher's, else the usual ones, each at most the server's."""
        return {name: min(room.limits.get(name, usual), self.most[name]) for name, usual in USUAL.items()}

    def view(self, room: Room) -> dict[str, list[int]]:
        """Returns [limit, its maximum] of each limit, for the teacher."""
        return {name: [value, self.most[name]] for name, value in self.limits_of(room).items()}


class Tally:
    """Tracks which runs were begun in which room. Thread-safe."""

    def __init__(self, limits: RunLimits, find: Callable[[str], Run | None]) -> None:
        self._limits, self._find, self._lock = limits, find, threading.Lock()
        self._runs: dict[str, list[str]] = {}  # room -> ids of runs
        self._coming: Counter[str] = Counter()  # room -> number of runs being created

    @contextmanager
    def beginning(self, room: Room, owner: str, new: list[Run]) -> Iterator[None]:
        """Counts these runs of one owner towards the room while they are created and after. Raises Refusal when they are too many."""
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
        runs = [run for id in self._runs.get(room.code, ()) if (run := self._find(id))]  # deleted runs don't count
        self._runs[room.code] = [run.id for run in runs]
        coming, most = self._coming[room.code], self._limits.limits_of(room)
        own = [run for run in runs if run.owner == owner]
        count_new, working = len(new), sum(run.unfinished for run in new)
        counts = {
            "each_at_once": sum(run.unfinished for run in own) + working,
            "room_at_once": sum(run.unfinished for run in runs) + coming + working,
            "each_kept": len(own) + count_new,
            "room_kept": len(runs) + coming + count_new,
        }
        for name, count in counts.items():
            if count > most[name] and (working or name.endswith("kept")):
                raise Refusal(f"rooms.{name}", most=most[name], code=room.code)

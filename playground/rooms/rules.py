"""The rules of rooms for runs: a member of a room can begin and change only runs that it allows, by whichever endpoint."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from playground.config import Experiment, Refusal
from playground.rooms import class_settings, experiment
from playground.rooms.class_settings import RunLimits
from playground.rooms.registry import Rooms
from playground.rooms.room import Room
from playground.runs.admission import Rules
from playground.runs.registry import Runs
from playground.runs.run import Run


class Tally:
    """Tracks which runs were begun in which room, in memory only: the disk never shows which member of which room trained a run.
    Thread-safe."""

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


class RoomRules(Rules):
    """The rules of every room that binds a token (see `SavedRooms.find_attended`). A teacher is not bound by their own room."""

    def __init__(self, rooms: Rooms, runs: Runs) -> None:
        self._rooms, self._tally = rooms, Tally(rooms.run_limits, runs.find)

    @contextmanager
    def beginning(self, new: Sequence[Run], token: str, lab: str = "") -> Iterator[None]:
        attended = self._rooms.find_attended(token)
        for room, number in attended:
            if lab:  # a lab's arms are not subject to the fixed settings
                class_settings.require_lab(room.fixed, lab, room.code)
                continue
            for run in new:
                if not _is_dealt(room, number, run.experiment):
                    class_settings.require_experiment(room.fixed, run.experiment, room.code)
        with ExitStack() as stack:
            for room, _ in attended:
                stack.enter_context(self._tally.beginning(room, new[0].owner, list(new)))
            yield

    def shared(self, run: Run) -> bool:
        return self._rooms.is_shown(run.id)

    def awaited(self, run: Run) -> bool:
        return self._rooms.is_shown(run.id, open_only=True)

    def in_room(self, token: str) -> bool:
        return bool(self._rooms.find_attended(token))

    def changing(self, token: str, knob: str, value: Any) -> None:
        for room, _ in self._rooms.find_attended(token):
            class_settings.require_setting(room.fixed, knob, value, room.code)


def _is_dealt(room: Room, number: int, wanted: Experiment) -> bool:
    """Returns whether the teacher has dealt this experiment to the member."""
    dealt = [activity for activity in room.activities.values() if activity["kind"] == experiment.KIND and str(number) in activity["dealt"]]
    return any(experiment.build_experiment(activity, number) == wanted for activity in dealt)

"""The rules of rooms for runs: a member of a room can begin and change only runs that it allows, by whichever endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from playground.config import Experiment
from playground.rooms import experiment, fixed
from playground.rooms.registry import Rooms
from playground.rooms.room import Room
from playground.rooms.run_limits import Tally
from playground.runs.registry import Runs
from playground.runs.rules import Rules
from playground.runs.run import Run


class RoomRules(Rules):
    """The rules of every room that binds a token (see `SavedRooms.find_attended`). A teacher is not bound by their own room."""

    def __init__(self, rooms: Rooms, runs: Runs) -> None:
        self._rooms, self._tally = rooms, Tally(rooms.run_limits, runs.find)

    @contextmanager
    def beginning(self, new: Sequence[Run], token: str, lab: str = "") -> Iterator[None]:
        attended = self._rooms.find_attended(token)
        for room, number in attended:
            if lab:  # a lab's arms are not subject to the fixed settings
                fixed.require_lab(room.fixed, lab, room.code)
                continue
            for run in new:
                if not _is_dealt(room, number, run.experiment):
                    fixed.require_experiment(room.fixed, run.experiment, room.code)
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
            fixed.require_setting(room.fixed, knob, value, room.code)


def _is_dealt(room: Room, number: int, wanted: Experiment) -> bool:
    """Returns whether the teacher has dealt this experiment to the member."""
    dealt = [activity for activity in room.activities.values() if activity["kind"] == experiment.KIND and str(number) in activity["dealt"]]
    return any(experiment.build_experiment(activity, number) == wanted for activity in dealt)

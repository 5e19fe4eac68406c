"""The rules of rooms for runs: whoever joined a room can begin and change only what it allows, by whichever door they come."""

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
    """Of all rooms in which a token counts (see `KeptRooms.attended`). A teacher is not bound by their own room."""

    def __init__(self, rooms: Rooms, runs: Runs) -> None:
        self._rooms, self._tally = rooms, Tally(rooms.run_limits, runs.find)

    @contextmanager
    def beginning(self, new: Sequence[Run], token: str, lab: str = "") -> Iterator[None]:
        attended = self._rooms.attended(token)
        for room, number in attended:
            if lab:  # its arms are what they are, whatever is fixed beside it
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
        return self._rooms.shows(run.id)

    def awaited(self, run: Run) -> bool:
        return self._rooms.shows(run.id, to_somebody=True)

    def in_room(self, token: str) -> bool:
        return bool(self._rooms.attended(token))

    def changing(self, token: str, knob: str, value: Any) -> None:
        for room, _ in self._rooms.attended(token):
            fixed.require_setting(room.fixed, knob, value, room.code)


def _is_dealt(room: Room, number: int, wanted: Experiment) -> bool:
    """Whether the teacher has dealt this experiment to the member."""
    dealt = [one for one in room.activities.values() if one["kind"] == experiment.KIND and str(number) in one["dealt"]]
    return any(experiment.experiment_of(one, number) == wanted for one in dealt)

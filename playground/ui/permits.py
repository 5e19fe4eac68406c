"""Whether somebody may do what an action asks for, by the table of rights: looked at before the action reads anything else."""

from __future__ import annotations

from typing import Any

from playground.config import Refusal
from playground.rooms.registry import Rooms
from playground.rooms.room import require_teacher
from playground.runs.registry import Runs
from playground.ui.rights import Right
from playground.ui.upload import uploading


def require_run(right: Right, runs: Runs, run: str, token: str) -> None:
    """For an action on a run. Raises Refusal for who may not."""
    _require_key(token)
    if right is Right.OWNER:
        runs.require_owner(run, token)
    elif right is Right.READER:
        runs.require_reader(run, token)


def require_room(right: Right, rooms: Rooms, code: str, ticket: str) -> None:
    """For an action in a room, whose `ticket` is "" for nobody's. Raises Refusal for who may not."""
    _require_key(ticket)
    if right in (Right.MEMBER, Right.TEACHER):
        _, number = rooms.inside(code, ticket)
        if right is Right.TEACHER:
            require_teacher(number)


def require_sentences(runs: Runs, values: Any, token: str) -> None:
    """For an action with these values: an id of own sentences, wherever it stands among them, must be of such as the asker may see. Raises
    Refusal."""
    taken, left = {run.experiment.data.own for run in runs.list_unshipped()} - {""}, [values]
    while left:
        value = left.pop()
        if isinstance(value, dict | list):
            left += value.values() if isinstance(value, dict) else value
        elif not isinstance(value, str) or (value not in taken and value not in uploading.KEPT):
            continue
        elif uploading.found(runs, value, uploading.ticket_of(token)) is None:
            raise Refusal("page.no_upload", knob="task")


def _require_key(token: str) -> None:
    if not token:
        raise Refusal("runs.no_token")

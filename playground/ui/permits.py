"""Authorisation checks, by the table of rights, before an action reads anything else."""

from __future__ import annotations

from typing import Any

from playground.config import Refusal
from playground.rooms.registry import Rooms
from playground.rooms.room import require_teacher
from playground.runs.registry import Runs
from playground.ui.rights import Right
from playground.ui.upload import uploading


def require_run(right: Right, runs: Runs, run: str, token: str) -> None:
    """Checks an action on a run. Raises Refusal without the right."""
    _require_key(token)
    if right is Right.OWNER:
        runs.require_owner(run, token)
    elif right is Right.READER:
        runs.require_reader(run, token)


def require_room(right: Right, rooms: Rooms, code: str, ticket: str) -> None:
    """Checks an action in a room; an empty `ticket` has no rights. Raises Refusal."""
    _require_key(ticket)
    if right in (Right.MEMBER, Right.TEACHER):
        _, number = rooms.authenticate(code, ticket)
        if right is Right.TEACHER:
            require_teacher(number)


def require_sentences(runs: Runs, values: Any, token: str) -> None:
    """Checks that every id of own sentences anywhere in `values` is readable with this token. Raises Refusal."""
    run_uploads, pending = {run.experiment.data.own for run in runs.list_unshipped()} - {""}, [values]
    while pending:
        value = pending.pop()
        if isinstance(value, dict | list):
            pending += value.values() if isinstance(value, dict) else value
        elif not isinstance(value, str) or (value not in run_uploads and value not in uploading.UPLOADS):
            continue
        elif uploading.find_pairs(runs, value, uploading.ticket_of(token)) is None:
            raise Refusal("page.no_upload", knob="task")


def _require_key(token: str) -> None:
    if not token:
        raise Refusal("runs.no_token")

"""The current task of a room: a line that its teacher wrote, a place that it links to, and the members who have done it.

As a room stores it: {"text", "to": {"lesson", "lab" or "task": its name} or {}, "done": numbers of members}; {} is no task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.config import Refusal, check as check_knob
from playground.cursor import check
from playground.fields import Lists
from playground.rooms.room import TEACHER, Room, clean_line

TEXT = 200  # characters of the line
PLACES = ("lesson", "lab", "task")
Assignment = Mapping[str, Any]


def make_assignment(text: str, to: Mapping[str, str], lists: Lists) -> dict[str, Any]:
    """Returns a new task, done by no member; {} without text and place. Raises Refusal for an unknown place."""
    if len(to) > 1 or not set(to) <= set(PLACES) or to.get("task") == "own":
        raise Refusal("rooms.no_place")
    for name, value in to.items():
        if not isinstance(value, str):
            raise Refusal("rooms.no_place")
        check_knob(name, value) if name == "task" else check(name, value, lists)
    line = clean_line(text, TEXT)
    return {"text": line, "to": dict(to), "done": []} if line or to else {}


def mark_done(assignment: Assignment, number: int, done: bool) -> dict[str, Any]:
    """Returns the task with this member marked as done or not done. Raises Refusal: there is no task, or the number is the teacher's."""
    if not assignment or number == TEACHER:
        raise Refusal("rooms.nothing_to_do")
    numbers = [other for other in assignment["done"] if other != number]
    return {**assignment, "done": sorted([*numbers, number]) if done else numbers}


def remove_member(assignment: Assignment, number: int) -> Assignment:
    """Returns the task without a member who left."""
    return {**assignment, "done": [other for other in assignment["done"] if other != number]} if assignment else assignment


def view(room: Room, number: int) -> dict[str, Any] | None:
    """Returns the task as the holder of this number may see it: with the count of members done, not their numbers; None without a task."""
    if not room.now:
        return None
    done = room.now["done"]
    return {"text": room.now["text"], "to": room.now["to"], "done": len(done), "joined": len(room.members), "mine": number in done}

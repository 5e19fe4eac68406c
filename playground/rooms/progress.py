"""Progress of the members of a room in the course: the number of steps done in each lesson, as their pages report it.

As an activity (a room has one at most) it is {"kind", "done": {number of the member: {lesson: steps done}}}. Numbers are strings there, as
JSON keys must be. Nothing else of a member's work in a lesson leaves their page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.config import Refusal
from playground.rooms.room import TEACHER, Room

KIND = NAME = "course"
Activity = Mapping[str, Any]


def record(room: Room, number: int, done: Mapping[str, Any], steps: Mapping[str, int]) -> dict[str, Any]:
    """Returns the activity with this member's report in place of the previous one; `steps`: the number of steps of each lesson. Raises
    Refusal for the teacher, an unknown lesson and more steps than it has."""
    if number == TEACHER:
        raise Refusal("rooms.teacher_reports")
    for lesson, count in done.items():
        if type(count) is not int or not 0 < count <= steps.get(lesson, 0):
            raise Refusal("rooms.bad_progress")
    before = room.activities.get(NAME, {"done": {}})["done"]
    return {"kind": KIND, "done": {**before, str(number): dict(done)}}


def view(activity: Activity, room: Room, number: int) -> dict[str, Any]:
    """Returns every member's progress for the teacher; nothing for a member."""
    return {"done": activity["done"]} if number == TEACHER else {}


def remove_member(activity: Activity, number: int) -> dict[str, Any]:
    """Returns the activity without a member who left."""
    return {**activity, "done": {other: lessons for other, lessons in activity["done"].items() if other != str(number)}}

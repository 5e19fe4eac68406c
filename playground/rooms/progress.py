"""How far the members of a room have come in the course: of each lesson how many steps are done, as their pages report it.

As an activity, of which a room has one at most, it is {"kind", "done": {number of the member: {lesson: steps done}}}. Numbers are text
there, as JSON has them. Nothing else of what somebody does in a lesson leaves their page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.config import Refusal
from playground.rooms.room import TEACHER, Room

KIND = NAME = "course"
Activity = Mapping[str, Any]


def reported(room: Room, number: int, done: Mapping[str, Any], steps: Mapping[str, int]) -> dict[str, Any]:
    """The activity with what this member reports instead of what they did before; `steps`: how many each lesson has. Raises Refusal for the
    teacher, a lesson there is not and more steps than it has."""
    if number == TEACHER:
        raise Refusal("rooms.teacher_reports")
    for lesson, count in done.items():
        if type(count) is not int or not 0 < count <= steps.get(lesson, 0):
            raise Refusal("rooms.bad_progress")
    before = room.activities.get(NAME, {"done": {}})["done"]
    return {"kind": KIND, "done": {**before, str(number): dict(done)}}


def seen(activity: Activity, room: Room, number: int) -> dict[str, Any]:
    """For the teacher all of it, by number; for a member nothing of others."""
    return {"done": activity["done"]} if number == TEACHER else {}


def without(activity: Activity, number: int) -> dict[str, Any]:
    """The activity once a member has gone."""
    return {**activity, "done": {other: one for other, one in activity["done"].items() if other != str(number)}}

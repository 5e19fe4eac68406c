"""What there is to do now in a room: a line that its teacher wrote, a place that it leads to, and who has done it.

As a room keeps it: {"text", "to": {"lesson", "lab" or "task": its name} or {}, "done": numbers of members}; {} is nothing to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.config import Refusal
from playground.config import check as check_knob
from playground.cursor import check
from playground.fields import Lists
from playground.rooms.room import TEACHER, Room, clean_line

TEXT = 200  # characters of the line
PLACES = ("lesson", "lab", "task")
Assignment = Mapping[str, Any]


def made(text: str, to: Mapping[str, str], lists: Lists) -> dict[str, Any]:
    """A new one, that nobody has done; {} of no text and no place. Raises Refusal for a place there is not."""
    if len(to) > 1 or not set(to) <= set(PLACES) or to.get("task") == "own":
        raise Refusal("rooms.no_place")
    for name, value in to.items():
        if not isinstance(value, str):
            raise Refusal("rooms.no_place")
        check_knob(name, value) if name == "task" else check(name, value, lists)
    line = clean_line(text, TEXT)
    return {"text": line, "to": dict(to), "done": []} if line or to else {}


def ticked(assignment: Assignment, number: int, done: bool) -> dict[str, Any]:
    """With this member among those who have done it, or not. Raises Refusal: there is nothing to do, or it is the teacher who says so."""
    if not assignment or number == TEACHER:
        raise Refusal("rooms.nothing_to_do")
    others = [one for one in assignment["done"] if one != number]
    return {**assignment, "done": sorted([*others, number]) if done else others}


def without(assignment: Assignment, number: int) -> Assignment:
    """What stays when a member has gone."""
    return {**assignment, "done": [one for one in assignment["done"] if one != number]} if assignment else assignment


def seen(room: Room, number: int) -> dict[str, Any] | None:
    """As the holder of this number sees it: how many have done it, not who; None when there is nothing to do."""
    if not room.now:
        return None
    done = room.now["done"]
    return {"text": room.now["text"], "to": room.now["to"], "done": len(done), "joined": len(room.members), "mine": number in done}

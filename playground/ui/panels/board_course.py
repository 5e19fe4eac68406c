"""How far a class has come in the course, as a table on its board: how many are at which step of each lesson."""

from __future__ import annotations

from collections.abc import Mapping

from playground.lessons.course import LESSONS
from playground.rooms import progress
from playground.rooms.room import Room
from playground.ui import blocks
from playground.ui.class_board import is_named, name_of
from playground.ui.view import View


def table(view: View, room: Room, number: int) -> list[dict]:
    """A row for each lesson that somebody has begun; for the teacher who wants names, with them. Nothing while nobody has begun any."""
    done: Mapping[str, Mapping[str, int]] = room.activities.get(progress.NAME, {"done": {}})["done"]
    begun = [lesson for lesson in LESSONS if any(lesson.name in one for one in done.values())]
    if not begun:
        return []
    named, most = is_named(view, number), max(len(lesson.steps) for lesson in begun)

    def cell(lesson: str, steps: int) -> int | str:
        at = [int(member) for member, one in done.items() if one.get(lesson) == steps]
        if not named or not at:
            return len(at) or ""
        return f"{len(at)}: " + ", ".join(name_of(view, room.member(member), named) for member in sorted(at))

    rows = [[lesson.say(view.language, "title"), *(_cells(cell, lesson.name, len(lesson.steps), most))] for lesson in begun]
    head = [view.say("board.lesson"), *(view.say("board.steps_done", count=count) for count in range(1, most + 1))]
    return [
        blocks.table("course-steps", head, rows, view.say("board.course_steps"), rowheads=True),
        blocks.text("course-about", view.say("board.course_steps_about"), css="pg-caption"),
    ]


def _cells(cell, lesson: str, steps: int, most: int) -> list[int | str]:
    """Of steps that a lesson doesn't have a dash."""
    return [cell(lesson, count) if count <= steps else "–" for count in range(1, most + 1)]

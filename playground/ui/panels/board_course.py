"""How far a class has come in the course, as a table on its board: how many are at which step of each lesson."""

from __future__ import annotations

from collections.abc import Mapping

from playground.lessons.course import LESSONS, Lesson
from playground.rooms import progress
from playground.rooms.room import Room
from playground.ui import blocks
from playground.ui.class_board import is_named, member_name
from playground.ui.view import View


def table(view: View, room: Room, number: int) -> list[dict]:
    """A row for each lesson that somebody has begun; for the teacher who wants names, with them. Nothing while nobody has begun any. The
    tour, which has many more steps than any other, has a table of its own."""
    done: Mapping[str, Mapping[str, int]] = room.activities.get(progress.NAME, {"done": {}})["done"]
    begun = [lesson for lesson in LESSONS if any(lesson.name in one for one in done.values())]
    if not begun:
        return []
    named = is_named(view, number)

    def cell(lesson: Lesson, steps: range) -> int | str:
        """How many have done so many steps; of steps that a lesson doesn't have a dash."""
        if steps[0] > len(lesson.steps):
            return "–"
        at = [int(member) for member, one in done.items() if one.get(lesson.name) in steps]
        if not named or not at:
            return len(at) or ""
        return f"{len(at)}: " + ", ".join(member_name(view, room.member(member), named) for member in sorted(at))

    def counts(id: str, lessons: list[Lesson], columns: list[range]) -> dict:
        head = [view.say("board.lesson"), *(view.say("board.steps_done", count=_numbers(column)) for column in columns)]
        rows = [[lesson.say(view.language, "title"), *(cell(lesson, column) for column in columns)] for lesson in lessons]
        return blocks.table(id, head, rows, view.say("board.course_steps"), rowheads=True)

    tours, others = ([lesson for lesson in begun if (lesson.asks is None) == is_tour] for is_tour in (True, False))
    found = [counts("tour-steps", [tour], _quarters(len(tour.steps))) for tour in tours]
    if others:
        most = max(len(lesson.steps) for lesson in others)
        found.append(counts("course-steps", others, [range(count, count + 1) for count in range(1, most + 1)]))
    return [*found, blocks.text("course-about", view.say("board.course_steps_about"), css="pg-caption")]


def _quarters(steps: int) -> list[range]:
    """Three parts of what comes before the end, and the end: 1–4, 5–8, 9–12, 13."""
    part = -(-(steps - 1) // 3)
    return [*(range(first, min(first + part, steps)) for first in range(1, steps, part)), range(steps, steps + 1)]


def _numbers(steps: range) -> str:
    return str(steps[0]) if len(steps) == 1 else f"{steps[0]}–{steps[-1]}"

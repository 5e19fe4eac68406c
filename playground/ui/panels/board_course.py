"""The course progress of a class as a table on its board: how many students are at which step of each lesson."""

from __future__ import annotations

from collections.abc import Mapping

from playground.lessons.course import LESSONS, Lesson
from playground.rooms import progress
from playground.rooms.room import Room
from playground.ui import blocks
from playground.ui.class_board import is_named, member_name
from playground.ui.view import View


def build_course_table(view: View, room: Room, number: int) -> list[dict]:
    """Builds a row per begun lesson, with names if the teacher wants them; nothing if none is begun. The tour has its own table, since it
    has many more steps."""
    steps_by_member: Mapping[str, Mapping[str, int]] = room.activities.get(progress.NAME, {"done": {}})["done"]
    begun = [lesson for lesson in LESSONS if any(lesson.name in step_counts for step_counts in steps_by_member.values())]
    if not begun:
        return []
    shows_names = is_named(view, number)

    def format_cell(lesson: Lesson, steps: range) -> int | str:
        """Formats the number of members whose finished steps lie in this range; a dash for steps the lesson doesn't have."""
        if steps[0] > len(lesson.steps):
            return "–"
        members = [int(member) for member, step_counts in steps_by_member.items() if step_counts.get(lesson.name) in steps]
        if not shows_names or not members:
            return len(members) or ""
        return f"{len(members)}: " + ", ".join(member_name(view, room.member(member), shows_names) for member in sorted(members))

    def build_steps_table(id: str, lessons: list[Lesson], columns: list[range]) -> dict:
        head = [view.say("board.lesson"), *(view.say("board.steps_done", count=_format_range(column)) for column in columns)]
        rows = [[lesson.say(view.language, "title"), *(format_cell(lesson, column) for column in columns)] for lesson in lessons]
        return blocks.table(id, head, rows, view.say("board.course_steps"), rowheads=True)

    tours, regular_lessons = ([lesson for lesson in begun if (lesson.asks is None) == is_tour] for is_tour in (True, False))
    tables = [build_steps_table("tour-steps", [tour], _split_steps(len(tour.steps))) for tour in tours]
    if regular_lessons:
        max_steps = max(len(lesson.steps) for lesson in regular_lessons)
        tables.append(build_steps_table("course-steps", regular_lessons, [range(count, count + 1) for count in range(1, max_steps + 1)]))
    return [*tables, blocks.text("course-about", view.say("board.course_steps_about"), css="pg-caption")]


def _split_steps(steps: int) -> list[range]:
    """Splits 1..steps into three ranges before the last step, and the last step: 1–4, 5–8, 9–12, 13."""
    part = -(-(steps - 1) // 3)
    return [*(range(first, min(first + part, steps)) for first in range(1, steps, part)), range(steps, steps + 1)]


def _format_range(steps: range) -> str:
    return str(steps[0]) if len(steps) == 1 else f"{steps[0]}–{steps[-1]}"

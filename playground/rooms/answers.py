"""Reports of the members' pages: anonymous counts of the choices at the questions that end a lesson, and the number of steps done in each
lesson of the course. Nothing else of a member's work in a lesson leaves their page. Each is an activity, of which a room has one at most.

Progress is {"kind", "done": {number of the member: {lesson: steps done}}}; numbers are strings there, as JSON keys must be. The answers are
{"kind", "given": {lesson: {question: {"by", "groups"}}}}. `by` lists the numbers of the members who answered: only the first answer counts.
A group is {"waiting": {number: choice}, "counts": {choice: count}}. A choice waits until its group holds LEAST; then these are added to the
counts and their numbers forgotten: neither a count nor the difference of two reveals one member's choice. One group, MARKS, counts "right"
and "wrong"; each other group counts the choices for one exact wording of the question, under the hash of that wording.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.rooms.question import LEAST
from playground.rooms.room import TEACHER, Room, require

KIND = NAME = "answers"
PROGRESS = "course"  # the kind and the name of the other activity
MARKS = ""
HASH = re.compile(r"[0-9a-f]{10}", re.ASCII)
Activity = Mapping[str, Any]
Group = Mapping[str, Mapping[str, Any]]
EMPTY: Group = {"waiting": {}, "counts": {}}


@dataclass(frozen=True)
class Answer:
    """An answer to one question of one lesson: the hash of the question's wording, the number of the choice, and whether it was right."""

    lesson: str
    question: str
    wording: str
    choice: int
    right: bool


@dataclass(frozen=True)
class Tally:
    """Published counts of one question: `right` of `count` answers, and how often each choice was made for the same wording."""

    right: int
    count: int
    choices: Mapping[int, int]


def record(room: Room, number: int, answer: Answer, questions: Mapping[str, Sequence[str]], most: int) -> dict[str, Any]:
    """Returns the activity with a member's answer; a second one to the same question is ignored. `questions`: those of each lesson, with up
    to `most` choices. Raises Refusal for the teacher and for an unknown question, choice or hash."""
    require(number != TEACHER, "rooms.teacher_reports")
    known = answer.question in questions.get(answer.lesson, ()) and 0 <= answer.choice < most and HASH.fullmatch(answer.wording)
    require(bool(known), "rooms.bad_answer")
    recorded = room.activities.get(NAME, {"given": {}})["given"]
    lesson = recorded.get(answer.lesson, {})
    before = lesson.get(answer.question, {"by": [], "groups": {}})
    if number in before["by"]:
        return {"kind": KIND, "given": recorded}
    groups = dict(before["groups"])
    for name, choice in ((MARKS, "right" if answer.right else "wrong"), (answer.wording, str(answer.choice))):
        groups[name] = _add_choice(groups.get(name, EMPTY), number, choice)
    now = {"by": [*before["by"], number], "groups": groups}
    return {"kind": KIND, "given": {**recorded, answer.lesson: {**lesson, answer.question: now}}}


def _add_choice(group: Group, number: int, choice: str) -> Group:
    """Returns the group with one more choice; once LEAST are waiting they become counts."""
    waiting = {**group["waiting"], str(number): choice}
    if len(waiting) < LEAST:
        return {**group, "waiting": waiting}
    counts = dict(group["counts"])
    for choice in waiting.values():
        counts[choice] = counts.get(choice, 0) + 1
    return {"waiting": {}, "counts": counts}


def tally(activity: Activity | None, lesson: str, question: str, wording: str) -> Tally:
    """Counts the answers to a question; `wording` is the hash of the text on screen."""
    groups = (activity or {"given": {}})["given"].get(lesson, {}).get(question, {}).get("groups", {})
    marks, choices = (groups.get(name, EMPTY)["counts"] for name in (MARKS, wording))
    return Tally(marks.get("right", 0), sum(marks.values()), {int(choice): count for choice, count in choices.items()} if wording else {})


def view(activity: Activity, room: Room, number: int) -> dict[str, Any]:
    """Returns the number of counted answers per lesson for the teacher, whose page re-reads when it changes; nothing for a member."""
    if number != TEACHER:
        return {}
    counted = {
        lesson: sum(sum(group["counts"].values()) for question in questions.values() for group in question["groups"].values())
        for lesson, questions in activity["given"].items()
    }
    return {"counted": counted}


def remove_member(activity: Activity, number: int) -> dict[str, Any]:
    """Returns the activity without the waiting choices of a member who left."""

    def clean(question: Mapping[str, Any]) -> dict[str, Any]:
        groups = {}
        for name, group in question["groups"].items():
            waiting = {other: choice for other, choice in group["waiting"].items() if other != str(number)}
            if waiting or group["counts"]:
                groups[name] = {**group, "waiting": waiting}
        return {"by": [other for other in question["by"] if other != number], "groups": groups}

    lessons = {lesson: {name: clean(question) for name, question in questions.items()} for lesson, questions in activity["given"].items()}
    return {**activity, "given": lessons}


def record_progress(room: Room, number: int, done: Mapping[str, Any], steps: Mapping[str, int]) -> dict[str, Any]:
    """Returns the activity with this member's report in place of the previous one; `steps`: the number of steps of each lesson. Raises
    Refusal for the teacher, an unknown lesson and more steps than it has."""
    require(number != TEACHER, "rooms.teacher_reports")
    for lesson, count in done.items():
        require(type(count) is int and 0 < count <= steps.get(lesson, 0), "rooms.bad_progress")
    before = room.activities.get(PROGRESS, {"done": {}})["done"]
    return {"kind": PROGRESS, "done": {**before, str(number): dict(done)}}


def view_progress(activity: Activity, room: Room, number: int) -> dict[str, Any]:
    """Returns every member's progress for the teacher; nothing for a member."""
    return {"done": activity["done"]} if number == TEACHER else {}


def remove_progress(activity: Activity, number: int) -> dict[str, Any]:
    """Returns the activity without a member who left."""
    return {**activity, "done": {other: lessons for other, lessons in activity["done"].items() if other != str(number)}}

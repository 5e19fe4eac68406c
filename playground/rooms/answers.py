"""What the members of a room chose at the questions that end a lesson, as their pages report it: counted, and never told by whom.

As an activity, of which a room has one at most, it is {"kind", "given": {lesson: {question: {"by", "groups"}}}}. `by` are the numbers of
those who answered: only the first answer counts. A group is {"waiting": {number: choice}, "counts": {choice: how often}}. A choice waits
until LEAST of its group are there; then they are added to the counts, and nothing says any more whose they were: so neither a count nor the
difference of two tells what one member chose. One group, MARKS, has "right" and "wrong" of all; each other one has the choices of those
who were asked the very same, under the hash of what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.rooms.question import LEAST
from playground.rooms.room import TEACHER, Room, require

KIND = NAME = "answers"
MARKS = ""
ASKED = re.compile(r"[0-9a-f]{10}", re.ASCII)
Activity = Mapping[str, Any]
Group = Mapping[str, Mapping[str, Any]]
EMPTY: Group = {"waiting": {}, "counts": {}}


@dataclass(frozen=True)
class Answer:
    """To one question of one lesson: the hash of what was asked, the number of the choice, and whether it was right."""

    lesson: str
    question: str
    asked: str
    choice: int
    right: bool


@dataclass(frozen=True)
class Tally:
    """What may be told of one question: how many answers are `right`, of how many; and how often each choice was made by those who were
    asked the very same."""

    right: int
    count: int
    choices: Mapping[int, int]


def reported(room: Room, number: int, answer: Answer, questions: Mapping[str, Sequence[str]], most: int) -> dict[str, Any]:
    """The activity with a member's answer; one more to the same question changes nothing. `questions`: those of each lesson, with up to
    `most` choices. Raises Refusal for the teacher, and for what no lesson asks."""
    require(number != TEACHER, "rooms.teacher_reports")
    known = answer.question in questions.get(answer.lesson, ()) and 0 <= answer.choice < most and ASKED.fullmatch(answer.asked)
    require(bool(known), "rooms.bad_answer")
    given = room.activities.get(NAME, {"given": {}})["given"]
    lesson = given.get(answer.lesson, {})
    before = lesson.get(answer.question, {"by": [], "groups": {}})
    if number in before["by"]:
        return {"kind": KIND, "given": given}
    groups = dict(before["groups"])
    for name, choice in ((MARKS, "right" if answer.right else "wrong"), (answer.asked, str(answer.choice))):
        groups[name] = _added(groups.get(name, EMPTY), number, choice)
    now = {"by": [*before["by"], number], "groups": groups}
    return {"kind": KIND, "given": {**given, answer.lesson: {**lesson, answer.question: now}}}


def _added(group: Group, number: int, choice: str) -> Group:
    """The group with one choice more; LEAST that wait become counts."""
    waiting = {**group["waiting"], str(number): choice}
    if len(waiting) < LEAST:
        return {**group, "waiting": waiting}
    counts = dict(group["counts"])
    for one in waiting.values():
        counts[one] = counts.get(one, 0) + 1
    return {"waiting": {}, "counts": counts}


def tally(activity: Activity | None, lesson: str, question: str, asked: str) -> Tally:
    """Of a question; `asked` is the hash of what is asked on screen."""
    groups = (activity or {"given": {}})["given"].get(lesson, {}).get(question, {}).get("groups", {})
    marks, choices = (groups.get(name, EMPTY)["counts"] for name in (MARKS, asked))
    return Tally(marks.get("right", 0), sum(marks.values()), {int(choice): count for choice, count in choices.items()} if asked else {})


def seen(activity: Activity, room: Room, number: int) -> dict[str, Any]:
    """For the teacher how many answers are counted in each lesson, so that their page knows when there is more to read; for a member
    nothing."""
    if number != TEACHER:
        return {}
    counted = {
        lesson: sum(sum(group["counts"].values()) for one in questions.values() for group in one["groups"].values())
        for lesson, questions in activity["given"].items()
    }
    return {"counted": counted}


def without(activity: Activity, number: int) -> dict[str, Any]:
    """The activity once a member has gone: what still waits under their number goes with them."""

    def left(one: Mapping[str, Any]) -> dict[str, Any]:
        groups = {}
        for name, group in one["groups"].items():
            waiting = {other: choice for other, choice in group["waiting"].items() if other != str(number)}
            if waiting or group["counts"]:
                groups[name] = {**group, "waiting": waiting}
        return {"by": [other for other in one["by"] if other != number], "groups": groups}

    given = {lesson: {name: left(one) for name, one in questions.items()} for lesson, questions in activity["given"].items()}
    return {**activity, "given": given}

"""The class's guess: one question of a lab or a lesson, put to a room.

While a question is open its guesses are kept by number, since a change must replace one. Nobody is ever told one of them. When it closes
the numbers are dropped, and only how often each guess was made stays. One or two guesses would tell whose they were: what is shown is
shown of groups of at least LEAST.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from playground.cursor import check, choices
from playground.fields import Lists, short
from playground.rooms.room import TEACHER, Room, require, require_teacher

Question = Mapping[str, Any]
KIND = "question"
SURE = choices("sure")  # percent
LEAST = 3  # guesses in all before any is shown, and guesses of one option before it is shown how sure they were
ABOUT = ("lab", "lesson")  # fields of the cursor that can have a question


def asked(room: Room, number: int, place: Mapping[str, str], options: Sequence[str], lists: Lists) -> Question:
    """An open question. `place` are fields of the cursor that lead to it, `options` what can be guessed there. Raises Refusal: only the
    teacher asks, about a place that can be, and each lab and lesson once at a time."""
    require_teacher(number)
    for name, value in place.items():
        check(name, value, lists)
    others = [one["place"] for one in room.activities.values() if one["kind"] == KIND]
    require(all(about(place) != about(other) for other in others), "rooms.question_asked")
    return {"kind": KIND, "place": dict(place), "options": list(options), "state": "open", "answers": {}}


def about(place: Mapping[str, str]) -> tuple[str, str]:
    """Whether it is the question of a lab or a lesson, and of which."""
    return next(((field, place[field]) for field in ABOUT if place.get(field)), ("", ""))


def answered(question: Question, number: int, option: str, sure: str) -> Question:
    """With a member's guess, instead of the one before. Raises Refusal: closed, the teacher's own, or no guess that is offered."""
    require(number != TEACHER, "rooms.teacher_asks")
    require(question["state"] == "open", "rooms.question_closed")
    for name, value, among in (("guess", option, question["options"]), ("sure", sure, SURE)):
        require(value in among, "config.not_a_choice", name=name, value=short(value), choices=", ".join(among))
    return {**question, "answers": {**question["answers"], str(number): [option, sure]}}


def closed(question: Question, room: Room, number: int) -> Question:
    """Without anybody's number. Raises Refusal: only the teacher closes."""
    require_teacher(number)
    if question["state"] != "open":
        return question
    given = list(question["answers"].values())
    counts = {option: [given.count([option, sure]) for sure in SURE] for option in question["options"]}
    kept = {name: question[name] for name in ("kind", "place", "options")}
    return {**kept, "state": "closed", "joined": len(room.members), "counts": counts}


def revealed(question: Question, room: Room, number: int, answer: str) -> Question:
    """For everybody to see; `answer` is the right one, "" where no experiment has decided it. Raises Refusal: only the teacher reveals."""
    return {**closed(question, room, number), "state": "revealed", "answer": answer if answer in question["options"] else ""}


def seen(question: Question, room: Room, number: int) -> dict[str, Any]:
    """How many have answered; what they said only once it is revealed, and were at least LEAST. `mine` says that this member's own guess is
    in."""
    state = question["state"]
    if state == "open":
        answers = question["answers"]
        told = {"joined": len(room.members), "answered": len(answers), "mine": str(number) in answers}
    else:
        told = {"joined": question["joined"], "answered": total(question["counts"]), "mine": False}
    more = {"counts": shown(question["counts"]), "answer": question["answer"]} if state == "revealed" else {}
    return {"place": question["place"], "state": state, **told, **more}


def shown(counts: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """What may be seen of `counts`: nothing with fewer than LEAST guesses in all; and for each option how often it was guessed with each
    degree of `SURE`, then how often by people of whom it isn't told how sure they were, as fewer than LEAST of them guessed it."""
    if total(counts) < LEAST:
        return {}
    return {option: [*row, 0] if sum(row) >= LEAST else [*(0 for _ in row), sum(row)] for option, row in counts.items()}


def without(question: Question, number: int) -> Question:
    """The question when a member has gone: a guess that still has their number goes with them."""
    if question["state"] != "open":
        return question
    return {**question, "answers": {other: one for other, one in question["answers"].items() if other != str(number)}}


def total(counts: Mapping[str, Sequence[int]]) -> int:
    """How many guessed. `counts`: for each option how often it was guessed with each degree of `SURE`."""
    return sum(map(sum, counts.values()))


def calibration(questions: Iterable[Question]) -> dict[str, tuple[int, int]]:
    """Over all revealed questions, as they are `seen`, that an experiment has decided: for each degree of `SURE` with LEAST guesses or
    more (right, guesses). It is made of what each question shows, so that no difference of two tells more."""
    decided = [one for one in questions if one["state"] == "revealed" and one["answer"] and one["counts"]]
    found = {}
    for at, sure in enumerate(SURE):
        right = sum(one["counts"][one["answer"]][at] for one in decided)
        made = sum(row[at] for one in decided for row in one["counts"].values())
        if made >= LEAST:
            found[sure] = (right, made)
    return found

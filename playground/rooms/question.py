"""The class's guess: one question of a lab or a lesson, put to a room.

While a question is open its guesses are stored by member number, since a changed guess replaces the previous one; no single guess is ever
shown. Closing drops the numbers and leaves only counts. Counts of one or two guesses would reveal their authors, so only groups of at least
LEAST are shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from playground.cursor import check, choices
from playground.knobs import Lists, shortened
from playground.rooms.experiment import KIND as DEALT
from playground.rooms.room import TEACHER, Room, require, require_teacher

Question = Mapping[str, Any]
KIND = "question"
SURE = choices("sure")  # percent
LEAST = 3  # guesses in all before any is shown, and guesses of one option before its degrees of certainty are shown
LATE = "late"  # marks a guess made after training began
ABOUT = ("lab", "lesson")  # fields of the cursor that can have a question


def ask(room: Room, number: int, place: Mapping[str, str], options: Sequence[str], lists: Lists) -> Question:
    """Returns an open question. `place`: the cursor fields that lead to it, `options`: the possible guesses. Raises Refusal for a member,
    an invalid place, and a lab or lesson that already has a question."""
    require_teacher(number)
    for name, value in place.items():
        check(name, value, lists)
    places = [activity["place"] for activity in room.activities.values() if activity["kind"] == KIND]
    require(all(find_subject(place) != find_subject(other) for other in places), "rooms.question_asked")
    return {"kind": KIND, "place": dict(place), "options": list(options), "state": "open", "answers": {}}


def find_subject(place: Mapping[str, str]) -> tuple[str, str]:
    """Returns ("lab" or "lesson", its name) of a place; ("", "") without either."""
    return next(((field, place[field]) for field in ABOUT if place.get(field)), ("", ""))


def guess(question: Question, room: Room, number: int, option: str, sure: str) -> Question:
    """Returns the question with a member's guess in place of the previous one. Raises Refusal: closed, the teacher's, not an option, or
    fixed."""
    require(number != TEACHER, "rooms.teacher_asks")
    require(question["state"] == "open", "rooms.question_closed")
    require(not _is_fixed(question, room, number), "lessons.fixed")
    for name, value, among in (("guess", option, question["options"]), ("sure", sure, SURE)):
        require(value in among, "config.not_a_choice", name=name, value=shortened(value), choices=", ".join(among))
    is_late = any(_list_begun(question, room))
    return {**question, "answers": {**question["answers"], str(number): [option, sure, *([LATE] if is_late else [])]}}


def _is_fixed(question: Question, room: Room, number: int) -> bool:
    """Tells whether a member can't guess any more: of its lab, dealt to the class, their run has begun, or any run since they guessed."""
    key = str(number)
    return any(key in runs or (runs and key in question["answers"]) for runs in _list_begun(question, room))


def _list_begun(question: Question, room: Room) -> list[Mapping[str, str]]:
    """Lists the runs of each experiment in which the question's lab was dealt."""
    lab = question["place"].get("lab", "")
    return [each["runs"] for each in room.activities.values() if each["kind"] == DEALT and lab and each.get("lab") == lab]


def find_by_lab(room: Room, lab: str) -> Question | None:
    """Returns the question about a lab; None without one."""
    questions = (activity for activity in room.activities.values() if activity["kind"] == KIND)
    return next((each for each in questions if lab and find_subject(each["place"]) == ("lab", lab)), None)


def awaits_guess(question: Question | None, room: Room, number: int) -> bool:
    """Tells whether a member has still to guess, and can."""
    if question is None or question["state"] != "open" or number == TEACHER:
        return False
    return str(number) not in question["answers"] and not _is_fixed(question, room, number)


def close(question: Question, room: Room, number: int) -> Question:
    """Returns the question closed, with counts instead of member numbers. Raises Refusal for a member."""
    require_teacher(number)
    if question["state"] != "open":
        return question
    guesses = list(question["answers"].values())
    counts = {option: [sum(guess[:2] == [option, sure] for guess in guesses) for sure in SURE] for option in question["options"]}
    common = {name: question[name] for name in ("kind", "place", "options")} | _count_late(question)
    return {**common, "state": "closed", "joined": len(room.members), "counts": counts}


def _count_late(question: Question) -> dict[str, Any]:
    """Counts the guesses made after the first run of the lab had begun, in all and of each option; {} without one."""
    if question["state"] != "open":  # an older room has no counts of options
        return {name: question[name] for name in ("late", "late_by") if name in question}
    late = [guess[0] for guess in question["answers"].values() if LATE in guess]
    return {"late": len(late), "late_by": {option: late.count(option) for option in question["options"]}} if late else {}


def _show_late(question: Question) -> dict[str, int]:
    """Returns the late guesses of the options whose late and other guesses are none or LEAST; {} if those of all other options together
    aren't, since the sums would tell them."""
    late_by, sums = question.get("late_by", {}), {option: sum(row) for option, row in question["counts"].items()}

    def is_large(late: int, guesses: int) -> bool:
        return all(part == 0 or part >= LEAST for part in (late, guesses - late))

    visible = {option: late for option, late in late_by.items() if late and is_large(late, sums[option])}
    remaining = [option for option in late_by if option not in visible]
    return visible if is_large(sum(late_by[option] for option in remaining), sum(sums[option] for option in remaining)) else {}


def reveal(question: Question, room: Room, number: int, answer: str) -> Question:
    """Returns the question revealed to the class; `answer` is right, "" if no experiment decided it. Raises Refusal for a member."""
    return {**close(question, room, number), "state": "revealed", "answer": answer if answer in question["options"] else ""}


def view(question: Question, room: Room, number: int) -> dict[str, Any]:
    """Returns how many members answered, and after the reveal the counts of large enough groups. `mine`: this member's guess is in;
    `fixed`: and can't change."""
    state = question["state"]
    if state == "open":
        answers = question["answers"]
        counts = {"joined": len(room.members), "answered": len(answers), "mine": str(number) in answers}
        counts["fixed"] = _is_fixed(question, room, number)
    else:
        counts = {"joined": question["joined"], "answered": count_guesses(question["counts"]), "mine": False, "fixed": False}
    late, answer = {name: count for name, count in _count_late(question).items() if name == "late"}, {}
    if state == "revealed":
        answer = {"counts": hide_small_groups(question["counts"]), "answer": question["answer"]}
        answer |= {"late_by": _show_late(question)} if late else {}
    return {"place": question["place"], "state": state, **counts, **late, **answer}


def hide_small_groups(counts: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """Returns the counts that may be shown: none of fewer than LEAST guesses in all; for each option a count per degree of `SURE`, then the
    count of guesses whose degree is hidden because fewer than LEAST members chose the option."""
    if count_guesses(counts) < LEAST:
        return {}
    return {option: [*row, 0] if sum(row) >= LEAST else [*(0 for _ in row), sum(row)] for option, row in counts.items()}


def remove_member(question: Question, number: int) -> Question:
    """Returns the question without the guess of a member who left, if it still has numbers."""
    if question["state"] != "open":
        return question
    return {**question, "answers": {other: guess for other, guess in question["answers"].items() if other != str(number)}}


def count_guesses(counts: Mapping[str, Sequence[int]]) -> int:
    """Returns the number of guesses. `counts`: for each option a count per degree of `SURE`."""
    return sum(map(sum, counts.values()))


def calibrate(questions: Iterable[Question]) -> dict[str, tuple[int, int]]:
    """Returns (right, guesses) for each degree of `SURE` with LEAST guesses or more. `questions` are views; those that an experiment
    decided count. Computed from shown counts only, so the difference of two calibrations reveals nothing more."""
    decided = [question for question in questions if question["state"] == "revealed" and question["answer"] and question["counts"]]
    calibration = {}
    for at, sure in enumerate(SURE):
        right = sum(question["counts"][question["answer"]][at] for question in decided)
        guesses = sum(row[at] for question in decided for row in question["counts"].values())
        if guesses >= LEAST:
            calibration[sure] = (right, guesses)
    return calibration

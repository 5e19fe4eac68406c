"""What a class answers to the questions that end a lesson: counted in groups, the first answer of each, and never told by whom."""

from __future__ import annotations

import json

import pytest

from playground.rooms import activities, answers
from playground.rooms.answers import Answer, Tally
from playground.rooms.question import LEAST
from playground.rooms.registry import DAY, Rooms
from playground.rooms.room import ticket_of
from tests.rooms.test_registry import TEACHER, Clock, refused

CLASS = [str(n) * 32 for n in range(LEAST * 2)]
SAME, OTHER = "0123456789", "abcdef0123"
QUESTIONS = {"attention": ["attended", "row_rest"]}


@pytest.fixture
def rooms(tmp_path) -> Rooms:
    clock = Clock()
    found = Rooms(tmp_path, clock)
    found.code = found.open(TEACHER, "en", clock.now + DAY).code
    for token in CLASS:
        found.join(found.code, token)
    return found


def give(rooms: Rooms, token: str, choice: int, asked: str = SAME, lesson: str = "attention", question: str = "attended") -> None:
    """The choice 2 is right."""
    answer = Answer(lesson, question, asked, choice, choice == 2)

    def make(room, number):
        return activities.changed(room, answers.NAME, answers.reported(room, number, answer, QUESTIONS, 4))

    rooms.change(rooms.code, ticket_of(rooms.code, token), make)


def kept(rooms: Rooms) -> dict:
    return rooms.inside(rooms.code, ticket_of(rooms.code, TEACHER))[0].activities[answers.NAME]


def tally(rooms: Rooms, asked: str = SAME) -> Tally:
    return answers.tally(kept(rooms), "attention", "attended", asked)


def test_nothing_is_told_of_fewer_than_a_group_nor_of_the_rest_of_one(rooms):
    """So that neither a count nor the difference of two tells what one member chose."""
    told = []
    for token, choice in zip(CLASS, (2, 0, 2, 1, 2, 2), strict=True):
        give(rooms, token, choice)
        told.append(tally(rooms))
    first = Tally(2, 3, {2: 2, 0: 1})
    assert told == [Tally(0, 0, {})] * 2 + [first] * 3 + [Tally(4, 6, {2: 4, 0: 1, 1: 1})]


def test_no_choice_that_is_counted_is_kept_under_a_number(rooms):
    for token in CLASS[:LEAST]:
        give(rooms, token, 2)
    assert '"waiting": {}' in json.dumps(kept(rooms))
    assert json.dumps(kept(rooms)).count('"1"') == 0


def test_those_who_were_asked_about_other_numbers_count_as_right_or_wrong_alone(rooms):
    for token, asked in zip(CLASS, (SAME, OTHER, SAME), strict=False):
        give(rooms, token, 2, asked)
    assert tally(rooms) == tally(rooms, OTHER) == Tally(3, 3, {})
    give(rooms, CLASS[3], 1)
    assert tally(rooms) == Tally(3, 3, {2: 2, 1: 1})
    assert tally(rooms, OTHER).choices == {}


def test_the_first_answer_of_each_counts(rooms):
    for choice in (0, 2, 2, 2):
        give(rooms, CLASS[0], choice)
    give(rooms, CLASS[1], 0)
    assert tally(rooms).count == 0
    give(rooms, CLASS[2], 0)
    assert tally(rooms) == Tally(0, 3, {0: 3})


def test_a_member_is_told_nothing_and_the_teacher_how_many_are_counted(rooms):
    for token in CLASS[:LEAST]:
        give(rooms, token, 2)
    seen = {token: rooms.view(rooms.code, ticket_of(rooms.code, token))["activities"]["answers"] for token in (TEACHER, CLASS[0])}
    assert seen == {TEACHER: {"kind": "answers", "counted": {"attention": 2 * LEAST}}, CLASS[0]: {"kind": "answers"}}


def test_whoever_goes_takes_what_waits_along_and_is_in_no_list(rooms):
    give(rooms, CLASS[0], 1)
    rooms.leave(rooms.code, ticket_of(rooms.code, CLASS[0]))
    assert kept(rooms)["given"] == {"attention": {"attended": {"by": [], "groups": {}}}}


def test_it_is_there_after_a_restart(rooms, tmp_path):
    for token in CLASS[: LEAST + 1]:
        give(rooms, token, 2)
    again = Rooms(tmp_path, Clock())
    again.code = rooms.code
    assert kept(again) == kept(rooms)
    give(again, CLASS[LEAST], 2)
    assert kept(again) == kept(rooms)


@pytest.mark.parametrize("wrong", [{"choice": 4}, {"choice": -1}, {"asked": ""}, {"asked": "x" * 10}, {"lesson": "no"}, {"question": "no"}])
def test_what_no_lesson_asks_is_refused(rooms, wrong):
    with refused("rooms.bad_answer"):
        give(rooms, CLASS[0], **({"choice": 1} | wrong))


def test_a_teacher_is_no_student(rooms):
    with refused("rooms.teacher_reports"):
        give(rooms, TEACHER, 1)

"""The class's guess: who may do what, what nobody is told, and what is left once a question is closed."""

from __future__ import annotations

from functools import reduce

import pytest

from playground.rooms import activities, question
from playground.rooms.question import SURE, Question
from playground.rooms.room import TEACHER
from playground.ui.links import LISTS
from tests.rooms.group import refused, room_of

PLACE, OPTIONS, ROOM = {"lab": "softmax"}, ("grows", "shrinks", "same"), room_of(1, 2)


def asked(*guesses: tuple[str, str]) -> Question:
    """The open question with a guess of each member from 1 on."""
    start = question.asked(ROOM, TEACHER, PLACE, OPTIONS, LISTS)
    return reduce(lambda one, at: question.answered(one, at[0], *at[1]), enumerate(guesses, 1), start)


def seen(one: Question, number: int = TEACHER) -> dict:
    return question.seen(one, ROOM, number)


@pytest.mark.parametrize(
    ("guesses", "counts"),
    [
        ([("shrinks", "95")] * 2, {}),  # one or two would tell whose they were
        ([("grows", sure) for sure in SURE] + [("same", "95")] * 2, {"grows": [1, 1, 1, 0], "shrinks": [0, 0, 0, 0], "same": [0, 0, 0, 2]}),
    ],
)
def test_what_one_or_two_guessed_or_how_sure_they_were_is_not_told(guesses, counts):
    view = seen(question.revealed(asked(*guesses), ROOM, TEACHER, "grows"))
    assert (view["counts"], view["answered"]) == (counts, len(guesses))
    assert question.calibration([view]) == {}


def test_once_closed_no_number_is_left_and_leaving_tells_nothing():
    """A count that falls when a member leaves would tell what they had guessed."""
    open_one = question.answered(asked(("same", "50"), ("grows", "75")), 1, "grows", "75")  # in the place of the one before
    closed = question.closed(open_one, ROOM, TEACHER)
    common = {"place": PLACE, "joined": 2, "answered": 2}
    assert [seen(open_one, number) for number in (TEACHER, 1)] == [common | {"state": "open", "mine": mine} for mine in (False, True)]
    assert seen(closed, 1) == common | {"state": "closed", "mine": False}
    assert closed == {
        "kind": "question", "place": PLACE, "options": list(OPTIONS), "state": "closed", "joined": 2,
        "counts": {"grows": [0, 2, 0], "shrinks": [0, 0, 0], "same": [0, 0, 0]},
    }  # fmt: skip
    assert question.without(closed, 1) == question.closed(closed, room_of(), TEACHER) == closed
    assert question.without(open_one, 1) == {**open_one, "answers": {"2": ["grows", "75"]}}
    for one in (closed, question.revealed(closed, ROOM, TEACHER, "grows")):
        with refused("rooms.question_closed"):
            question.answered(one, 2, "same", "75")


@pytest.mark.parametrize(
    ("key", "act"),
    [
        ("rooms.not_teacher", lambda: question.asked(ROOM, 1, {"lab": "masks"}, OPTIONS, LISTS)),
        ("rooms.not_teacher", lambda: question.closed(asked(), ROOM, 1)),
        ("rooms.not_teacher", lambda: question.revealed(asked(), ROOM, 1, "grows")),
        ("rooms.teacher_asks", lambda: question.answered(asked(), TEACHER, "grows", "75")),
        ("rooms.no_activity", lambda: activities.found(ROOM, "nothing", "question")),
        ("rooms.no_activity", lambda: activities.found(activities.changed(ROOM, "one", asked()), "one", "experiment")),
        ("config.not_a_choice", lambda: question.answered(asked(), 1, "unknown", "75")),
        ("config.not_a_choice", lambda: question.answered(asked(), 1, "grows", "100")),
        ("config.not_a_choice", lambda: question.asked(ROOM, TEACHER, {"lab": "no"}, OPTIONS, LISTS)),
        ("config.not_a_choice", lambda: question.asked(ROOM, TEACHER, {"lesson": "no"}, OPTIONS, LISTS)),
        ("config.unknown", lambda: question.asked(ROOM, TEACHER, {"no": "1"}, OPTIONS, LISTS)),
    ],
)
def test_what_is_refused(key, act):
    with refused(key):
        act()


def test_a_place_is_asked_about_once_until_it_is_deleted_and_answered_when_it_is_known():
    room = activities.changed(ROOM, "one", asked())
    for place in (PLACE, PLACE | {"layer": "1"}):
        with refused("rooms.question_asked"):
            question.asked(room, TEACHER, place, OPTIONS, LISTS)
    question.asked(room, TEACHER, {"lab": "masks"}, OPTIONS, LISTS)
    question.asked(activities.dropped(room, "one"), TEACHER, PLACE, OPTIONS, LISTS)
    one = asked(("grows", "75"))
    for answer, result in (("", ""), ("no such guess", ""), ("same", "same")):
        one = question.revealed(one, ROOM, TEACHER, answer)
        assert (seen(one, 1)["answer"], one["counts"]["grows"]) == (result, [0, 1, 0])


def test_the_calibration_counts_all_that_is_revealed_and_decided():
    decided = {"state": "revealed", "counts": {"a": [1, 1, 3, 0], "b": [2, 0, 1, 0]}, "answer": "a"}
    other = decided | {"counts": {"c": [0, 0, 3, 0], "d": [0, 0, 0, 2]}, "answer": "d"}
    undecided = decided | {"answer": ""}
    assert question.calibration([decided, other, undecided, decided | {"counts": {}}, {"state": "closed"}]) == {"50": (1, 3), "95": (3, 7)}

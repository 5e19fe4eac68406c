"""How many runs a class may have: what is usual, what a teacher sets within what the server allows, and what counts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from playground.rooms.registry import WRONG_CODES
from playground.rooms.room import ticket_of
from playground.rooms.run_limits import USUAL, RunLimits, Tally
from playground.runs.limits import Limits
from tests.rooms.test_registry import ANNA, BEN, TEACHER, clock, code, refused, rooms, seen

__all__ = ["clock", "code", "rooms"]  # fixtures


def run(id: str, owner: str = "anna", unfinished: bool = True) -> SimpleNamespace:
    return SimpleNamespace(id=id, owner=owner, unfinished=unfinished)


class Class:
    """A room of these limits, and its runs."""

    def __init__(self, rooms, code: str, **limits: int) -> None:
        rooms.limit(code, ticket_of(code, TEACHER), limits)
        self.room, self.runs = rooms.inside(code, ticket_of(code, TEACHER))[0], {}
        self.tally = Tally(rooms.run_limits, self.runs.get)

    def begin(self, *new: SimpleNamespace) -> None:
        with self.tally.beginning(self.room, new[0].owner, list(new)):
            self.runs.update({one.id: one for one in new})


def test_thirty_students_begin_at_once_by_default(rooms, code):
    group = Class(rooms, code)
    for student in range(30):
        group.begin(run(f"a{student}", str(student)), run(f"b{student}", str(student)))
    with refused("rooms.room_at_once"):
        group.begin(run("more", "another"))


def test_each_student_has_so_many_at_once_and_in_all(rooms, code):
    group = Class(rooms, code, each_at_once=2, each_kept=3)
    group.begin(run("1"), run("2"))
    with refused("rooms.each_at_once"):
        group.begin(run("3"))
    group.begin(run("3", "ben"))
    group.runs["1"].unfinished = False
    group.begin(run("4"))
    group.runs["2"].unfinished = False
    with refused("rooms.each_kept"):
        group.begin(run("5"))
    del group.runs["1"]
    group.begin(run("5"))


def test_the_room_has_so_many_in_all(rooms, code):
    group = Class(rooms, code, room_kept=2)
    group.begin(run("1", unfinished=False), run("2", "anna", unfinished=False))
    with refused("rooms.room_kept"):
        group.begin(run("3", "ben", unfinished=False))


def test_what_is_refused_or_fails_takes_no_place(rooms, code):
    group = Class(rooms, code, room_at_once=1)
    with pytest.raises(OSError), group.tally.beginning(group.room, "anna", [run("1")]):
        raise OSError
    with refused("rooms.each_at_once"):
        group.begin(*(run(str(n)) for n in range(7)))
    group.begin(run("1"))


def test_what_is_being_made_counts(rooms, code):
    group = Class(rooms, code, room_at_once=1)
    with group.tally.beginning(group.room, "anna", [run("1")]), refused("rooms.room_at_once"):
        group.begin(run("2", "ben"))


def test_a_copy_of_what_has_ended_counts_only_among_what_is_kept(rooms, code):
    group = Class(rooms, code, each_at_once=1, room_at_once=1)
    group.begin(run("1"))
    group.begin(run("2", unfinished=False))


@pytest.mark.parametrize("value", [0, 1000, "9", True, 1.5])
def test_a_limit_is_within_the_servers(rooms, code, value):
    with refused("rooms.bad_limit"):
        rooms.limit(code, ticket_of(code, TEACHER), {"each_at_once": value})


def test_a_server_that_allows_less_is_heeded_and_the_teacher_is_told(rooms, code):
    limits = RunLimits(Limits(runs_each=2, runs_unfinished=10, runs_kept=15))
    assert limits.seen(rooms.inside(code, ticket_of(code, TEACHER))[0]) == {
        "each_at_once": [2, 2], "each_kept": [15, 15], "room_at_once": [10, 10], "room_kept": [15, 15],
    }  # fmt: skip
    rooms.join(code, ANNA)
    assert "limits" not in seen(rooms, code, ANNA)
    assert {name: value for name, (value, _) in seen(rooms, code, TEACHER)["limits"].items()} == USUAL
    with refused("page.not_a_command"):
        rooms.limit(code, ticket_of(code, TEACHER), {"more": 1})
    with refused("rooms.not_teacher"):
        rooms.limit(code, ticket_of(code, ANNA), {})


def test_a_class_behind_one_router_may_mistype_more_often_than_a_stranger(rooms, code):
    for address, most in (("stranger", WRONG_CODES), ("school", 200)):
        if address == "school":
            rooms.join(code, ANNA, address=address)
        for _ in range(most):
            with refused("rooms.unknown"):
                rooms.join("AAAAA", BEN, address=address)
        with refused("rooms.too_often"):
            rooms.join("AAAAA", BEN, address=address)

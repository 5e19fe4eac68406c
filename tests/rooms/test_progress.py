"""How far a class is in the course: what a member may report, what stays of it, and who is told."""

from __future__ import annotations

import json

import pytest

from playground.rooms import activities, progress
from playground.rooms.registry import DAY, Rooms
from playground.rooms.room import ticket_of
from tests.rooms.test_registry import ANNA, BEN, TEACHER, Clock, refused

STEPS = {"attention": 4, "masks": 3}


@pytest.fixture
def rooms(tmp_path) -> Rooms:
    clock = Clock()
    found = Rooms(tmp_path, clock)
    found.code = found.open(TEACHER, "en", clock.now + DAY).code
    for token in (ANNA, BEN):
        found.join(found.code, token)
    return found


def report(rooms: Rooms, token: str, done: dict) -> None:
    def make(room, number):
        return activities.changed(room, progress.NAME, progress.reported(room, number, done, STEPS))

    rooms.change(rooms.code, ticket_of(rooms.code, token), make)


def seen(rooms: Rooms, token: str) -> dict:
    return rooms.view(rooms.code, ticket_of(rooms.code, token))["activities"][progress.NAME]


def test_the_newest_report_counts_and_only_the_teacher_is_told(rooms):
    report(rooms, ANNA, {"attention": 1})
    report(rooms, BEN, {"attention": 4, "masks": 1})
    report(rooms, ANNA, {"attention": 2})
    assert seen(rooms, TEACHER) == {"kind": "course", "done": {"1": {"attention": 2}, "2": {"attention": 4, "masks": 1}}}
    assert seen(rooms, ANNA) == seen(rooms, BEN) == {"kind": "course"}


def test_whoever_goes_leaves_nothing(rooms):
    report(rooms, ANNA, {"attention": 1})
    report(rooms, BEN, {"masks": 3})
    rooms.leave(rooms.code, ticket_of(rooms.code, ANNA))
    assert seen(rooms, TEACHER)["done"] == {"2": {"masks": 3}}


def test_it_is_there_after_a_restart(rooms, tmp_path):
    report(rooms, ANNA, {"attention": 1})
    again = Rooms(tmp_path, Clock())
    assert json.dumps(again.view(rooms.code, ticket_of(rooms.code, TEACHER))["activities"]) == json.dumps({"course": seen(rooms, TEACHER)})


@pytest.mark.parametrize("done", [{"nothing": 1}, *({"attention": count} for count in (5, 0, -1, "1", True, None))])
def test_what_the_course_does_not_have_is_refused(rooms, done):
    with refused("rooms.bad_progress"):
        report(rooms, ANNA, done)


def test_a_teacher_is_no_student(rooms):
    with refused("rooms.teacher_reports"):
        report(rooms, TEACHER, {"attention": 1})

"""What there is to do now: a line that is text and stays one line, a place that there is, and a count without names."""

from __future__ import annotations

import json

import pytest

from playground.rooms.registry import Rooms
from playground.rooms.room import ticket_of
from playground.ui.links import LISTS
from tests.rooms.test_registry import ANNA, BEN, TEACHER, clock, code, refused, rooms, seen

__all__ = ["clock", "code", "rooms"]  # fixtures


def assign(rooms: Rooms, code: str, text: str, **to: str) -> None:
    rooms.assign(code, ticket_of(code, TEACHER), text, to, LISTS)


def tick(rooms: Rooms, code: str, token: str, done: bool = True) -> None:
    rooms.tick(code, ticket_of(code, token), done)


def test_a_class_ticks_off_what_there_is_to_do(rooms, code):
    rooms.join(code, ANNA)
    rooms.join(code, BEN)
    assign(rooms, code, "Sort five letters", task="sort")
    tick(rooms, code, BEN)
    told = {"text": "Sort five letters", "to": {"task": "sort"}, "done": 1, "joined": 2}
    assert seen(rooms, code, BEN)["now"] == told | {"mine": True}
    assert seen(rooms, code, ANNA)["now"] == seen(rooms, code, TEACHER)["now"] == told | {"mine": False}
    tick(rooms, code, BEN)
    assert seen(rooms, code, TEACHER)["now"]["done"] == 1, "once each"
    tick(rooms, code, BEN, done=False)
    assert seen(rooms, code, TEACHER)["now"]["done"] == 0


def test_something_new_is_done_by_nobody_and_nothing_is_nothing(rooms, code):
    rooms.join(code, ANNA)
    assign(rooms, code, "first")
    tick(rooms, code, ANNA)
    assign(rooms, code, "second")
    assert seen(rooms, code, ANNA)["now"] == {"text": "second", "to": {}, "done": 0, "joined": 1, "mine": False}
    assign(rooms, code, " \n ")
    assert seen(rooms, code, ANNA)["now"] is None
    with refused("rooms.nothing_to_do"):
        tick(rooms, code, ANNA)


def test_nothing_of_a_member_stays_who_leaves(rooms, code):
    assign(rooms, code, "read")
    for token in (ANNA, BEN):
        rooms.join(code, token)
        tick(rooms, code, token)
    rooms.leave(code, ticket_of(code, ANNA))
    rooms.remove(code, ticket_of(code, TEACHER), 2)
    assert rooms.inside(code, ticket_of(code, TEACHER))[0].now["done"] == []


@pytest.mark.parametrize("text", ["a\nb\tc", "  a  b c ", "a\u202eb\u200bc", "\ud800" + "x" * 300])
def test_the_line_is_one_line_of_visible_text(rooms, code, text):
    assign(rooms, code, text)
    kept = seen(rooms, code, TEACHER)["now"]["text"]
    assert kept.isprintable()
    assert "  " not in kept
    assert len(kept) <= 200
    json.dumps(kept, ensure_ascii=False).encode()


@pytest.mark.parametrize("to", [{"task": "own"}, {"tab": "map"}, {"lab": "skip", "task": "sort"}, {"lab": 5}])
def test_the_class_is_sent_only_to_a_lesson_a_lab_or_a_task(rooms, code, to):
    with refused("rooms.no_place"):
        rooms.assign(code, ticket_of(code, TEACHER), "go", to, LISTS)


@pytest.mark.parametrize("to", [{"task": "knit"}, {"lab": "knit"}, {"lesson": "knit"}])
def test_the_class_is_sent_only_where_there_is_something(rooms, code, to):
    with refused("config.not_a_choice"):
        rooms.assign(code, ticket_of(code, TEACHER), "go", to, LISTS)


def test_only_the_teacher_assigns_and_only_members_tick(rooms, code):
    rooms.join(code, ANNA)
    with refused("rooms.not_teacher"):
        rooms.assign(code, ticket_of(code, ANNA), "mine", {}, LISTS)
    assign(rooms, code, "read")
    with refused("rooms.nothing_to_do"):
        tick(rooms, code, TEACHER)
    with refused("rooms.not_in"):
        tick(rooms, code, BEN)

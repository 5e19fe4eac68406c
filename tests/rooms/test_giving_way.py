"""Runs that a class counts on are known, so that they don't give way."""

from __future__ import annotations

import time

from playground.rooms.registry import Rooms
from playground.rooms.room import ticket_of


def test_what_the_teacher_looks_at_is_shown_until_the_room_ends(tmp_path):
    rooms = Rooms(tmp_path)
    code = rooms.open("teacher", "en", time.time() + 3600).code
    assert not rooms.shows("a-run")
    rooms.point(code, ticket_of(code, "teacher"), {"run": "a-run"}, {})
    assert rooms.shows("a-run")
    assert not rooms.shows("another")
    rooms.end(code, ticket_of(code, "teacher"))
    assert not rooms.shows("a-run")

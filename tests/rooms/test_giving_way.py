"""Runs that a class counts on are known, so that they don't give way."""

from __future__ import annotations

import asyncio
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


def test_a_run_is_awaited_while_somebody_has_the_room_open(tmp_path):
    rooms = Rooms(tmp_path)
    code = rooms.open("teacher", "en", time.time() + 3600).code
    rooms.point(code, ticket_of(code, "teacher"), {"run": "a-run"}, {})

    async def story() -> list[bool]:
        with rooms.hub.listen(code, 1):
            return [rooms.shows(run, to_somebody=True) for run in ("a-run", "another")]

    assert not rooms.shows("a-run", to_somebody=True)
    assert asyncio.run(story()) == [True, False]
    assert not rooms.shows("a-run", to_somebody=True)

"""Streams are told that there is news, and read the newest: a slow one holds up no other, and piles nothing up."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from playground.rooms.events import Hub
from playground.rooms.room import TEACHER
from tests.rooms.group import BEN
from tests.rooms.group import TEACHER as TOKEN

LONG = 60.0  # seconds for news that comes


def test_a_listener_is_told_once_of_all_that_happened_by_any_thread_and_of_no_other_room():
    async def story() -> list[bool]:
        with hub.listen("ABCDE", 1) as listener:
            waits = [await listener.wait(LONG)]
            for _ in range(1000):
                hub.tell("ABCDE")
            waits += [await listener.wait(LONG), await listener.wait(0)]
            hub.tell("FGHJK")
            waits.append(await listener.wait(0))
            for news in (hub.tell, partial(hub.follow, number=1, follows=False), hub.end):
                with ThreadPoolExecutor(1) as thread:
                    thread.submit(news, "ABCDE")
                waits.append(await listener.wait(LONG))
            with hub.listen("ABCDE", 2):
                waits.append(await listener.wait(LONG))
            return [*waits, await listener.wait(LONG)]

    hub = Hub()
    assert asyncio.run(story()) == [True, True, False, False, True, True, True, True, True]


def test_the_class_sees_at_once_where_the_teacher_looks_and_the_teacher_who_is_here_and_follows(pair):
    """A member with two windows is one; the teacher is no member; who has left is in neither."""
    hub, states = pair.rooms.hub, []

    def look() -> None:
        view = pair.view(TOKEN)
        states.append((view["here"], view["followers"], [one["here"] for one in view["members"]], hub.is_open(pair.code)))

    async def story() -> None:
        with hub.listen(pair.code, TEACHER):
            look()
            with hub.listen(pair.code, 1) as listener, hub.listen(pair.code, 2):
                await listener.wait(LONG)
                pair.rooms.point(*pair.key(TOKEN), {"layer": "1"}, {})
                assert await listener.wait(LONG)
                with hub.listen(pair.code, 1):
                    pair.rooms.follow(*pair.key(BEN), False)
                    look()
                pair.rooms.follow(*pair.key(BEN), True)
                look()
        look()

    asyncio.run(story())
    both, nobody = [True, True], [False, False]
    assert states == [(0, 0, nobody, True), (2, 1, both, True), (2, 2, both, True), (0, 0, nobody, False)]


def test_a_run_that_the_teacher_looks_at_or_deals_counts_until_the_room_ends(group):
    """And it is awaited while the page of the room is open."""
    runs = ("looked-at", "dealt", "other")

    def shown(to_somebody: bool = False) -> list[bool]:
        return [group.rooms.shows(run, to_somebody=to_somebody) for run in runs]

    async def awaited() -> list[bool]:
        with group.rooms.hub.listen(group.code, 1):
            return shown(to_somebody=True)

    assert shown() == [False, False, False]
    group.rooms.point(*group.key(TOKEN), {"run": "looked-at"}, {})
    group.change(TOKEN, "course", lambda room, number: {"kind": "course", "done": {"1": ["a", {"run": "dealt"}]}})
    assert shown() == asyncio.run(awaited()) == [True, True, False]
    assert shown(to_somebody=True) == [False, False, False]
    group.rooms.end(*group.key(TOKEN))
    assert shown() == [False, False, False]

"""Streams are told that there is news, and read the newest: nobody who is slow holds up the others, or piles anything up."""

from __future__ import annotations

import asyncio
import threading

from playground.rooms.events import Hub


def test_however_much_happens_a_slow_listener_is_told_once():
    async def story() -> list[bool]:
        hub = Hub()
        with hub.listen("ABCDE", 1) as listener:
            first = await listener.wait(5)
            for _ in range(1000):
                hub.tell("ABCDE")
            return [first, await listener.wait(5), await listener.wait(0.01)]

    assert asyncio.run(story()) == [True, True, False]


def test_another_thread_wakes_a_listener():
    async def story() -> bool:
        hub = Hub()
        with hub.listen("ABCDE", 1) as listener:
            await listener.wait(5)
            thread = threading.Thread(target=hub.tell, args=("ABCDE",))
            thread.start()
            woken = await listener.wait(5)
            thread.join()
            return woken

    assert asyncio.run(story())


def test_a_room_hears_nothing_of_another():
    async def story() -> bool:
        hub = Hub()
        with hub.listen("ABCDE", 1) as listener:
            await listener.wait(5)
            hub.tell("FGHJK")
            return await listener.wait(0.01)

    assert not asyncio.run(story())


def test_who_is_here_and_who_follows():
    """A member with two windows is one; the teacher is no member; who has left is in neither."""

    async def story() -> list[tuple[set, set]]:
        hub, seen = Hub(), []

        def look() -> None:
            seen.append((hub.here("ABCDE"), hub.followers("ABCDE")))

        with hub.listen("ABCDE", 0), hub.listen("ABCDE", 1):
            with hub.listen("ABCDE", 1), hub.listen("ABCDE", 2):
                hub.follow("ABCDE", 2, False)
                look()
                hub.follow("ABCDE", 2, True)
                look()
            look()
        look()
        return seen

    assert asyncio.run(story()) == [({1, 2}, {1}), ({1, 2}, {1, 2}), ({1}, {1}), (set(), set())]


def test_a_listener_of_an_ended_server_harms_nobody():
    hub, left = Hub(), []

    async def story() -> None:
        left.append(hub.listen("ABCDE", 1))
        left[0].__enter__()

    asyncio.run(story())
    hub.tell("ABCDE")

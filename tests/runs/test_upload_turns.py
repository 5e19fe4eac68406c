"""Uploads are read in turns: who has cost little before who has cost much, short before long, and a place is left for others."""

import threading
import time
from contextlib import ExitStack, suppress

import pytest

from playground.config import Refusal
from playground.reading.formats.limits import SECONDS
from playground.runs.upload_turns import HALF_LIFE_S, MOST_WAITING, Turns


class World:
    def __init__(self) -> None:
        self.now, self.order, self.threads = 0.0, [], []
        self.turns = Turns(2, lambda: self.now)

    def read(self, *asker: str, seconds: float = 0.0, size: int = 1) -> None:
        with self.turns.turn(asker, size, 0.0) as turn:
            turn.seconds = seconds

    def wait(self, *asker: str, size: int = 1) -> None:
        """Another thread waits for its turn, and notes when it comes."""

        def work() -> None:
            with self.turns.turn(asker, size, 60.0):
                self.order.append((*asker, size))

        waiting = len(self.turns._waiting)
        self.threads.append(threading.Thread(target=work, daemon=True))
        self.threads[-1].start()
        while len(self.turns._waiting) == waiting:
            time.sleep(0.001)


@pytest.fixture
def world() -> World:
    return World()


def is_refused(world: World, *asker: str) -> bool:
    try:
        world.read(*asker)
    except Refusal as refusal:
        return refusal.key == "data.reading_busy"
    return False


def test_a_costly_address_leaves_a_place_and_has_few_that_wait(world):
    world.read("greedy", "g", seconds=SECONDS + 1)
    with world.turns.turn(("greedy", "g"), 1, 0.0):
        assert is_refused(world, "greedy", "h")
        for _ in range(MOST_WAITING):
            world.wait("greedy", "g")
        assert is_refused(world, "greedy", "h")
        assert not is_refused(world, "school", "a")
        with world.turns.turn(("school", "a"), 1, 0.0):
            assert is_refused(world, "school", "b")  # both places are taken
    for thread in world.threads:
        thread.join(60)
    assert world.order == [("greedy", "g", 1)] * MOST_WAITING
    world.now += 10 * HALF_LIFE_S  # what it has cost counts for little by now
    with ExitStack() as both:
        for _ in range(2):
            both.enter_context(world.turns.turn(("greedy", "g"), 1, 0.0))


def test_what_costs_little_goes_first(world):
    world.read("near", "dear", seconds=2.0)
    world.read("far", "f", seconds=3.0)
    with world.turns.turn(("x", "x"), 1, 0.0):
        with world.turns.turn(("y", "y"), 1, 0.0):
            waiting = ("far", "f", 1), ("near", "dear", 1), ("near", "cheap", 9), ("near", "cheap", 2), ("new", "n", 50)
            for address, visitor, size in waiting:
                world.wait(address, visitor, size=size)
        for thread in world.threads:
            thread.join(60)
    assert world.order == [("new", "n", 50), ("near", "cheap", 2), ("near", "cheap", 9), ("near", "dear", 1), ("far", "f", 1)]


def test_what_fails_costs_too_and_gives_its_place_back(world):
    for _ in range(3):
        with suppress(ValueError), world.turns.turn(("a", "b"), 1, 0.0) as turn:
            turn.seconds = 1.0
            raise ValueError
    assert world.turns.cost("a") == world.turns.cost("b") == 3.0

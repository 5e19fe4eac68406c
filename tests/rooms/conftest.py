"""A room on a disk, its teacher and its members, and a clock that stands until it is set."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from playground.config import Refusal
from playground.rooms import activities
from playground.rooms.registry import DAY, Rooms
from playground.rooms.room import Member, Room, ticket_of
from tests.runs.tiny import refused as refused

TEACHER, ANNA, BEN = "a" * 32, "b" * 32, "c" * 32


class Clock:
    now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


class Group:
    """A room that ends in a week."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock = folder, Clock()
        self.rooms = Rooms(folder, self.clock)
        self.code = self.rooms.open(TEACHER, "en", self.clock.now + 7 * DAY).code
        self.path = folder / f"{self.code}.json"
        self.copy = folder.with_name(f"{folder.name}.copies") / self.path.name

    def key(self, token: str) -> tuple[str, str]:
        return self.code, ticket_of(self.code, token)

    def join(self, token: str, name: str = "", code: str = "", address: str = "") -> Room:
        return self.rooms.join(code or self.code, token, name, address)

    def leave(self, token: str) -> None:
        self.rooms.leave(*self.key(token))

    def view(self, token: str) -> dict[str, Any]:
        return self.rooms.view(*self.key(token))

    def names(self) -> list[str]:
        return [member["name"] for member in self.view(TEACHER)["members"]]

    def room(self) -> Room:
        return self.rooms.authenticate(*self.key(TEACHER))[0]

    def change(self, token: str, name: str, make: Callable[[Room, int], dict[str, Any]]) -> Room:
        """The room with what `make` returns as its activity of this name; "" is a new one."""

        def changed(room: Room, number: int) -> Room:
            return activities.put_activity(room, name, make(room, number)) if name else activities.add_activity(room, make(room, number))

        return self.rooms.change(*self.key(token), changed)

    def restart(self) -> None:
        self.rooms = Rooms(self.folder, self.clock)


def room_of(*numbers: int) -> Room:
    """A room of these members that is on no disk."""
    members = tuple(Member(number, f"owner {number}") for number in numbers)
    return Room("ABCDE", "owner", "en", 0.0, 1.0, members, max(numbers, default=0))


def at_once(acts: Iterable[Callable[[], object]]) -> list[str]:
    """For each act, all by threads that begin together, the key of its refusal, "" without one."""
    acts = list(acts)
    gate = threading.Barrier(len(acts))

    def outcome(act: Callable[[], object]) -> str:
        gate.wait()
        try:
            act()
        except Refusal as refusal:
            return refusal.key
        return ""

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(outcome, acts))


@pytest.fixture
def group(tmp_path: Path) -> Group:
    return Group(tmp_path / "rooms")


@pytest.fixture
def pair(group: Group) -> Group:
    group.join(ANNA, "Anna")
    group.join(BEN, "Ben")
    return group

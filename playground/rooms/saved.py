"""All rooms, in memory and on the disk: opened by a code and a ticket, replaced whole, deleted on their last day."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from playground.config import Refusal
from playground.logs import event, pseudonym, reason
from playground.rooms.events import Hub
from playground.rooms.room import ALPHABET, CODE, TEACHER, Member, Room, require, require_teacher, ticket_of
from playground.rooms.store import Store
from playground.runs.steady_clock import now

log = logging.getLogger(__name__)


class SavedRooms:
    """The saved rooms. Thread-safe: a room is frozen and replaced whole, so readers take no lock."""

    def __init__(self, folder: Path, clock: Callable[[], float] = now) -> None:
        """Reads the rooms saved in `folder` and deletes expired ones."""
        self.hub = Hub()
        self._clock, self._store, self._lock = clock, Store(folder), threading.RLock()
        self._rooms = {room.code: room for room in self._store.read_all()}
        self._unwritten: set[str] = set()  # rooms whose cursor has moved since the last write
        self.tidy()

    def authenticate(self, code: str, ticket: str) -> tuple[Room, int]:
        """Returns the room and the ticket holder's number, TEACHER or a member's. Raises Refusal for an unknown ticket."""
        room = self._find_open(code)
        number = room.number_of(ticket) if room else None
        if number is None:
            self._check_readable(code)
            raise Refusal("rooms.not_in")
        return room, number

    def find_attended(self, token: str) -> list[tuple[Room, int]]:
        """Returns the rooms whose rules bind the token's holder, with their number: joined rooms that they have open, else all joined."""
        numbers = [(room, room.number_of(ticket_of(room.code, token))) for room in list(self._rooms.values()) if room.ends > self._clock()]
        joined = [(room, number) for room, number in numbers if number not in (None, TEACHER)]
        return [(room, number) for room, number in joined if number in self.hub.find_present(room.code)] or joined

    def is_shown(self, run: str, open_only: bool = False) -> bool:
        """Returns whether a room's cursor or activities refer to this run; with `open_only`, a room that is open in a browser."""
        rooms = [room for room in list(self._rooms.values()) if self.hub.is_open(room.code) or not open_only]
        return any(run in text for room in rooms for text in _iterate_texts((room.cursor, room.activities)))

    def change(self, code: str, ticket: str, make: Callable[[Room, int], Room]) -> Room:
        """Replaces the room by `make(room, number of the caller)` and returns it. `make` raises Refusal for what this caller may not do."""
        with self._lock:
            return self._save(make(*self.authenticate(code, ticket)))

    def tidy(self) -> None:
        """Deletes expired rooms and writes moved cursors to the disk."""
        self._store.forget_unreadable(self._clock())
        with self._lock:
            for code in [room.code for room in self._rooms.values() if room.ends <= self._clock()]:
                self._delete(code)
            self._unwritten &= self._rooms.keys()
            for code in list(self._unwritten):
                try:
                    self._store.write(self._rooms[code])
                    self._unwritten.discard(code)
                except OSError as error:  # the next round tries again
                    event(log, "save_failed", logging.WARNING, room=pseudonym(code), error=reason(error))

    # ---- internals ----------------------------------------------------------------------------------------------------------------------

    def _find_open(self, code: str) -> Room | None:
        room = self._rooms.get(code)
        return room if room and room.ends > self._clock() else None

    def _check_readable(self, code: str) -> None:
        """Raises Refusal for a room whose file was damaged: its owner can no longer be proved, so any caller with its code is told."""
        if code not in self._rooms and self._store.is_unreadable(code):
            raise Refusal("rooms.damaged", code=code)

    def _authenticate_teacher(self, code: str, ticket: str) -> Room:
        room, number = self.authenticate(code, ticket)
        require_teacher(number)
        return room

    def _save(self, room: Room) -> Room:
        """Writes the room to the disk, then to memory, and notifies its pages. Raises Refusal on a failed write, changing nothing."""
        try:
            self._store.write(room)
        except OSError as error:
            event(log, "save_failed", logging.WARNING, room=pseudonym(room.code), error=reason(error))
            raise Refusal("rooms.not_saved") from error
        self._rooms[room.code] = room
        self._unwritten.discard(room.code)
        self.hub.notify(room.code)
        return room

    def _delete(self, code: str) -> None:
        self._store.delete(code)
        del self._rooms[code]
        event(log, "room_closed", room=pseudonym(code))
        self.hub.end(code)

    def _new_code(self) -> str:
        while (code := "".join(secrets.choice(ALPHABET) for _ in range(CODE))) in self._rooms or self._store.is_unreadable(code):
            pass
        return code


def _iterate_texts(stored: Any) -> Iterator[str]:
    """Yields every string in a room's nested values."""
    if isinstance(stored, str):
        yield stored
    elif isinstance(stored, Mapping | list | tuple):
        for inner in stored.values() if isinstance(stored, Mapping) else stored:
            yield from _iterate_texts(inner)


def find_member(room: Room, number: int) -> Member:
    """Returns the member of this number. Raises Refusal when there is none."""
    member = room.member(number)
    require(member, "rooms.no_member")
    return member


def replace_member(room: Room, changed: Member) -> Room:
    """Returns the room with this member stored under its number."""
    return replace(room, members=tuple(changed if member.number == changed.number else member for member in room.members))

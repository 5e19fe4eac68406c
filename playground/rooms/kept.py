"""The rooms there are, in memory and on the disk: found by a code and a ticket, replaced whole, deleted on their last day."""

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


class KeptRooms:
    """Thread-safe. A room is frozen and replaced whole, so readers take no lock."""

    def __init__(self, folder: Path, clock: Callable[[], float] = now) -> None:
        """Reads the rooms that are kept in `folder`; those whose date has passed go."""
        self.hub = Hub()
        self._clock, self._store, self._lock = clock, Store(folder), threading.RLock()
        self._rooms = {room.code: room for room in self._store.read_all()}
        self._unwritten: set[str] = set()  # rooms whose cursor has moved since they were written
        self.tidy()

    def inside(self, code: str, ticket: str) -> tuple[Room, int]:
        """The room, and whose ticket it is: TEACHER's or a member's number. Raises Refusal for a stranger's."""
        room = self._alive(code)
        number = room.number_of(ticket) if room else None
        if number is None:
            self._check_readable(code)
            raise Refusal("rooms.not_in")
        return room, number

    def attended(self, token: str) -> list[tuple[Room, int]]:
        """The rooms whose rules hold for the caller, and their number there: those that they joined and have open; while none is open,
        all that they joined."""
        found = [(room, room.number_of(ticket_of(room.code, token))) for room in list(self._rooms.values()) if room.ends > self._clock()]
        joined = [(room, number) for room, number in found if number not in (None, TEACHER)]
        return [(room, number) for room, number in joined if number in self.hub.here(room.code)] or joined

    def shows(self, run: str, to_somebody: bool = False) -> bool:
        """Whether a teacher looks at this run, or has dealt it to a class or put it on its board; with `to_somebody`, in a room that is
        open in somebody's browser."""
        rooms = [room for room in list(self._rooms.values()) if self.hub.is_open(room.code) or not to_somebody]
        return any(run in said for room in rooms for said in _texts((room.cursor, room.activities)))

    def change(self, code: str, ticket: str, make: Callable[[Room, int], Room]) -> Room:
        """The room as `make(room, number of the caller)` has it, which refuses what this caller may not. Raises Refusal."""
        with self._lock:
            return self._put(make(*self.inside(code, ticket)))

    def tidy(self) -> None:
        """Deletes rooms whose date has passed, and writes where teachers look."""
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

    # ---- inside -------------------------------------------------------------------------------------------------------------------------

    def _alive(self, code: str) -> Room | None:
        room = self._rooms.get(code)
        return room if room and room.ends > self._clock() else None

    def _check_readable(self, code: str) -> None:
        """Raises Refusal for a room whose file was damaged: nobody knows any more whose it was, so whoever has its code is told."""
        if code not in self._rooms and self._store.is_unreadable(code):
            raise Refusal("rooms.damaged", code=code)

    def _taught(self, code: str, ticket: str) -> Room:
        room, number = self.inside(code, ticket)
        require_teacher(number)
        return room

    def _put(self, room: Room) -> Room:
        """The room as it is from now on, once the disk has it. Raises Refusal when it doesn't, and then nothing has changed."""
        try:
            self._store.write(room)
        except OSError as error:
            event(log, "save_failed", logging.WARNING, room=pseudonym(room.code), error=reason(error))
            raise Refusal("rooms.not_saved") from error
        self._rooms[room.code] = room
        self._unwritten.discard(room.code)
        self.hub.tell(room.code)
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


def _texts(said: Any) -> Iterator[str]:
    """Every text in what a room keeps."""
    if isinstance(said, str):
        yield said
    elif isinstance(said, Mapping | list | tuple):
        for inner in said.values() if isinstance(said, Mapping) else said:
            yield from _texts(inner)


def member_of(room: Room, number: int) -> Member:
    """Raises Refusal when there is none of this number."""
    member = room.member(number)
    require(member, "rooms.no_member")
    return member


def with_member(room: Room, changed: Member) -> Room:
    """The room with this member instead of the one of the same number."""
    return replace(room, members=tuple(changed if one.number == changed.number else one for one in room.members))

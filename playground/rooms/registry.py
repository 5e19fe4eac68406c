"""All rooms of this server. Every call takes the caller's token or ticket: who opened a room is its teacher, who joined is a member."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from playground.config import Refusal
from playground.cursor import FIELDS, FOLLOWED, check
from playground.fields import Lists
from playground.rooms import activities
from playground.rooms.attempts import Attempts
from playground.rooms.events import Hub
from playground.rooms.room import (
    ALPHABET,
    CODE,
    MAX_DAYS,
    MAX_MEMBERS,
    TEACHER,
    Member,
    Room,
    clean_code,
    clean_name,
    require_teacher,
    ticket_of,
)
from playground.rooms.store import Store
from playground.runs.names import owner_of
from playground.words import LANGUAGES

log = logging.getLogger(__name__)
MAX_ROOMS, MAX_ROOMS_EACH = 200, 5
DAY = 86_400.0
WRONG_CODES, WRONG_SECONDS = 40, 600.0  # of one address: a class behind one router mistypes now and then, and nobody finds a room by trying
OPENED, OPENED_SECONDS = 40, 3600.0


class Rooms:
    """Thread-safe. A room is frozen and replaced whole, so readers take no lock."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        """Reads the rooms that are kept in `folder`; those whose date has passed go."""
        self.hub = Hub()
        self._clock, self._store, self._lock = clock, Store(folder), threading.RLock()
        self._rooms = {room.code: room for room in self._store.read_all()}
        self._unwritten: set[str] = set()  # rooms whose cursor has moved since they were written
        self._wrong, self._opened = Attempts(WRONG_CODES, WRONG_SECONDS, clock), Attempts(OPENED, OPENED_SECONDS, clock)
        self.tidy()

    # ---- opening and joining ------------------------------------------------------------------------------------------------------------

    def open(self, token: str, language: str, ends: float, address: str = "") -> Room:
        """A new room of the caller's. Raises Refusal: no token, a date that can't be, or too many rooms."""
        _require(token, "runs.no_token")
        _require(language in LANGUAGES, "rooms.no_language")
        now = self._clock()
        _require(now < ends <= now + (MAX_DAYS + 1) * DAY, "rooms.bad_date", days=MAX_DAYS)
        with self._lock:
            self._opened.check(address)
            mine = sum(room.number_of(ticket_of(room.code, token)) == TEACHER for room in self._rooms.values())
            _require(mine < MAX_ROOMS_EACH, "rooms.too_many_yours", most=MAX_ROOMS_EACH)
            _require(len(self._rooms) < MAX_ROOMS, "rooms.too_many", most=MAX_ROOMS)
            code = self._new_code()
            room = Room(code, owner_of(ticket_of(code, token)), language, opened=now, ends=float(ends))
            self._opened.note(address)
            return self._put(room)

    def join(self, code: str, token: str, nickname: str = "", address: str = "") -> Room:
        """The caller is in the room from now on, under this name; who is in already only changes the name. Raises Refusal: no such room,
        too many wrong codes, or no place left."""
        _require(token, "runs.no_token")
        name = clean_name(nickname)
        with self._lock:
            self._wrong.check(address)
            room = self._alive(clean_code(code))
            if room is None:
                self._wrong.note(address)
                raise Refusal("rooms.unknown", code=clean_code(code)[:8])
            ticket = ticket_of(room.code, token)
            number = room.number_of(ticket)
            if number == TEACHER:
                return room
            if number is not None:
                return self._put(_with_member(room, replace(_member(room, number), nickname=name)))
            _require(len(room.members) < MAX_MEMBERS, "rooms.full", code=room.code, most=MAX_MEMBERS)
            new = Member(room.last_number + 1, owner_of(ticket), name)
            return self._put(activities.joined(replace(room, members=(*room.members, new), last_number=new.number)))

    # ---- what a member does -------------------------------------------------------------------------------------------------------------

    def view(self, code: str, ticket: str) -> dict[str, Any]:
        """The room as the holder of this ticket sees it: only the teacher sees names, and a member their own. Raises Refusal."""
        room, number = self._in(code, ticket)
        here, followers = self.hub.here(code), self.hub.followers(code)
        seen = {
            "code": code, "teacher": number == TEACHER, "language": room.language, "ends": room.ends,
            "here": len(here), "followers": len(followers), "cursor": dict(room.cursor),
            "activities": activities.seen(room, number),
        }  # fmt: skip
        if number != TEACHER:
            return seen | {"number": number, "name": room.member(number).nickname, "members": []}
        members = [
            {"number": one.number, "name": "" if one.hidden else one.nickname, "hidden": one.hidden, "here": one.number in here}
            for one in room.members
        ]
        return seen | {"number": TEACHER, "name": "", "members": members}

    def number(self, code: str, ticket: str) -> int:
        """TEACHER or a member's number. Raises Refusal for a stranger's ticket."""
        return self._in(code, ticket)[1]

    def inside(self, code: str, ticket: str) -> tuple[Room, int]:
        """The room, and whose ticket it is: TEACHER's or a member's. Raises Refusal for a stranger's."""
        return self._in(code, ticket)

    def change(self, code: str, ticket: str, make: Callable[[Room, int], Room]) -> Room:
        """The room as `make(room, number of the caller)` has it, which refuses what this caller may not. Raises Refusal."""
        with self._lock:
            return self._put(make(*self._in(code, ticket)))

    def follow(self, code: str, ticket: str, follows: bool) -> None:
        """A member sees what the teacher sees, or lets go."""
        _, number = self._in(code, ticket)
        self.hub.follow(code, number, follows)

    def leave(self, code: str, ticket: str) -> None:
        """Nothing of the member stays. The teacher can only end the room."""
        with self._lock:
            room, number = self._in(code, ticket)
            _require(number != TEACHER, "rooms.teacher_stays")
            self._put(activities.without(room, number))

    def leave_all(self, token: str) -> None:
        """Every room that the caller joined."""
        with self._lock:
            for room in list(self._rooms.values()):
                if room.number_of(ticket_of(room.code, token)) not in (None, TEACHER):
                    self.leave(room.code, ticket_of(room.code, token))

    # ---- what the teacher does ----------------------------------------------------------------------------------------------------------

    def hide(self, code: str, ticket: str, number: int, hidden: bool) -> None:
        """A member is shown by number, or by name again."""
        with self._lock:
            room = self._taught(code, ticket)
            self._put(_with_member(room, replace(_member(room, number), hidden=hidden)))

    def remove(self, code: str, ticket: str, number: int) -> None:
        """A member is out, and may join again."""
        with self._lock:
            room = self._taught(code, ticket)
            self._put(activities.without(room, _member(room, number).number))

    def point(self, code: str, ticket: str, cursor: Mapping[str, str], lists: Lists) -> None:
        """Where the teacher looks: fields of the cursor that others may take over. Raises Refusal for any other, and for what can't be."""
        for name, value in cursor.items():
            _require(name in FOLLOWED, "config.unknown", name=name[:40])
            check(name, value, lists)
        with self._lock:
            room = self._taught(code, ticket)
            whole = {name: cursor[name] for name in FIELDS if name in cursor}
            if whole == room.cursor:
                return
            self._rooms[code] = replace(room, cursor=whole)  # ten a second may come: the next round writes the newest
            self._unwritten.add(code)
        self.hub.tell(code)

    def withdraw(self, code: str, ticket: str, name: str) -> None:
        """An activity is over, and what was said to it is gone; runs stay with those who trained them."""
        with self._lock:
            room = self._taught(code, ticket)
            _require(name in room.activities, "rooms.no_activity")
            self._put(activities.dropped(room, name))

    def end(self, code: str, ticket: str) -> None:
        """The room and all that it knew are gone."""
        with self._lock:
            self._delete(self._taught(code, ticket).code)

    # ---- now and then -------------------------------------------------------------------------------------------------------------------

    def tidy(self) -> None:
        """Deletes rooms whose date has passed, and writes where teachers look."""
        self._store.forget_unreadable(self._clock())
        with self._lock:
            for code in [room.code for room in self._rooms.values() if room.ends <= self._clock()]:
                self._delete(code)
            for code in self._unwritten & self._rooms.keys():
                try:
                    self._store.write(self._rooms[code])
                except OSError as error:
                    log.warning("room %s could not be written: %s", code, error)
            self._unwritten.clear()

    # ---- inside -------------------------------------------------------------------------------------------------------------------------

    def _alive(self, code: str) -> Room | None:
        room = self._rooms.get(code)
        return room if room and room.ends > self._clock() else None

    def _in(self, code: str, ticket: str) -> tuple[Room, int]:
        room = self._alive(code)
        number = room.number_of(ticket) if room else None
        if number is None:
            raise Refusal("rooms.not_in")
        return room, number

    def _taught(self, code: str, ticket: str) -> Room:
        room, number = self._in(code, ticket)
        require_teacher(number)
        return room

    def _put(self, room: Room) -> Room:
        """The room as it is from now on, once the disk has it. Raises Refusal when it doesn't, and then nothing has changed."""
        try:
            self._store.write(room)
        except OSError as error:
            log.warning("room %s could not be written: %s", room.code, error)
            raise Refusal("rooms.not_saved") from error
        self._rooms[room.code] = room
        self._unwritten.discard(room.code)
        self.hub.tell(room.code)
        return room

    def _delete(self, code: str) -> None:
        self._store.delete(code)
        del self._rooms[code]
        self.hub.end(code)

    def _new_code(self) -> str:
        while (code := "".join(secrets.choice(ALPHABET) for _ in range(CODE))) in self._rooms:
            pass
        return code


def _require(true: object, key: str, **values: object) -> None:
    if not true:
        raise Refusal(key, **values)


def _member(room: Room, number: int) -> Member:
    member = room.member(number)
    _require(member, "rooms.no_member")
    return member


def _with_member(room: Room, changed: Member) -> Room:
    return replace(room, members=tuple(changed if one.number == changed.number else one for one in room.members))

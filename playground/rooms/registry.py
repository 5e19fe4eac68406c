"""All rooms of this server. Every call takes the caller's token or ticket: who opened a room is its teacher, who joined is a member."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from playground.config import Refusal
from playground.logs import event, pseudonym
from playground.rooms import activities, assignment, fixed
from playground.rooms.attempts import Attempts
from playground.rooms.kept import member_of, with_member
from playground.rooms.room import MAX_DAYS, MAX_MEMBERS, TEACHER, Member, Room, clean_code, clean_name, require, ticket_of
from playground.rooms.run_limits import RunLimits
from playground.rooms.teaching import TaughtRooms
from playground.runs.limits import Limits
from playground.runs.names import owner_of
from playground.runs.steady_clock import now as time_of_day
from playground.words import LANGUAGES

log = logging.getLogger(__name__)
MAX_ROOMS, MAX_ROOMS_EACH = 200, 5
DAY = 86_400.0
WRONG_CODES, WRONG_SECONDS = 40, 600.0  # of one address: nobody finds a room by trying
CLASS_CODES = 200  # of an address at which a class is: thirty behind one router mistype now and then
OPENED, OPENED_SECONDS = 40, 3600.0


class Rooms(TaughtRooms):
    """What the teacher does is in teaching.py, how rooms are kept in kept.py."""

    def __init__(self, folder: Path, clock: Callable[[], float] | None = None, limits: Limits | None = None) -> None:
        """Reads the rooms that are kept in `folder`, of a server that allows so many runs."""
        self.run_limits = RunLimits(limits or Limits())
        passed = clock or time.monotonic
        self._wrong, self._opened = Attempts(WRONG_CODES, WRONG_SECONDS, passed), Attempts(OPENED, OPENED_SECONDS, passed)
        self._joined = Attempts(MAX_MEMBERS, DAY, passed)  # from where people came in
        super().__init__(folder, clock or time_of_day)

    # ---- opening and joining ------------------------------------------------------------------------------------------------------------

    def open(self, token: str, language: str, ends: float, address: str = "") -> Room:
        """A new room of the caller's. Raises Refusal: no token, a date that can't be, or too many rooms."""
        require(token, "runs.no_token")
        require(language in LANGUAGES, "rooms.no_language")
        now = self._clock()
        require(now < ends <= now + (MAX_DAYS + 1) * DAY, "rooms.bad_date", days=MAX_DAYS)
        with self._lock:
            self._opened.check(address)
            mine = sum(room.number_of(ticket_of(room.code, token)) == TEACHER for room in self._rooms.values())
            require(mine < MAX_ROOMS_EACH, "rooms.too_many_yours", most=MAX_ROOMS_EACH)
            require(len(self._rooms) < MAX_ROOMS, "rooms.too_many", most=MAX_ROOMS)
            code = self._new_code()
            room = Room(code, owner_of(ticket_of(code, token)), language, opened=now, ends=float(ends))
            self._opened.note(address)
            self._put(room)
            event(log, "room_opened", room=pseudonym(code), language=language)
            return room

    def join(self, code: str, token: str, nickname: str = "", address: str = "") -> Room:
        """The caller is in the room from now on, under this name; who is in already only changes the name. Raises Refusal: no such room,
        too many wrong codes, or no place left."""
        require(token, "runs.no_token")
        name = clean_name(nickname)
        with self._lock:
            self._wrong.check(address, CLASS_CODES if self._joined.count(address) else None)
            room = self._alive(clean_code(code))
            if room is None:
                self._check_readable(clean_code(code))
                self._wrong.note(address)
                raise Refusal("rooms.unknown", code=clean_code(code)[:8])
            ticket = ticket_of(room.code, token)
            number = room.number_of(ticket)
            if number == TEACHER:
                return room
            if number is not None:
                return self._put(with_member(room, replace(member_of(room, number), nickname=name)))
            require(len(room.members) < MAX_MEMBERS, "rooms.full", code=room.code, most=MAX_MEMBERS)
            self._joined.note(address)
            new = Member(room.last_number + 1, owner_of(ticket), name)
            return self._put(activities.joined(replace(room, members=(*room.members, new), last_number=new.number)))

    # ---- what a member does -------------------------------------------------------------------------------------------------------------

    def view(self, code: str, ticket: str) -> dict[str, Any]:
        """The room as the holder of this ticket sees it: only the teacher sees names, and a member their own. Raises Refusal."""
        room, number = self.inside(code, ticket)
        here, followers = self.hub.here(code), self.hub.followers(code)
        seen = {
            "code": code, "teacher": number == TEACHER, "language": room.language, "ends": room.ends,
            "here": len(here), "followers": len(followers), "cursor": dict(room.cursor),
            "activities": activities.seen(room, number), "fixed": fixed.seen(room.fixed), "now": assignment.seen(room, number),
        }  # fmt: skip
        if number != TEACHER:
            return seen | {"number": number, "name": room.member(number).nickname, "members": []}
        members = [
            {"number": one.number, "name": "" if one.hidden else one.nickname, "hidden": one.hidden, "here": one.number in here}
            for one in room.members
        ]
        return seen | {"number": TEACHER, "name": "", "members": members, "limits": self.run_limits.seen(room)}

    def follow(self, code: str, ticket: str, follows: bool) -> None:
        """A member sees what the teacher sees, or lets go."""
        _, number = self.inside(code, ticket)
        self.hub.follow(code, number, follows)

    def tick(self, code: str, ticket: str, done: bool) -> None:
        """A member has done what there is to do now, or has not."""
        self.change(code, ticket, lambda room, number: replace(room, now=assignment.ticked(room.now, number, done)))

    def leave(self, code: str, ticket: str) -> None:
        """Nothing of the member stays. The teacher can only end the room."""
        with self._lock:
            room, number = self.inside(code, ticket)
            require(number != TEACHER, "rooms.teacher_stays")
            self._put(activities.without(room, number))

    def leave_all(self, token: str) -> None:
        """Every room that the caller joined."""
        with self._lock:
            for room in list(self._rooms.values()):
                if room.number_of(ticket_of(room.code, token)) not in (None, TEACHER):
                    self.leave(room.code, ticket_of(room.code, token))

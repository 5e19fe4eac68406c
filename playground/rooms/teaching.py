"""What the teacher of a room does in it, and nobody else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from playground.cursor import FIELDS, FOLLOWED, check
from playground.fields import Lists
from playground.rooms import activities, assignment, fixed
from playground.rooms.kept import KeptRooms, member_of, with_member
from playground.rooms.room import require
from playground.rooms.run_limits import RunLimits


class TaughtRooms(KeptRooms):
    """Every call raises Refusal for whoever is not the teacher."""

    run_limits: RunLimits  # that this server allows

    def hide(self, code: str, ticket: str, number: int, hidden: bool) -> None:
        """A member is shown by number, or by name again."""
        with self._lock:
            room = self._taught(code, ticket)
            self._put(with_member(room, replace(member_of(room, number), hidden=hidden)))

    def remove(self, code: str, ticket: str, number: int) -> None:
        """A member is out, and may join again."""
        with self._lock:
            room = self._taught(code, ticket)
            self._put(activities.without(room, member_of(room, number).number))

    def point(self, code: str, ticket: str, cursor: Mapping[str, str], lists: Lists) -> None:
        """Where the teacher looks: fields of the cursor that others may take over. Raises Refusal for any other, and for what can't be."""
        for name, value in cursor.items():
            require(name in FOLLOWED, "config.unknown", name=name[:40])
            check(name, value, lists)
        with self._lock:
            room = self._taught(code, ticket)
            whole = {name: cursor[name] for name in FIELDS if name in cursor}
            if whole == room.cursor:
                return
            self._rooms[code] = replace(room, cursor=whole)  # ten a second may come: the next round writes the newest
            self._unwritten.add(code)
        self.hub.tell(code)

    def fix(self, code: str, ticket: str, wanted: Any, lists: Lists) -> None:
        """What holds for the class from now on, see fixed.py; {} lifts it all. Runs that train go on."""
        chosen = fixed.made(wanted, lists)
        with self._lock:
            room = self._taught(code, ticket)
            fixed.require_open(chosen, room.now.get("to", {}))
            self._put(replace(room, fixed=chosen))

    def assign(self, code: str, ticket: str, text: str, to: Mapping[str, str], lists: Lists) -> None:
        """What there is to do now, see assignment.py; no text and no place: nothing. Nobody has done it yet."""
        new = assignment.made(text, to, lists)
        with self._lock:
            room = self._taught(code, ticket)
            fixed.require_open(room.fixed, to)
            self._put(replace(room, now=new))

    def limit(self, code: str, ticket: str, wanted: Any) -> None:
        """How many runs the class may have, see run_limits.py."""
        limits = self.run_limits.made(wanted)
        with self._lock:
            self._put(replace(self._taught(code, ticket), limits=limits))

    def withdraw(self, code: str, ticket: str, name: str) -> None:
        """An activity is over, and what was said to it is gone; runs stay with those who trained them."""
        with self._lock:
            room = self._taught(code, ticket)
            require(name in room.activities, "rooms.no_activity")
            self._put(activities.dropped(room, name))

    def end(self, code: str, ticket: str) -> None:
        """The room and all that it knew are gone."""
        with self._lock:
            self._delete(self._taught(code, ticket).code)

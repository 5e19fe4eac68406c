"""The teacher's actions in a room."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from playground.cursor import FIELDS, FOLLOWED, check
from playground.fields import Lists
from playground.rooms import activities, assignment, fixed
from playground.rooms.room import require
from playground.rooms.run_limits import RunLimits
from playground.rooms.saved import SavedRooms, find_member, replace_member


class TaughtRooms(SavedRooms):
    """Rooms with the teacher's actions. Every method raises Refusal for a caller who is not the teacher."""

    run_limits: RunLimits  # the server's

    def hide(self, code: str, ticket: str, number: int, hidden: bool) -> None:
        """Shows a member by number, or by name again."""
        with self._lock:
            room = self._authenticate_teacher(code, ticket)
            self._save(replace_member(room, replace(find_member(room, number), hidden=hidden)))

    def remove(self, code: str, ticket: str, number: int) -> None:
        """Removes a member, who may join again."""
        with self._lock:
            room = self._authenticate_teacher(code, ticket)
            self._save(activities.remove_member(room, find_member(room, number).number))

    def point(self, code: str, ticket: str, cursor: Mapping[str, str], lists: Lists) -> None:
        """Sets the teacher's cursor: only fields that members can follow. Raises Refusal for other fields and invalid values."""
        for name, value in cursor.items():
            require(name in FOLLOWED, "config.unknown", name=name[:40])
            check(name, value, lists)
        with self._lock:
            room = self._authenticate_teacher(code, ticket)
            whole = {name: cursor[name] for name in FIELDS if name in cursor}
            if whole == room.cursor:
                return
            self._rooms[code] = replace(room, cursor=whole)  # up to ten a second: only `tidy` writes them to the disk
            self._unwritten.add(code)
        self.hub.notify(code)

    def fix(self, code: str, ticket: str, wanted: Any, lists: Lists) -> None:
        """Restricts the class from now on, see fixed.py; {} lifts all restrictions. Runs in training continue."""
        chosen = fixed.check_fixed(wanted, lists)
        with self._lock:
            room = self._authenticate_teacher(code, ticket)
            fixed.require_open(chosen, room.now.get("to", {}))
            self._save(replace(room, fixed=chosen))

    def assign(self, code: str, ticket: str, text: str, to: Mapping[str, str], lists: Lists) -> None:
        """Sets the current task, done by no member yet, see assignment.py; without text and place there is none."""
        new = assignment.make_assignment(text, to, lists)
        with self._lock:
            room = self._authenticate_teacher(code, ticket)
            fixed.require_open(room.fixed, to)
            self._save(replace(room, now=new))

    def limit(self, code: str, ticket: str, wanted: Any) -> None:
        """Limits the runs of the class, see run_limits.py."""
        limits = self.run_limits.check_limits(wanted)
        with self._lock:
            self._save(replace(self._authenticate_teacher(code, ticket), limits=limits))

    def withdraw(self, code: str, ticket: str, name: str) -> None:
        """Deletes an activity with all answers to it; runs stay with the members who trained them."""
        with self._lock:
            room = self._authenticate_teacher(code, ticket)
            require(name in room.activities, "rooms.no_activity")
            self._save(activities.drop_activity(room, name))

    def end(self, code: str, ticket: str) -> None:
        """Deletes the room and everything in it."""
        with self._lock:
            self._delete(self._authenticate_teacher(code, ticket).code)

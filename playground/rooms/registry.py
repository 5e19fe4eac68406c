"""All rooms of this server. Every call takes the caller's token or ticket: the opener of a room is its teacher, others join as members. And
the rules of rooms for runs: a member of a room can begin and change only runs that it allows, by whichever endpoint."""

import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from playground.config import Experiment, Refusal
from playground.cursor import FIELDS, FOLLOWED, check
from playground.knobs import Lists
from playground.logs import event, pseudonym
from playground.rooms import activities, experiment, room as settings
from playground.rooms.room import MAX_DAYS, MAX_MEMBERS, NAME, TEACHER, Member, Room, RunLimits, clean_code, clean_line, require, ticket_of
from playground.rooms.store import SavedRooms
from playground.runs.admission import Rules
from playground.runs.identity import owner_of
from playground.runs.limits import Limits, RateLimit
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.runs.runtime import now as time_of_day
from playground.words import OFFERED

log = logging.getLogger(__name__)
MAX_ROOMS, MAX_ROOMS_EACH = 200, 5
DAY = 86_400.0
WRONG_CODES, WRONG_SECONDS = 40, 600.0  # per address: too few to find a room by guessing
CLASS_CODES = 200  # per address of a class: thirty members behind one router mistype now and then
OPENED, OPENED_SECONDS = 40, 3600.0


class Rooms(SavedRooms):
    """The rooms, opened, joined and changed by their teacher and members."""

    def __init__(self, folder: Path, clock: Callable[[], float] | None = None, limits: Limits | None = None) -> None:
        """Reads the rooms saved in `folder`; `limits` are the server's limits on runs."""
        self.run_limits = RunLimits(limits or Limits())
        passed = clock or time.monotonic
        self._wrong, self._opened = RateLimit(WRONG_CODES, WRONG_SECONDS, passed), RateLimit(OPENED, OPENED_SECONDS, passed)
        self._wrong_in_class = RateLimit(CLASS_CODES, WRONG_SECONDS, passed)
        self._joined = RateLimit(2, 2 * DAY, passed)  # addresses of members: not full for at least a day after one has joined
        super().__init__(folder, clock or time_of_day)

    # ---- opening and joining ------------------------------------------------------------------------------------------------------------

    def open(self, token: str, language: str, ends: float, address: str = "") -> Room:
        """Opens a new room taught by the caller. Raises Refusal: no token, an invalid date, or too many rooms."""
        require(token, "runs.no_token")
        require(language in OFFERED, "rooms.no_language")
        now = self._clock()
        require(now < ends <= now + (MAX_DAYS + 1) * DAY, "rooms.bad_date", days=MAX_DAYS)
        with self._lock:
            _require_rate(self._opened, address)
            count = sum(room.number_of(ticket_of(room.code, token)) == TEACHER for room in self._rooms.values())
            require(count < MAX_ROOMS_EACH, "rooms.too_many_yours", most=MAX_ROOMS_EACH)
            require(len(self._rooms) < MAX_ROOMS, "rooms.too_many", most=MAX_ROOMS)
            code = self._new_code()
            room = Room(code, owner_of(ticket_of(code, token)), language, opened=now, ends=float(ends))
            self._opened.take(address)
            self._save(room)
            event(log, "room_opened", room=pseudonym(code), language=language)
            return room

    def join(self, code: str, token: str, nickname: str = "", address: str = "") -> Room:
        """Adds the caller to the room under this name; for a member only the name changes. Raises Refusal: no such room, too many wrong
        codes, or a full room."""
        require(token, "runs.no_token")
        name = clean_line(nickname, NAME)
        with self._lock:
            wrong = self._wrong_in_class if self._joined.wait(address, 2) else self._wrong
            _require_rate(wrong, address)
            room = self._find_open(clean_code(code))
            if room is None:
                self._check_readable(clean_code(code))
                wrong.take(address)
                raise Refusal("rooms.unknown", code=clean_code(code)[:8])
        ticket = ticket_of(room.code, token)

        def enter(room: Room) -> Room:
            number = room.number_of(ticket)
            if number is not None:
                return activities.change_member(room, number, nickname=name)
            require(len(room.members) < MAX_MEMBERS, "rooms.full", code=room.code, most=MAX_MEMBERS)
            self._joined.take(address)
            new = Member(room.last_number + 1, owner_of(ticket), name)
            return activities.add_members(replace(room, members=(*room.members, new), last_number=new.number))

        return room if room.number_of(ticket) == TEACHER else self._replace(room.code, enter)

    # ---- members' actions --------------------------------------------------------------------------------------------------------------

    def view(self, code: str, ticket: str) -> dict[str, Any]:
        """Returns the room as the holder of this ticket may see it: the teacher sees names, a member only their own. Raises Refusal."""
        room, number = self.authenticate(code, ticket)
        present, followers = self.hub.find_present(code), self.hub.find_followers(code)
        shared = {
            "code": code, "teacher": number == TEACHER, "language": room.language, "ends": room.ends,
            "here": len(present), "followers": len(followers), "cursor": dict(room.cursor),
            "activities": activities.view_activities(room, number), "fixed": settings.view_fixed(room.fixed),
            "now": settings.view_assignment(room, number), "calls": self.hub.calls[code],
        }  # fmt: skip
        if number != TEACHER:
            return shared | {"number": number, "name": room.member(number).nickname, "members": []}
        members = [
            {"number": each.number, "name": "" if each.hidden else each.nickname, "hidden": each.hidden, "here": each.number in present}
            for each in room.members
        ]
        return shared | {"number": TEACHER, "name": "", "members": members, "limits": self.run_limits.view(room)}

    def follow(self, code: str, ticket: str, follows: bool) -> None:
        """Sets whether a member's page follows the teacher's cursor."""
        _, number = self.authenticate(code, ticket)
        self.hub.follow(code, number, follows)

    def tick(self, code: str, ticket: str, done: bool) -> None:
        """Marks the current task as done by a member, or not."""
        self.change(code, ticket, lambda room, number: replace(room, now=settings.mark_done(room.now, number, done)))

    def leave(self, code: str, ticket: str) -> None:
        """Removes the member and all they did. Raises Refusal for the teacher, who can only end the room."""

        def go(room: Room, number: int) -> Room:
            require(number != TEACHER, "rooms.teacher_stays")
            return activities.remove_member(room, number)

        self.change(code, ticket, go)

    def leave_all(self, token: str) -> None:
        """Leaves every room that the caller joined."""
        with self._lock:
            for room in list(self._rooms.values()):
                if room.number_of(ticket_of(room.code, token)) not in (None, TEACHER):
                    self.leave(room.code, ticket_of(room.code, token))

    # ---- the teacher's actions: each raises Refusal for any other caller ---------------------------------------------------------------

    def hide(self, code: str, ticket: str, number: int, hidden: bool) -> None:
        """Shows a member by number, or by name again."""
        self._teach(code, ticket, lambda room: activities.change_member(room, number, hidden=hidden))

    def remove(self, code: str, ticket: str, number: int) -> None:
        """Removes a member, who may join again."""
        self._teach(code, ticket, lambda room: activities.remove_member(room, activities.find_member(room, number).number))

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

    def call_back(self, code: str, ticket: str) -> None:
        """Makes every member follow the teacher's cursor again."""
        self._authenticate_teacher(code, ticket)
        self.hub.call_back(code)

    def fix(self, code: str, ticket: str, wanted: Any, lists: Lists) -> None:
        """Restricts the class from now on, see room.py; {} lifts all restrictions. Runs in training continue."""
        chosen = settings.check_fixed(wanted, lists)

        def restrict(room: Room) -> Room:
            settings.require_open(chosen, room.now.get("to", {}))
            return replace(room, fixed=chosen)

        self._teach(code, ticket, restrict)

    def assign(self, code: str, ticket: str, text: str, to: Mapping[str, str], lists: Lists) -> None:
        """Sets the current task, done by no member yet, see room.py; without text and place there is none."""
        new = settings.make_assignment(text, to, lists)

        def set_task(room: Room) -> Room:
            settings.require_open(room.fixed, to)
            return replace(room, now=new)

        self._teach(code, ticket, set_task)

    def limit(self, code: str, ticket: str, wanted: Any) -> None:
        """Limits the runs of the class, see room.py."""
        limits = self.run_limits.check_limits(wanted)
        self._teach(code, ticket, lambda room: replace(room, limits=limits))

    def withdraw(self, code: str, ticket: str, name: str) -> None:
        """Deletes an activity with all answers to it; runs stay with the members who trained them."""
        self._teach(code, ticket, lambda room: activities.drop_activity(room, name))

    def end(self, code: str, ticket: str) -> None:
        """Deletes the room and everything in it."""
        with self._lock:
            self._delete(self._authenticate_teacher(code, ticket).code)

    def _teach(self, code: str, ticket: str, make: Callable[[Room], Room]) -> None:
        """Replaces the room by `make(room)`. Raises Refusal for a caller who is not the teacher."""
        self._authenticate_teacher(code, ticket)
        self._replace(code, make)


def _require_rate(limit: RateLimit, address: str) -> None:
    """Raises Refusal when the address has no attempt left."""
    if seconds := limit.wait(address):
        raise Refusal("rooms.too_often", minutes=math.ceil(seconds / 60))


class Tally:
    """Tracks which runs were begun in which room, in memory only: the disk never shows which member of which room trained a run.
    Thread-safe."""

    def __init__(self, limits: RunLimits, find: Callable[[str], Run | None]) -> None:
        self._limits, self._find, self._lock = limits, find, threading.Lock()
        self._runs: dict[str, list[str]] = {}  # room -> ids of runs
        self._coming: Counter[str] = Counter()  # room -> number of runs being created

    @contextmanager
    def beginning(self, room: Room, owner: str, new: list[Run]) -> Iterator[None]:
        """Counts these runs of one owner towards the room while they are created and after. Raises Refusal when they are too many."""
        with self._lock:
            self._check(room, owner, new)
            self._coming[room.code] += len(new)
        try:
            yield
            with self._lock:
                self._runs[room.code] += [run.id for run in new]
        finally:
            with self._lock:
                self._coming[room.code] -= len(new)

    def _check(self, room: Room, owner: str, new: list[Run]) -> None:
        runs = [run for id in self._runs.get(room.code, ()) if (run := self._find(id))]  # deleted runs don't count
        self._runs[room.code] = [run.id for run in runs]
        coming, most = self._coming[room.code], self._limits.limits_of(room)
        own = [run for run in runs if run.owner == owner]
        count_new, working = len(new), sum(run.unfinished for run in new)
        counts = {
            "each_at_once": sum(run.unfinished for run in own) + working,
            "room_at_once": sum(run.unfinished for run in runs) + coming + working,
            "each_kept": len(own) + count_new,
            "room_kept": len(runs) + coming + count_new,
        }
        for name, count in counts.items():
            if count > most[name] and (working or name.endswith("kept")):
                raise Refusal(f"rooms.{name}", most=most[name], code=room.code)


class RoomRules(Rules):
    """The rules of every room that binds a token (see `SavedRooms.find_attended`). A teacher is not bound by their own room."""

    def __init__(self, rooms: Rooms, runs: Runs) -> None:
        self._rooms, self._tally = rooms, Tally(rooms.run_limits, runs.find)

    @contextmanager
    def beginning(self, new: Sequence[Run], token: str, lab: str = "") -> Iterator[None]:
        attended = self._rooms.find_attended(token)
        for room, number in attended:
            if lab:  # a lab's arms are not subject to the fixed settings
                settings.require(lab in room.fixed.get("labs", (lab,)), "rooms.lab_not_today", code=room.code)
                continue
            for run in new:
                if not _is_dealt(room, number, run.experiment):
                    settings.require_experiment(room.fixed, run.experiment, room.code)
        with ExitStack() as stack:
            for room, _ in attended:
                stack.enter_context(self._tally.beginning(room, new[0].owner, list(new)))
            yield

    def shared(self, run: Run) -> bool:
        return self._rooms.is_shown(run.id)

    def awaited(self, run: Run) -> bool:
        return self._rooms.is_shown(run.id, open_only=True)

    def in_room(self, token: str) -> bool:
        return bool(self._rooms.find_attended(token))

    def changing(self, token: str, knob: str, value: Any) -> None:
        for room, _ in self._rooms.find_attended(token):
            settings.require_setting(room.fixed, knob, value, room.code)


def _is_dealt(room: Room, number: int, wanted: Experiment) -> bool:
    """Returns whether the teacher has dealt this experiment to the member."""
    dealt = [activity for activity in room.activities.values() if activity["kind"] == experiment.KIND and str(number) in activity["dealt"]]
    return any(experiment.build_experiment(activity, number) == wanted for activity in dealt)

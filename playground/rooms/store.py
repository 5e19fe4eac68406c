"""All rooms, in memory and on the disk: opened by a code and a ticket, replaced whole, deleted on their last day; and the open pages that
are notified of changes. A slow listener skips intermediate news: it is woken and then reads the newest state."""

import asyncio
import logging
import secrets
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playground.config import Refusal
from playground.logs import event, pseudonym, reason
from playground.rooms.files import RoomFiles
from playground.rooms.room import ALPHABET, CODE, TEACHER, Room, require, require_teacher, ticket_of
from playground.runs.runtime import now

log = logging.getLogger(__name__)


class Listener:
    """An open event stream of one member. Created in the event loop; notified from any thread."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._loop, self._news = asyncio.get_running_loop(), asyncio.Event()
        self._news.set()  # the first news is the room as it is

    def notify(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._news.set)

    async def wait(self, seconds: float) -> bool:
        """Waits up to `seconds` for news; returns whether there was any."""
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except asyncio.TimeoutError:  # the builtin TimeoutError only since Python 3.11
            return False
        self._news.clear()
        return True


class Hub:
    """The listeners of every room, and the members who don't follow the teacher. Thread-safe; in memory only."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[str, list[Listener]] = {}
        self._exploring: dict[str, set[int]] = {}
        self.calls: Counter[str] = Counter()  # how often a room's teacher called the class back: a page that sees it rise follows again

    @contextmanager
    def listen(self, code: str, number: int) -> Iterator[Listener]:
        listener = Listener(number)
        with self._lock:
            self._listeners.setdefault(code, []).append(listener)
        self.notify(code)
        try:
            yield listener
        finally:
            with self._lock:
                remaining = [other for other in self._listeners[code] if other is not listener]
                self._listeners[code] = remaining
                if not remaining:
                    del self._listeners[code]
            self.notify(code)

    def notify(self, code: str) -> None:
        """Wakes every listener of this room."""
        for listener in self._find_listeners(code):
            listener.notify()

    def find_present(self, code: str) -> set[int]:
        """Returns the numbers of the members who have the page open."""
        return {listener.number for listener in self._find_listeners(code)} - {TEACHER}

    def is_open(self, code: str) -> bool:
        """Returns whether the teacher or any member has the page open."""
        return bool(self._find_listeners(code))

    def find_followers(self, code: str) -> set[int]:
        """Returns the members present whose page follows the teacher's cursor."""
        return self.find_present(code) - self._exploring.get(code, set())

    def follow(self, code: str, number: int, follows: bool) -> None:
        with self._lock:
            exploring = self._exploring.get(code, set()) - {number}
            self._exploring[code] = exploring if follows else exploring | {number}
        self.notify(code)

    def call_back(self, code: str) -> None:
        """Makes every member follow the teacher again."""
        with self._lock:
            self._exploring.pop(code, None)
            self.calls[code] += 1
        self.notify(code)

    def end(self, code: str) -> None:
        """Forgets a deleted room and wakes its listeners."""
        with self._lock:
            self._exploring.pop(code, None)
            self.calls.pop(code, None)
        self.notify(code)

    def _find_listeners(self, code: str) -> list[Listener]:
        with self._lock:
            return list(self._listeners.get(code, ()))


class SavedRooms:
    """The saved rooms. Thread-safe: a room is frozen and replaced whole, so readers take no lock. Changes that come while the disk is busy
    are written together: when thirty answer at once, that takes a few writes."""

    def __init__(self, folder: Path, clock: Callable[[], float] = now) -> None:
        """Reads the rooms saved in `folder` and deletes expired ones."""
        self.hub = Hub()
        self._clock, self._store, self._lock = clock, RoomFiles(folder), threading.RLock()
        self._rooms = {room.code: room for room in self._store.read_all()}
        self._unwritten: set[str] = set()  # rooms whose cursor has moved since the last write
        self._waiting = deque[tuple[str, Callable[[Room], Room], Future[Room]]]()  # changes, with what became of them
        self.tidy()

    def authenticate(self, code: str, ticket: str) -> tuple[Room, int]:
        """Returns the room and the ticket holder's number, TEACHER or a member's. Raises Refusal for an unknown ticket."""
        room = self._find_open(code)
        number = room.number_of(ticket) if room else None
        if number is None:
            self._check_readable(code)
            raise Refusal("rooms.not_in")
        return room, number

    def exists(self, code: str) -> bool:
        return self._find_open(code) is not None

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

        def make_as_caller(room: Room) -> Room:
            number = room.number_of(ticket)
            require(number is not None, "rooms.not_in")
            return make(room, number)

        self.authenticate(code, ticket)
        return self._replace(code, make_as_caller)

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

    def _replace(self, code: str, make: Callable[[Room], Room]) -> Room:
        """Replaces an open room by `make(room)`, and returns that. Raises what `make` raises, and Refusal on a failed write."""
        outcome = Future[Room]()
        self._waiting.append((code, make, outcome))
        with self._lock:  # another thread may have written this change with its own
            self._write_waiting()
        return outcome.result()

    def _write_waiting(self) -> None:
        """Makes all waiting changes, one after another, and writes each room once."""
        drafts: dict[str, list[tuple[Room, Future[Room]]]] = {}
        while self._waiting:
            code, make, outcome = self._waiting.popleft()
            with _reported_to(outcome):
                room = drafts[code][-1][0] if code in drafts else self._find_open(code)
                require(room, "rooms.not_in")
                changed = make(room)
                drafts.setdefault(code, []).append((changed, outcome))
        for changes in drafts.values():
            with _reported_to(*(outcome for _, outcome in changes)):
                self._save(changes[-1][0])
                for room, outcome in changes:
                    outcome.set_result(room)

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


@contextmanager
def _reported_to(*outcomes: Future) -> Iterator[None]:
    """Hands an error to those that wait for these outcomes."""
    try:
        yield
    except BaseException as error:
        for outcome in outcomes:
            outcome.set_exception(error)


def _iterate_texts(stored: Any) -> Iterator[str]:
    """Yields every string in a room's nested values."""
    if isinstance(stored, str):
        yield stored
    elif isinstance(stored, Mapping | list | tuple):
        for inner in stored.values() if isinstance(stored, Mapping) else stored:
            yield from _iterate_texts(inner)

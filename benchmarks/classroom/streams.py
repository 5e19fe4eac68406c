"""All streams of a class, read by one thread: the room of everybody, and each student's own run."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote
from uuid import uuid4

import orjson

from benchmarks.classroom.people import Person, Student
from benchmarks.classroom.records import LONGEST, Records
from benchmarks.server import PATIENCE, ROUTES

EVENT = b"data: {"


class Moves:
    """When the teacher moved, and who has seen it: from pressing to the event on a follower's stream."""

    def __init__(self, texts: Sequence[str], records: Records) -> None:
        self.texts = texts  # each shown once
        self._at: Mapping[str, int] = {text: number for number, text in enumerate(texts)}
        self._sent: list[float] = []
        self._newest: dict[int, int] = {}
        self._records = records

    def sent(self) -> None:
        self._sent.append(time.perf_counter())

    def arrived(self, person: Person) -> None:
        """A move that was overtaken by the next one counts as seen with that one."""
        newest = self._at.get(person.room["cursor"].get("text", ""), -1)
        for number in range(self._newest.get(person.number, -1) + 1, newest + 1):
            self._records.took("cursor to a follower", time.perf_counter() - self._sent[number])
        self._newest[person.number] = max(newest, self._newest.get(person.number, -1))


class _Line(NamedTuple):
    """A connection: whose, whether it tells of the room, and what of it is not a whole line yet."""

    person: Person
    is_room: bool
    rest: bytearray


class ClassStreams:
    """Open while the `with` block lasts."""

    def __init__(self, port: int, people: Sequence[Person], moves: Moves, records: Records) -> None:
        self._port, self._people, self._moves, self._records = port, people, moves, records
        self._open, self._ready = True, selectors.DefaultSelector()
        self._thread = threading.Thread(target=self._read, name="streams")

    def __enter__(self) -> ClassStreams:
        for person in self._people:
            self._register(_room_stream(self._port, person), person, True)
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._open = False
        self._thread.join()
        for key in list(self._ready.get_map().values()):
            key.fileobj.close()
        self._ready.close()

    def follow(self, student: Student) -> None:
        """Also the run that this student trains."""
        self._register(open_stream(self._port, student.run), student, False)

    def _register(self, stream: socket.socket, person: Person, is_room: bool) -> None:
        self._ready.register(stream, selectors.EVENT_READ, _Line(person, is_room, bytearray()))

    def _read(self) -> None:
        while self._open:
            for key, _ in self._ready.select(0.1):
                got = key.fileobj.recv(1 << 18)
                if got:
                    self._take(key.data, got)
                    continue
                self._records.failed("stream", "ended")
                self._ready.unregister(key.fileobj)
                key.fileobj.close()

    def _take(self, line: _Line, got: bytes) -> None:
        before = bytes(line.rest[-LONGEST:])
        self._records.heard(before + got, line.person.allowed, len(got))
        line.rest.extend(got)
        *whole, rest = line.rest.split(b"\n")
        line.rest[:] = rest
        if not line.is_room:
            return
        for event in whole:
            if event.startswith(EVENT):
                line.person.hear(orjson.loads(event.removeprefix(b"data: ")))
                if isinstance(line.person, Student):
                    self._moves.arrived(line.person)
            elif event.startswith(b"event: gone"):
                self._records.failed("stream", "the room is gone")


def _room_stream(port: int, person: Person) -> socket.socket:
    return _open(port, f"{ROUTES}/room/live?code={person.code}&ticket={person.ticket}")


def open_stream(port: int, run: str) -> socket.socket:
    """Opens the stream of a run's live updates, from the beginning, as a new visitor: the server counts streams per visitor."""
    return _open(port, f"{ROUTES}/live/{quote(run)}?since=0&by={uuid4().hex}")


def _open(port: int, address: str) -> socket.socket:
    stream = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    stream.sendall(f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    return stream

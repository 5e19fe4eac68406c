"""All streams of a class: the room of everybody, and each student's own run."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from urllib.parse import quote
from uuid import uuid4

import orjson

from benchmarks.classroom.people import Person, Student
from benchmarks.classroom.records import Records
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


class ClassStreams:
    """The streams, each read by a thread. Open while the `with` block lasts."""

    def __init__(self, port: int, people: Sequence[Person], moves: Moves, records: Records) -> None:
        self._port, self._people, self._moves, self._records = port, people, moves, records
        self._open, self._streams = True, list[tuple[HTTPConnection, threading.Thread]]()

    def __enter__(self) -> ClassStreams:
        for person in self._people:
            self._follow(f"room/live?code={person.code}&ticket={person.ticket}", person)
        return self

    def __exit__(self, *problem: object) -> None:
        self._open = False
        for stream, thread in self._streams:
            stream.sock.shutdown(socket.SHUT_RDWR)
            thread.join()
            stream.close()

    def follow(self, student: Student) -> None:
        """Also the run that this student trains, from its beginning, as a new visitor: the server counts streams per visitor."""
        self._follow(f"live/{quote(student.run)}?since=0&by={uuid4().hex}", student)

    def _follow(self, path: str, person: Person) -> None:
        stream = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        stream.request("GET", f"{ROUTES}/{path}")
        thread = threading.Thread(target=self._read, args=(stream.getresponse(), person, path.startswith("room")))
        self._streams.append((stream, thread))
        thread.start()

    def _read(self, lines: HTTPResponse, person: Person, is_room: bool) -> None:
        with suppress(OSError, HTTPException):
            for line in lines:
                self._records.heard(line, person.allowed)
                if is_room and line.startswith(EVENT):
                    person.hear(orjson.loads(line.removeprefix(b"data: ")))
                    if isinstance(person, Student):
                        self._moves.arrived(person)
                elif is_room and line.startswith(b"event: gone"):
                    self._records.failed("stream", "the room is gone")
        if self._open:
            self._records.failed("stream", "ended")

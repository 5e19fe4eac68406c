"""The rooms on the disk: a file each, replaced whole, so that a crash at any moment leaves the old room or the new one; and a copy of each
in a folder beside them, for the day on which the file is damaged. Who has left a room is in neither.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from playground.config import Refusal
from playground.rooms.room import ALPHABET, CODE, Room, from_json, to_json
from playground.runs.disk import files

log = logging.getLogger(__name__)
FILE = re.compile(rf"[{ALPHABET}]{{{CODE}}}\.json")
MAX_BYTES = 1_000_000
SET_ASIDE, SET_ASIDE_SECONDS = ".unreadable", 86_400.0  # long enough to look at it; there may be names in it, and its date is unknown


class Store:
    """One folder of rooms. Their codes are drawn here and never come from a visitor, so nothing foreign is joined to a path."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._copies = folder, folder.with_name(f"{folder.name}.copies")
        for each in (self._folder, self._copies):
            each.mkdir(parents=True, exist_ok=True)

    def read_all(self) -> Iterator[Room]:
        """Every room that can be read. A file that can't is set aside, and its copy used; what a broken-off write left is deleted, and so
        are copies of rooms that are gone."""
        for path in (*sorted(self._folder.iterdir()), *self._copies.iterdir()):
            is_broken_off = path.name.startswith(".") and FILE.fullmatch(path.name[1 : CODE + 6])
            if is_broken_off or (path.parent == self._copies and not (self._folder / path.name).exists()):
                path.unlink(missing_ok=True)
            elif path.parent == self._folder and FILE.fullmatch(path.name) and (room := self._read(path)):
                yield room

    def is_unreadable(self, code: str) -> bool:
        """Whether the file of this room was set aside, and still is."""
        return FILE.fullmatch(f"{code}.json") is not None and self._path(code).with_name(f"{code}.json{SET_ASIDE}").exists()

    def write(self, room: Room) -> None:
        """Raises OSError, and then the old file stands."""
        path, data = self._path(room.code), files.to_json(to_json(room))
        files.write_file(path, data)
        with suppress(OSError):  # the next write will do
            files.write_file(self._copies / path.name, data)

    def delete(self, code: str) -> None:
        (self._copies / f"{code}.json").unlink(missing_ok=True)
        self._path(code).unlink(missing_ok=True)
        files.sync_folder(self._folder)

    def forget_unreadable(self, now: float) -> None:
        """Deletes what was set aside long enough ago."""
        for path in self._folder.glob(f"*{SET_ASIDE}"):
            if path.stat().st_mtime < now - SET_ASIDE_SECONDS:
                path.unlink(missing_ok=True)

    def _path(self, code: str) -> Path:
        return self._folder / f"{code}.json"

    def _read(self, path: Path) -> Room | None:
        try:
            return read_room(path)
        except (Refusal, ValueError) as error:
            log.warning("the room in %s can't be read (%s) and is set aside", path, error)
            path.replace(aside := path.with_name(path.name + SET_ASIDE))
            aside.touch()  # from now on it waits
        with suppress(Refusal, ValueError, OSError):
            room = read_room(self._copies / path.name)
            self.write(room)
            log.warning("the room %s is read from its copy", room.code)
            return room
        return None


def read_room(path: Path) -> Room:
    """The room in a file. Raises Refusal and ValueError for what is none, or another's."""
    room = from_json(files.parse_json(files.read_bytes(path, MAX_BYTES), path.name))
    if room.code != path.stem:
        raise ValueError("the code of another room")
    return room

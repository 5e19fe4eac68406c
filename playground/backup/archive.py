"""A store as one tar: plain files under the names that a store has, and nothing else. Not compressed, since weights hardly shrink, and so
that nothing in it can be larger than it is.

What others made of it is not believed: every header is looked at before its file is, and links, devices, long names and sparse files,
which a tar can have too, are never even read.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from playground.config import Refusal
from playground.reading.formats import limits
from playground.rooms.store import FILE as ROOM_FILE
from playground.rooms.store import MAX_BYTES as MAX_ROOM_BYTES
from playground.runs.disk import files
from playground.runs.disk.folder import FORMER, MAX_TENSOR_BYTES, NAMES
from playground.runs.disk.kept import ID

FORMAT = 2  # which may have the save before of a run
NEWEST_ALONE = 1  # what is written without it, so that older versions read it too
FIRST = "store.json"  # says what this is
MAX_MEMBERS = 200_000
OLD = ".old"  # after the id, as in the store: of the save before
RUN_FILES = frozenset(("run.json", *NAMES, *FORMER))


class PlainFile(tarfile.TarInfo):
    """A header that can be nothing but a file of a store. Raises Refusal for any other, before anything of its content is read."""

    @classmethod
    def frombuf(cls, buf: bytes, encoding: str, errors: str) -> PlainFile:
        found = super().frombuf(buf, encoding, errors)
        if found.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or not 0 <= found.size <= most_bytes(found.name):
            raise Refusal("backup.not_ours", name=_printable(found.name))
        return found


def most_bytes(name: str) -> int:
    """How large a file of this name may be; -1 where a store has none."""
    if name == FIRST:
        return files.MAX_HEADER_BYTES
    kind, *rest = PurePosixPath(name).parts
    if str(PurePosixPath(name)) != name:
        return -1
    if kind == "rooms" and len(rest) == 1 and ROOM_FILE.fullmatch(rest[0]):
        return MAX_ROOM_BYTES
    if kind == "runs" and len(rest) == 2 and ID.fullmatch(rest[0].removesuffix(OLD)) and rest[1] in RUN_FILES:
        return limits.JSON_LIMIT if rest[1].endswith(".json") else MAX_TENSOR_BYTES
    return -1


def opened(file: BinaryIO) -> tarfile.TarFile:
    """The tar in a file. Raises Refusal for what is none."""
    try:
        return tarfile.open(fileobj=file, mode="r:", tarinfo=PlainFile)
    except tarfile.TarError as error:
        raise Refusal("backup.not_an_archive") from error


def members(archive: tarfile.TarFile) -> list[tarfile.TarInfo]:
    """Every file in it, by their headers alone, `FIRST` left out. Raises Refusal for an archive that no store made."""
    found: list[tarfile.TarInfo] = []
    try:
        for member in archive:
            found.append(member)
            if len(found) > MAX_MEMBERS:
                raise Refusal("backup.not_ours", name=_printable(member.name))
    except tarfile.TarError as error:
        raise Refusal("backup.not_an_archive") from error
    if not found or found[0].name != FIRST or not _is_ended(archive):
        raise Refusal("backup.not_an_archive")
    _check_format(read(archive, found[0]))
    names = [member.name for member in found]
    if twice := next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None:
        raise Refusal("backup.not_ours", name=_printable(twice))
    return found[1:]


def read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """All of a file. Raises Refusal where the archive ends before it does."""
    try:
        data = archive.extractfile(member).read()
    except (tarfile.TarError, OSError) as error:
        raise Refusal("backup.not_an_archive") from error
    if len(data) != member.size:
        raise Refusal("backup.not_an_archive")
    return data


def by_run(found: list[tarfile.TarInfo]) -> Iterator[tuple[str, list[tarfile.TarInfo], list[tarfile.TarInfo]]]:
    """(id, the files of its newest save, those of the save before) of every run."""
    saves: dict[str, list[tarfile.TarInfo]] = {}
    for member in found:
        if member.name.startswith("runs/"):
            saves.setdefault(member.name.split("/")[1], []).append(member)
    for id in dict.fromkeys(name.removesuffix(OLD) for name in saves):
        yield id, saves.get(id, []), saves.get(id + OLD, [])


def header(name: str, path: Path) -> tarfile.TarInfo:
    """What a file of a store is called in a tar: its size and its time, and neither whose it was nor on which machine."""
    made, known = tarfile.TarInfo(name), path.stat()
    made.size, made.mtime, made.mode = known.st_size, int(known.st_mtime), 0o644
    return made


def _is_ended(archive: tarfile.TarFile) -> bool:
    """Whether the blocks of zeros follow that end a tar: one cut between two files looks whole to tarfile, which only stops there."""
    archive.fileobj.seek(archive.offset)
    return archive.fileobj.read(2 * tarfile.BLOCKSIZE) == bytes(2 * tarfile.BLOCKSIZE)


def _check_format(data: bytes) -> None:
    said = files.parse_json(data, FIRST)
    number = said.get("format") if isinstance(said, dict) else None
    if type(number) is not int:
        raise Refusal("backup.not_an_archive")
    if number > FORMAT:
        raise Refusal("backup.newer_format", format=number, known=FORMAT)


def _printable(name: str) -> str:
    return re.sub(r"[^ -~]", "?", name)[:80]

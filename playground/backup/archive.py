"""A store as one tar: plain files under the names of a store only. Not compressed, since weights hardly shrink, and so that no member can
expand.

An archive is untrusted: every header is checked before its file is read, and links, devices, long names and sparse files, which a tar can
have too, are never read.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from playground.config import Refusal
from playground.reading.formats import table as limits
from playground.rooms.store import FILE as ROOM_FILE, MAX_BYTES as MAX_ROOM_BYTES
from playground.runs.disk import files
from playground.runs.disk.folder import FORMER, MAX_TENSOR_BYTES, NAMES
from playground.runs.disk.kept import ID

FORMAT = 2  # may hold the previous save of a run
NEWEST_ALONE = 1  # without previous saves, so that older versions read it too
FIRST = "store.json"  # identifies the archive
MAX_MEMBERS = 200_000
OLD = ".old"  # after the id, as in the store: the previous save
RUN_FILES = frozenset(("run.json", *NAMES, *FORMER))


class PlainFile(tarfile.TarInfo):
    """A tar header that must be a file of a store. Raises Refusal for any other, before its content is read."""

    @classmethod
    def frombuf(cls, buf: bytes, encoding: str, errors: str) -> PlainFile:
        member = super().frombuf(buf, encoding, errors)
        if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or not 0 <= member.size <= most_bytes(member.name):
            raise Refusal("backup.not_ours", name=_printable(member.name))
        return member


def most_bytes(name: str) -> int:
    """Returns the maximum size of a file of this name; -1 for a name no store has."""
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


def open_archive(file: BinaryIO) -> tarfile.TarFile:
    """Opens the tar in a file. Raises Refusal for any other file."""
    try:
        return tarfile.open(fileobj=file, mode="r:", tarinfo=PlainFile)
    except tarfile.TarError as error:
        raise Refusal("backup.not_an_archive") from error


def read_members(archive: tarfile.TarFile) -> list[tarfile.TarInfo]:
    """Reads the headers of all files but `FIRST`. Raises Refusal for an archive that no store made."""
    headers: list[tarfile.TarInfo] = []
    try:
        for member in archive:
            headers.append(member)
            if len(headers) > MAX_MEMBERS:
                raise Refusal("backup.not_ours", name=_printable(member.name))
    except tarfile.TarError as error:
        raise Refusal("backup.not_an_archive") from error
    if not headers or headers[0].name != FIRST or not _is_ended(archive):
        raise Refusal("backup.not_an_archive")
    _check_format(read(archive, headers[0]))
    names = [member.name for member in headers]
    if duplicate := next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None:
        raise Refusal("backup.not_ours", name=_printable(duplicate))
    return headers[1:]


def read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """Reads a whole file. Raises Refusal for a truncated archive."""
    try:
        data = archive.extractfile(member).read()
    except (tarfile.TarError, OSError) as error:
        raise Refusal("backup.not_an_archive") from error
    if len(data) != member.size:
        raise Refusal("backup.not_an_archive")
    return data


def group_by_run(members: list[tarfile.TarInfo]) -> Iterator[tuple[str, list[tarfile.TarInfo], list[tarfile.TarInfo]]]:
    """Yields (id, files of its newest save, files of the previous save) of every run."""
    saves: dict[str, list[tarfile.TarInfo]] = {}
    for member in members:
        if member.name.startswith("runs/"):
            saves.setdefault(member.name.split("/")[1], []).append(member)
    for id in dict.fromkeys(name.removesuffix(OLD) for name in saves):
        yield id, saves.get(id, []), saves.get(id + OLD, [])


def header(name: str, path: Path) -> tarfile.TarInfo:
    """Returns a tar header with size and time of the file, but without its owner and machine."""
    member, status = tarfile.TarInfo(name), path.stat()
    member.size, member.mtime, member.mode = status.st_size, int(status.st_mtime), 0o644
    return member


def _is_ended(archive: tarfile.TarFile) -> bool:
    """Returns whether the final zero blocks follow: tarfile silently accepts an archive truncated between two files."""
    archive.fileobj.seek(archive.offset)
    return archive.fileobj.read(2 * tarfile.BLOCKSIZE) == bytes(2 * tarfile.BLOCKSIZE)


def _check_format(data: bytes) -> None:
    header = files.parse_json(data, FIRST)
    number = header.get("format") if isinstance(header, dict) else None
    if type(number) is not int:
        raise Refusal("backup.not_an_archive")
    if number > FORMAT:
        raise Refusal("backup.newer_format", format=number, known=FORMAT)


def _printable(name: str) -> str:
    return re.sub(r"[^ -~]", "?", name)[:80]

"""What a tar of a store brings: runs and rooms that are whole and not there yet. Of an archive with anything strange in it, nothing.

Runs belong to whom they belonged: their owners' tokens are known by digest alone, so the same browsers find them again.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from playground.backup import archive
from playground.backup.checking import read_whole
from playground.config import Refusal
from playground.rooms.store import read_room
from playground.runs.disk import files
from playground.runs.disk.store import Store

SPARE_BYTES = 50_000_000  # that the disk must have beyond what comes


@dataclass
class Imported:
    """What came in, what was there already, and what was left out, with why."""

    runs: int = 0
    rooms: int = 0
    there: list[str] = field(default_factory=list)  # paths in the store's folder
    left_out: dict[str, str] = field(default_factory=dict)


def bring(file: Path, root: Path) -> Imported:
    """Into the store's folder `root`, which no server may be using. Raises Refusal: no archive of a store, anything in it that a store has
    not, too little room on the disk, or a server at work. Raises OSError."""
    with file.open("rb") as raw, archive.opened(raw) as tar:
        found = archive.members(tar)
        root.mkdir(parents=True, exist_ok=True)
        _check_room(root, found)
        store = Store(root)  # which keeps servers away meanwhile
        staging = Path(tempfile.mkdtemp(prefix=".store-", dir=root))
        try:
            return _bring(tar, found, root, staging)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
            store.close()


def _check_room(root: Path, found: list[tarfile.TarInfo]) -> None:
    needed, free = sum(member.size for member in found) + SPARE_BYTES, shutil.disk_usage(root).free
    if needed > free:
        raise Refusal("backup.no_room", needed=f"{needed / 1e6:,.0f}", free=f"{free / 1e6:,.0f}", folder=str(root))


def _bring(tar: tarfile.TarFile, found: list[tarfile.TarInfo], root: Path, staging: Path) -> Imported:
    said = Imported()
    for id, mine, before in archive.by_run(found):
        name, path = f"runs/{id}", root / "runs" / id
        if path.exists() or any(place.exists() for place in files.sibling_paths(path)):
            said.there.append(name)
            continue
        try:
            made = _staged(tar, id, mine, staging / id)
        except Refusal as refusal:
            said.left_out[name] = str(refusal)
            continue
        if before:
            try:
                _staged(tar, id, before, staging / f"{id}{archive.OLD}").rename(files.sibling_paths(path).old)
            except Refusal as refusal:
                said.left_out[f"{name}{archive.OLD}"] = str(refusal)
        made.rename(path)
        said.runs += 1
    files.sync_folder(root / "runs")
    (root / "rooms").mkdir(exist_ok=True)
    for member in found:
        if member.name.startswith("rooms/"):
            _bring_room(tar, member, root, staging, said)
    return said


def _staged(tar: tarfile.TarFile, id: str, mine: list[tarfile.TarInfo], path: Path) -> Path:
    """A save of the run as the folder `path` beside the others, read to the last byte. Raises Refusal for one that is not whole."""
    contents = {member.name.rpartition("/")[2]: archive.read(tar, member) for member in mine}
    files.replace_folder(path, contents)
    folder = read_whole(path, id)
    expected = {"run.json", *(entry["called"] for entry in folder.entries.values())}
    if strange := contents.keys() - expected:
        raise Refusal("runs.not_a_run", what=min(strange))
    seen = next(member.mtime for member in mine if member.name.endswith("/run.json"))
    when = min(max(float(seen), 0.0), time.time())  # when somebody last looked at it: nobody does so tomorrow
    os.utime(path / "run.json", (when, when))
    return path


def _bring_room(tar: tarfile.TarFile, member: tarfile.TarInfo, root: Path, staging: Path, said: Imported) -> None:
    file = member.name.rpartition("/")[2]
    path = root / "rooms" / file
    if any(root.joinpath("rooms").glob(f"{file}*")):
        said.there.append(member.name)
        return
    files.write_file(staging / file, archive.read(tar, member))
    try:
        read_room(staging / file)
    except (Refusal, ValueError) as error:
        said.left_out[member.name] = str(error)
        return
    (staging / file).rename(path)
    said.rooms += 1

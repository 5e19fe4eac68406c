"""Imports from a tar of a store the runs and rooms that are whole and new. An archive with anything unexpected in it is rejected whole.

Runs keep their owners: owners are stored as digests of their tokens, so the same browsers find them again.
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

SPARE_BYTES = 50_000_000  # that must remain free on the disk


@dataclass
class Imported:
    """Counts and paths of an import: what was imported, was there already, or was left out, with the reason."""

    runs: int = 0
    rooms: int = 0
    there: list[str] = field(default_factory=list)  # paths in the store's folder
    left_out: dict[str, str] = field(default_factory=dict)


def bring(file: Path, root: Path) -> Imported:
    """Imports the file into the store's folder `root`, which no server may be using. Raises Refusal: not a store's archive, an unexpected
    member, too little disk space, or a running server; a folder made for it is removed then. Raises OSError."""
    with file.open("rb") as raw, archive.open_archive(raw) as tar:
        members = archive.read_members(tar)
        new = [path for path in (root, *root.parents) if not path.exists()]
        try:
            return _bring_locked(tar, members, root)
        except Exception:
            if new:
                shutil.rmtree(new[-1], ignore_errors=True)
            raise


def _bring_locked(tar: tarfile.TarFile, members: list[tarfile.TarInfo], root: Path) -> Imported:
    root.mkdir(parents=True, exist_ok=True)
    _check_room(root, members)
    store = Store(root)  # locks servers out meanwhile
    staging = Path(tempfile.mkdtemp(prefix=".store-", dir=root))
    try:
        return _bring(tar, members, root, staging)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        store.close()


def _check_room(root: Path, members: list[tarfile.TarInfo]) -> None:
    needed, free = sum(member.size for member in members) + SPARE_BYTES, shutil.disk_usage(root).free
    if needed > free:
        raise Refusal("backup.no_room", needed=f"{needed / 1e6:,.0f}", free=f"{free / 1e6:,.0f}", folder=str(root))


def _bring(tar: tarfile.TarFile, members: list[tarfile.TarInfo], root: Path, staging: Path) -> Imported:
    report = Imported()
    for id, newest, before in archive.group_by_run(members):
        name, path = f"runs/{id}", root / "runs" / id
        if path.exists() or any(place.exists() for place in files.sibling_paths(path)):
            report.there.append(name)
            continue
        try:
            staged = _stage(tar, id, newest, staging / id)
        except Refusal as refusal:
            report.left_out[name] = str(refusal)
            continue
        if before:
            try:
                _stage(tar, id, before, staging / f"{id}{archive.OLD}").rename(files.sibling_paths(path).old)
            except Refusal as refusal:
                report.left_out[f"{name}{archive.OLD}"] = str(refusal)
        staged.rename(path)
        report.runs += 1
    files.sync_folder(root / "runs")
    (root / "rooms").mkdir(exist_ok=True)
    for member in members:
        if member.name.startswith("rooms/"):
            _bring_room(tar, member, root, staging, report)
    return report


def _stage(tar: tarfile.TarFile, id: str, members: list[tarfile.TarInfo], path: Path) -> Path:
    """Extracts a save of the run as the folder `path` and reads every byte. Raises Refusal unless it is whole."""
    contents = {member.name.rpartition("/")[2]: archive.read(tar, member) for member in members}
    files.replace_folder(path, contents)
    folder = read_whole(path, id)
    expected = {"run.json", *(entry["called"] for entry in folder.entries.values())}
    if strange := contents.keys() - expected:
        raise Refusal("runs.not_a_run", what=min(strange))
    visited = next(member.mtime for member in members if member.name.endswith("/run.json"))
    when = min(max(float(visited), 0.0), time.time())  # the last visit, never in the future
    os.utime(path / "run.json", (when, when))
    return path


def _bring_room(tar: tarfile.TarFile, member: tarfile.TarInfo, root: Path, staging: Path, report: Imported) -> None:
    file = member.name.rpartition("/")[2]
    path = root / "rooms" / file
    if any(root.joinpath("rooms").glob(f"{file}*")):
        report.there.append(member.name)
        return
    files.write_file(staging / file, archive.read(tar, member))
    try:
        read_room(staging / file)
    except (Refusal, ValueError) as error:
        report.left_out[member.name] = str(error)
        return
    (staging / file).rename(path)
    report.rooms += 1

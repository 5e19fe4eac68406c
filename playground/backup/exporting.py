"""Exports all runs and rooms of a store as one tar, a consistent snapshot even while a server is running.

A save never changes a file, it replaces it. So the snapshot hard-links every file into a sibling folder, which takes no bytes and for
hundreds of runs a fraction of a second; then the links are read at leisure.
"""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from playground.backup import archive
from playground.backup.checking import list_ids, newest_whole, read_whole, require_store
from playground.config import Refusal
from playground.rooms.store import FILE as ROOM_FILE, read_room
from playground.runs.disk import files
from playground.runs.disk.folder import Folder


@dataclass
class Exported:
    """The contents of the tar, and what was left out, with the reason."""

    runs: int = 0
    rooms: int = 0
    bytes: int = 0
    left_out: dict[str, str] = field(default_factory=dict)  # path in the store's folder -> why
    earlier: dict[str, str] = field(default_factory=dict)  # runs whose previous save is in it instead


def export(root: Path, out: Path, all_saves: bool = False) -> Exported:
    """Writes the tar `out` atomically, with the newest whole save of each run; with `all_saves` also the previous one. Raises Refusal when
    there is no store, and OSError."""
    require_store(root)
    report, unfinished = Exported(), out.with_name(f"{out.name}.part")
    snapshot = Path(tempfile.mkdtemp(prefix=".store-", dir=root))
    try:
        _link_store(root, snapshot)
        with tarfile.open(unfinished, "w", format=tarfile.USTAR_FORMAT) as tar:
            format = archive.FORMAT if all_saves else archive.NEWEST_ALONE
            _add(tar, archive.FIRST, files.to_json({"format": format, "made": round(time.time())}))
            _add_runs(tar, snapshot / "runs", report, all_saves)
            _add_rooms(tar, snapshot / "rooms", report)
        os.chmod(unfinished, 0o600)  # it holds sentences and names
        unfinished.replace(out)
        report.bytes = out.stat().st_size
    finally:
        shutil.rmtree(snapshot, ignore_errors=True)
        unfinished.unlink(missing_ok=True)
    return report


def _link_store(root: Path, snapshot: Path) -> None:
    """Hard-links all files of the store into the snapshot folder."""
    for kind in ("runs", "rooms"):
        (snapshot / kind).mkdir()
    for id in list_ids(root / "runs"):
        for path in (root / "runs" / id, files.sibling_paths(root / "runs" / id).old):
            _link_folder(path, snapshot / "runs" / path.name)
    _link_folder(root / "rooms", snapshot / "rooms")


def _link_folder(path: Path, to: Path) -> None:
    to.mkdir(exist_ok=True)
    with suppress(FileNotFoundError, NotADirectoryError):  # files that vanish meanwhile were saved anew or deleted
        for file in sorted(path.iterdir()):
            if file.is_file() and not file.is_symlink():
                with suppress(FileNotFoundError):
                    _link(file, to / file.name)
    if not any(to.iterdir()) and to.parent.name == "runs":
        to.rmdir()


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:  # a file system without hard links
        shutil.copy2(source, target)


def _add_runs(tar: tarfile.TarFile, snapshot: Path, report: Exported, all_saves: bool) -> None:
    for id in list_ids(snapshot):
        try:
            folder, wrong = newest_whole(snapshot / id)
        except Refusal as refusal:
            report.left_out[f"runs/{id}"] = str(refusal)
            continue
        if wrong and (snapshot / id).exists():
            report.earlier[f"runs/{id}"] = str(wrong)
        _add_save(tar, folder, f"runs/{id}")
        report.runs += 1
        before = files.sibling_paths(snapshot / id).old
        if all_saves and before.exists() and folder.path != before:
            try:
                _add_save(tar, read_whole(before, id), f"runs/{id}{archive.OLD}")
            except Refusal as refusal:
                report.left_out[f"runs/{id}{archive.OLD}"] = str(refusal)


def _add_save(tar: tarfile.TarFile, folder: Folder, name: str) -> None:
    for file in ("run.json", *(entry["called"] for entry in folder.entries.values())):
        path = folder.path / file
        with path.open("rb") as opened:
            tar.addfile(archive.header(f"{name}/{file}", path), opened)


def _add_rooms(tar: tarfile.TarFile, snapshot: Path, report: Exported) -> None:
    for path in sorted(snapshot.iterdir()):
        if not ROOM_FILE.fullmatch(path.name):
            continue
        try:
            read_room(path)
        except (Refusal, ValueError) as error:
            report.left_out[f"rooms/{path.name}"] = str(error)
            continue
        with path.open("rb") as file:
            tar.addfile(archive.header(f"rooms/{path.name}", path), file)
        report.rooms += 1


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mtime = len(data), int(time.time())
    tar.addfile(member, io.BytesIO(data))

"""All runs and rooms of a store in one tar, as they are at one moment: also while a server is at work on them.

A save never changes a file, it replaces it. So the moment is kept by giving every file a second name in a folder beside the runs, which
takes no bytes and for hundreds of runs a fraction of a second; then they are read and written at leisure.
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
from playground.backup.checking import ids, newest, read_whole, require_store
from playground.config import Refusal
from playground.rooms.store import FILE as ROOM_FILE
from playground.rooms.store import read_room
from playground.runs.disk import files
from playground.runs.disk.folder import Folder


@dataclass
class Exported:
    """What is in the tar, and what is not, with why."""

    runs: int = 0
    rooms: int = 0
    bytes: int = 0
    left_out: dict[str, str] = field(default_factory=dict)  # path in the store's folder -> why
    earlier: dict[str, str] = field(default_factory=dict)  # of which the save before is in it


def export(root: Path, out: Path, all_saves: bool = False) -> Exported:
    """Writes the tar `out`, whole or not at all; of a run its newest save that is whole, with `all_saves` also the one before. Raises
    Refusal when there is no store, and OSError."""
    require_store(root)
    said, unfinished = Exported(), out.with_name(f"{out.name}.part")
    moment = Path(tempfile.mkdtemp(prefix=".store-", dir=root))
    try:
        _hold(root, moment)
        with tarfile.open(unfinished, "w", format=tarfile.USTAR_FORMAT) as tar:
            format = archive.FORMAT if all_saves else archive.NEWEST_ALONE
            _add(tar, archive.FIRST, files.to_json({"format": format, "made": round(time.time())}))
            _add_runs(tar, moment / "runs", said, all_saves)
            _add_rooms(tar, moment / "rooms", said)
        os.chmod(unfinished, 0o600)  # sentences and names are in it
        unfinished.replace(out)
        said.bytes = out.stat().st_size
    finally:
        shutil.rmtree(moment, ignore_errors=True)
        unfinished.unlink(missing_ok=True)
    return said


def _hold(root: Path, moment: Path) -> None:
    """Everything there is, under second names."""
    for kind in ("runs", "rooms"):
        (moment / kind).mkdir()
    for id in ids(root / "runs"):
        for path in (root / "runs" / id, files.sibling_paths(root / "runs" / id).old):
            _hold_folder(path, moment / "runs" / path.name)
    _hold_folder(root / "rooms", moment / "rooms")


def _hold_folder(path: Path, to: Path) -> None:
    to.mkdir(exist_ok=True)
    with suppress(FileNotFoundError, NotADirectoryError):  # what is gone meanwhile was saved anew, or deleted
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
    except OSError:  # a disk without second names
        shutil.copy2(source, target)


def _add_runs(tar: tarfile.TarFile, held: Path, said: Exported, all_saves: bool) -> None:
    for id in ids(held):
        try:
            folder, wrong = newest(held / id)
        except Refusal as refusal:
            said.left_out[f"runs/{id}"] = str(refusal)
            continue
        if wrong and (held / id).exists():
            said.earlier[f"runs/{id}"] = str(wrong)
        _add_save(tar, folder, f"runs/{id}")
        said.runs += 1
        before = files.sibling_paths(held / id).old
        if all_saves and before.exists() and folder.path != before:
            try:
                _add_save(tar, read_whole(before, id), f"runs/{id}{archive.OLD}")
            except Refusal as refusal:
                said.left_out[f"runs/{id}{archive.OLD}"] = str(refusal)


def _add_save(tar: tarfile.TarFile, folder: Folder, name: str) -> None:
    for file in ("run.json", *(entry["called"] for entry in folder.entries.values())):
        path = folder.path / file
        with path.open("rb") as opened:
            tar.addfile(archive.header(f"{name}/{file}", path), opened)


def _add_rooms(tar: tarfile.TarFile, held: Path, said: Exported) -> None:
    for path in sorted(held.iterdir()):
        if not ROOM_FILE.fullmatch(path.name):
            continue
        try:
            read_room(path)
        except (Refusal, ValueError) as error:
            said.left_out[f"rooms/{path.name}"] = str(error)
            continue
        with path.open("rb") as file:
            tar.addfile(archive.header(f"rooms/{path.name}", path), file)
        said.rooms += 1


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    made = tarfile.TarInfo(name)
    made.size, made.mtime = len(data), int(time.time())
    tar.addfile(made, io.BytesIO(data))

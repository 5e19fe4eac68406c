"""Verifies every save and every room on the disk. Read-only and without locks: a server may be running on it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playground.config import Refusal
from playground.rooms.store import FILE as ROOM_FILE, SET_ASIDE, read_room
from playground.runs.disk import files, saves
from playground.runs.disk.folder import LAZY_PARTS, Folder
from playground.runs.disk.saves import ID

WHOLE, EARLIER, DAMAGED, NEWER, LEFT_OVER = VERDICTS = ("whole", "earlier save", "damaged", "newer format", "left over")
LOST = (EARLIER, DAMAGED, NEWER)  # verdicts of saved data that this version can't read
TRIES, PAUSE_S = 4, 0.05  # a server that saves moves the folder away for a moment


@dataclass(frozen=True)
class Finding:
    """One run, room or leftover: `name` is its path in the store's folder."""

    name: str
    verdict: str
    bytes: int
    step: int | None = None  # of the newest whole save
    why: str = ""  # the error in the newest one

    @property
    def lost(self) -> bool:
        return self.verdict in LOST


def check(root: Path) -> Iterator[Finding]:
    """Verifies everything in a store's folder, reading every byte. Raises Refusal when there is no store."""
    require_store(root)
    yield from _runs(root / "runs")
    yield from _rooms(root / "rooms")
    yield from (Finding(path.name, LEFT_OVER, size_of(path)) for path in sorted(root.glob(".store-*")))


def require_store(root: Path) -> None:
    """Raises Refusal unless the folder holds a server's store."""
    if not ((root / "runs").is_dir() or (root / "rooms").is_dir()):
        raise Refusal("backup.no_store", folder=str(root))


def read_whole(path: Path, id: str) -> Folder:
    """Reads every part of the save of the run `id` in the folder `path`. Raises Refusal unless it is whole."""
    folder = saves.open_save(path, id)
    folder.files()
    for name in LAZY_PARTS:
        getattr(folder.run, name)
    if folder.has("state.safetensors"):
        files.read_safetensors(folder.read("state.safetensors"), None, "state.safetensors", finite=False)
    return folder


def newest_whole(path: Path) -> tuple[Folder, Refusal | None]:
    """Returns the newest whole save of a run, and the error of the last one if that is another. Raises Refusal when there is none."""
    first: Refusal | None = None
    for place in (path, files.sibling_paths(path).old):
        if first and not place.is_dir():
            continue
        for attempt in range(TRIES):
            try:
                return read_whole(place, path.name), first
            except Refusal as refusal:
                wrong = refusal
                if refusal.key == "runs.newer_format":
                    raise
            if attempt < TRIES - 1:
                time.sleep(PAUSE_S)
        first = first or wrong
    raise first


def list_ids(root: Path) -> list[str]:
    """Returns the ids of the runs in a folder, including runs with a previous save only."""
    return sorted({id for path in _listed(root) if ID.fullmatch(id := path.name.partition(".")[0])})


def size_of(path: Path) -> int:
    """Returns the bytes of a file, or of all files in a folder."""
    return sum(file.stat().st_size for file in (path.rglob("*") if path.is_dir() else (path,)) if file.is_file())


def _runs(root: Path) -> Iterator[Finding]:
    known = set()
    for id in list_ids(root):
        path = root / id
        neighbours = files.sibling_paths(path)
        if not (path.exists() or neighbours.old.exists() or neighbours.new.exists()):
            continue
        known |= {path, neighbours.old}
        yield _verdict(path)
    for path in _listed(root):
        if path not in known:
            yield Finding(f"runs/{path.name}", LEFT_OVER, size_of(path))


def _verdict(path: Path) -> Finding:
    name, size = f"runs/{path.name}", size_of(path) if path.exists() else 0
    try:
        folder, wrong = newest_whole(path)
    except Refusal as refusal:
        return Finding(name, NEWER if refusal.key == "runs.newer_format" else DAMAGED, size, why=str(refusal))
    verdict = WHOLE if folder.path == path or not path.exists() else EARLIER
    return Finding(name, verdict, size_of(folder.path), folder.run.checkpoint_step, str(wrong) if wrong and verdict == EARLIER else "")


def _rooms(root: Path) -> Iterator[Finding]:
    for path in _listed(root):
        name, size = f"rooms/{path.name}", size_of(path)
        if not ROOM_FILE.fullmatch(path.name):
            yield Finding(name, DAMAGED if path.name.endswith(SET_ASIDE) else LEFT_OVER, size)
            continue
        try:
            read_room(path)
            yield Finding(name, WHOLE, size)
        except (Refusal, ValueError) as error:
            yield Finding(name, DAMAGED, size, why=str(error))


def _listed(root: Path) -> list[Path]:
    return sorted(root.iterdir()) if root.is_dir() else []

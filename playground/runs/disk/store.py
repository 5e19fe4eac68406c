"""The runs on disk: one folder each, replaced whole at every save, so that a crash at any moment leaves a run that can be read.

Ids come from us, never from a visitor: nothing a visitor sends is ever joined to a path.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from playground.config import Refusal, to_json
from playground.runs.disk import files
from playground.runs.disk.folder import LAZY, Folder, Rest, card_of, describe, pack_pairs
from playground.runs.run import WORKING, Run

try:
    import fcntl
except ImportError:  # Windows: whoever starts two servers there must give them two folders
    fcntl = None

log = logging.getLogger(__name__)
ID = re.compile(r"[A-Za-z0-9_-]{16,64}")


def wanted_folder() -> Path:
    """PLAYGROUND_DATA, or a folder of the user's."""
    return Path(os.environ.get("PLAYGROUND_DATA") or Path.home() / ".local/share/transformer-playground")


def default_folder() -> Path:
    """The wanted one; a temporary one, said in the log, when that can't be written."""
    wanted = wanted_folder()
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=wanted):
            return wanted
    except OSError as error:
        folder = Path(tempfile.mkdtemp(prefix="transformer-playground-"))
        log.warning("%s can't be written (%s): runs are kept in %s and may be gone tomorrow", wanted, error, folder)
        return folder


def alone_in(folder: Path) -> tuple[Path, int | None]:
    """The folder, locked for this process; a temporary one when another server has it. Returns it with the open lock."""
    if fcntl is None:
        return folder, None
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return folder, descriptor
    except OSError:
        os.close(descriptor)
        other = Path(tempfile.mkdtemp(prefix="transformer-playground-"))
        log.warning("%s belongs to another server that is running: runs are kept in %s", folder, other)
        return alone_in(other)


def write_run(
    path: Path, run: Run, contents: Mapping[str, bytes], kept: Mapping[str, dict[str, Any]] | None = None, rest: Rest | None = None
) -> dict[str, Any]:
    """Puts these files and run.json in the place of the folder `path`, all or nothing; `kept` are files of the old one that stay.

    Returns what run.json says. Raises OSError, and then the old folder stands.
    """
    card = card_of(run, {**(kept or {}), **describe(contents)}, rest)
    files.replace_folder(path, {**contents, "run.json": files.to_json(card)}, tuple(kept or ()))
    return card


def first_files(run: Run) -> dict[str, bytes]:
    """What a run has before it is prepared: its config and its own data."""
    return {"config.json": files.to_json(to_json(run.experiment))} | ({"pairs.json": pack_pairs(run.pairs)} if run.pairs else {})


class Store:
    """Saves runs, reads them back, and throws the oldest away when there are too many."""

    def __init__(self, folder: Path | None = None) -> None:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self.folder, self._held = alone_in(folder or default_folder())
        self.root = self.folder / "runs"
        self.root.mkdir(exist_ok=True)
        self._cards: dict[str, dict[str, Any]] = {}  # run id -> its run.json as last written

    def close(self) -> None:
        """Lets another server have the folder."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def path(self, run: Run) -> Path:
        return self.root / run.id

    def read_all(self) -> list[Run]:
        """Every run that can be read, repaired after a crash. One that was at work when the server went away is "interrupted" now."""
        found = []
        for id in sorted({path.name.removesuffix(".new").removesuffix(".old") for path in self.root.iterdir()}):
            if not ID.fullmatch(id) or not files.recover(self.root / id):
                continue
            try:
                folder = Folder(self.root / id)
                if folder.run.id != id:
                    raise Refusal("runs.not_a_run", what="run.json")
            except Refusal as refusal:
                log.warning("%s is left alone: %s", self.root / id, refusal)
                continue
            run = folder.run
            run.looked_at = (self.root / id / "run.json").stat().st_mtime
            self._cards[id] = folder.card
            if run.status in WORKING:
                run.status, run.message = "interrupted", Refusal("runs.interrupted", step=run.step)
            found.append(run)
        return found

    def open(self, run: Run) -> Folder:
        """The folder as it was last saved. Raises Refusal."""
        return Folder(self.path(run))

    def create(self, run: Run, contents: Mapping[str, bytes] | None = None) -> None:
        """A new run that has nothing but its config, its own data, and for a fork what it goes on from (`contents`)."""
        self.save(run, {**first_files(run), **(contents or {})})

    def save(self, run: Run, contents: Mapping[str, bytes], keep: tuple[str, ...] = (), rest: Rest | None = None) -> None:
        """Replaces the run's folder with these files, and of the old ones those in `keep`; `rest` is the status it is about to have.

        Raises OSError, and then the old folder stands.
        """
        with run.disk:
            old = self._cards.get(run.id, {}).get("files", {})
            self._cards[run.id] = write_run(self.path(run), run, contents, {name: old[name] for name in keep if name in old}, rest)
        run.loaders = {name: partial(self._load, run, name) for name in LAZY}

    def _load(self, run: Run, name: str) -> Any:
        with run.disk:
            return getattr(self.open(run).run, name)

    def note(self, run: Run, *names: str, rest: Rest | None = None) -> None:
        """Writes only what run.json says of the run: all of it, or what `names` name and the rest as it was at the last save."""
        with run.disk:
            old = self._cards.get(run.id)
            if old is not None:
                new = card_of(run, old["files"], rest)
                card = old | {name: new[name] for name in names or new}
                files.write_file(self.path(run) / "run.json", files.to_json(card))
                self._cards[run.id] = card

    def delete(self, run: Run) -> None:
        """The run, and what a save that failed may have left beside it."""
        with run.disk:
            self._cards.pop(run.id, None)
            for path in (self.path(run), *files.beside(self.path(run))):
                shutil.rmtree(path, ignore_errors=True)

    def size(self, run: Run) -> int:
        """Bytes on disk."""
        return sum(entry["bytes"] for entry in self._cards.get(run.id, {}).get("files", {}).values())

    def too_many(self, runs: list[Run], most: int, most_bytes: int) -> list[Run]:
        """Those to let go so that the rest keep within `most` and `most_bytes`: neither unfinished nor shipped, longest unseen first."""
        kept = [run for run in runs if not run.shipped]
        count, size = len(kept), sum(map(self.size, kept))
        gone = []
        for run in sorted((run for run in kept if not run.unfinished), key=lambda run: run.looked_at):
            if count <= most and size <= most_bytes:
                break
            gone.append(run)
            count, size = count - 1, size - self.size(run)
        return gone


def read_kept(folder: Path) -> Iterator[Run]:
    """The runs that a server keeps in `folder`, as they were last saved. It may be at work there: nothing is locked, repaired or written,
    and what can't be read now is left out."""
    root = folder / "runs"
    for path in sorted(root.iterdir()) if root.is_dir() else ():
        if ID.fullmatch(path.name) and (run := _read(path)):
            yield run


def read_shipped(folder: Path | None) -> list[Run]:
    """The runs in checkpoints/, by the names of their folders. One that can't be read is said in the log and left out."""
    found = []
    for path in sorted(folder.iterdir()) if folder and folder.is_dir() else ():
        if run := _read(path, path.name):
            run.name, run.owner, run.shipped = path.name, "", True
            found.append(run)
    return found


def _read(path: Path, id: str | None = None) -> Run | None:
    try:
        return Folder(path, id).run
    except Refusal as refusal:
        log.warning("%s is left out: %s", path, refusal)
        return None

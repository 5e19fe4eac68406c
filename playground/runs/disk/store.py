"""All saved runs: one folder each, replaced atomically at every save, so that a crash leaves a readable run.

Ids are generated here: no visitor's input is ever joined to a path.
"""

import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from playground.config import Refusal, to_json
from playground.runs.disk import ID, SHIPPED as SHIPPED, default_folder, files, saves
from playground.runs.disk.folder import LAZY_PARTS, Folder, Rest, card_of, describe, pack_pairs
from playground.runs.disk.saves import KeptRuns
from playground.runs.orders import WORKING
from playground.runs.run import Run
from playground.runs.runtime import REAL, Runtime

try:
    import fcntl
except ImportError:  # Windows: two servers there must not share a folder
    fcntl = None

log = logging.getLogger(__name__)
VIEW_LAG_SECONDS = 600.0  # how far saved view times may lag behind
OWN_DATA = ("pairs.json",)  # files that never change between saves


def make_folder(folder: Path) -> Path:
    """Creates the folder and checks that it is writable. Raises Refusal otherwise: runs saved there would be lost."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise Refusal("runs.folder_unwritable", folder=str(folder), why=error.strerror or type(error).__name__) from error


def lock(folder: Path) -> int | None:
    """Locks the folder for this process. Returns the open lock, or None where unsupported. Raises Refusal when another server has it."""
    if fcntl is None:
        return None
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise Refusal("runs.folder_in_use", folder=str(folder)) from error
    except OSError as error:  # some network disks support no locks
        log.warning("%s can't be locked (%s): start no second server on it", folder, error)
    return descriptor


def write_run(
    path: Path, run: Run, contents: Mapping[str, bytes], entries: Mapping[str, dict[str, Any]] | None = None, rest: Rest | None = None,
    spare: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Replaces the folder `path` atomically by these files and run.json; `entries` are files of the old one to reuse. With `spare` the old
    folder stays beside it.

    Returns run.json. Raises OSError, leaving the old folder unchanged.
    """
    card = card_of(run, {**(entries or {}), **describe(contents)}, rest)
    linked, written = saves.split_unchanged(path, entries or {}, spare)
    files.replace_folder(path, {**contents, **written, "run.json": files.to_json(card)}, linked, spare=spare)
    return card


def first_files(run: Run) -> dict[str, bytes]:
    """Returns the files of an unprepared run: its config and uploaded pairs."""
    return {"config.json": files.to_json(to_json(run.experiment))} | ({"pairs.json": pack_pairs(run.pairs)} if run.pairs else {})


class Store(KeptRuns):
    """Saves and deletes runs."""

    def __init__(self, folder: Path | None = None, runtime: Runtime = REAL) -> None:
        self.folder = make_folder(folder or default_folder())
        self._lock_descriptor = lock(self.folder)
        files.delete_temporary(self.folder)
        self.other_bytes = 0  # bytes of files that belong to no known run, at the last check
        super().__init__(self.folder / "runs", runtime)
        self._deferred: dict[str, tuple[Mapping[str, bytes], Rest]] = {}  # by run id: a failed final save

    def close(self) -> None:
        """Unlocks the folder."""
        self.disk.close()
        if self._lock_descriptor is not None:
            os.close(self._lock_descriptor)
            self._lock_descriptor = None

    def create(self, run: Run, contents: Mapping[str, bytes] | None = None) -> None:
        """Saves a new run: config, uploaded pairs, and for a fork the files that it continues from (`contents`)."""
        self.save(run, {**first_files(run), **(contents or {})})

    def save(self, run: Run, contents: Mapping[str, bytes], keep: tuple[str, ...] = (), rest: Rest | None = None) -> None:
        """Replaces the run's folder by these files, and those in `keep` of the old one; `rest` is the upcoming status.

        Raises OSError, leaving the old folder unchanged.
        """
        with run.disk, self.disk.track(writes=True):
            self._write(run, contents, keep, rest or (run.status, run.message))

    def _write(self, run: Run, contents: Mapping[str, bytes], keep: tuple[str, ...], rest: Rest) -> None:
        old, spare = self._cards.get(run.id, {}).get("files", {}), rest[0] in saves.TWO_SAVE_STATUSES
        entries = {name: old[name] for name in keep if name in old}
        self._cards[run.id] = write_run(self.path(run), run, contents, entries, rest, spare)
        self._previous_bytes[run.id] = saves.previous_save_bytes(self.path(run))
        self._deferred.pop(run.id, None)
        run.loaders = {name: partial(self._load, run, name) for name in LAZY_PARTS}

    def defer_save(self, run: Run, contents: Mapping[str, bytes], rest: Rest) -> None:
        """Keeps a failed final save in memory for a retry. run.json is updated to say so, if possible."""
        self._deferred[run.id] = contents, rest
        step = self._cards.get(run.id, {}).get("step", 0)
        with suppress(OSError):
            self.write_card(run, *saves.SAVE_FIELDS, rest=("interrupted", Refusal("runs.end_not_saved", reached=run.step, step=step)))

    def retry_save(self, run: Run) -> None:
        """Retries a failed final save, if any. Raises OSError."""
        with run.disk:
            if run.id not in self._deferred:
                return
            contents, rest = self._deferred[run.id]
            before, run.checkpoint_step = run.checkpoint_step, run.step
            try:
                with self.disk.track(writes=True):
                    self._write(run, contents, OWN_DATA, rest)
            except OSError:
                run.checkpoint_step = before
                raise
            run.message = rest[1]
        run.touch()

    def write_card(self, run: Run, *names: str, rest: Rest | None = None) -> None:
        """Writes run.json only: the fields `names` (all if empty), the others as of the last save."""
        with run.disk, self.disk.track(writes=True):
            self._write_card(run, names, rest)

    def save_at_work(self, run: Run) -> None:
        """Records that a run is at work again, and why, unless already saved. Raises OSError."""
        if run.message or self._cards.get(run.id, {}).get("status") not in WORKING:
            self.write_card(run, *saves.SAVE_FIELDS)

    def delete(self, run: Run) -> None:
        """Deletes the run, all its saves, and leftovers of failed ones."""
        with run.disk, self.disk.track():
            for table in (self._cards, self._previous_bytes, self._deferred):
                table.pop(run.id, None)
            files.delete_folder(self.path(run))

    def size(self, run: Run) -> int:
        """Returns the bytes of the newest save."""
        return sum(entry["bytes"] for entry in self._cards.get(run.id, {}).get("files", {}).values())

    def disk_size(self, run: Run) -> int:
        """Returns the bytes of all saves."""
        return self.size(run) + self._previous_bytes.get(run.id, 0)

    def measure_other_files(self) -> None:
        """Measures the bytes of rooms, uploads and unreadable runs. May take as long as the disk."""
        with self.disk.track(), suppress(FileNotFoundError):
            top = [path for path in self.folder.iterdir() if path != self.root]
            unknown = [path for path in self.root.iterdir() if path.name.partition(".")[0] not in self._cards]
            self.other_bytes = sum(map(files.tree_size, (*top, *unknown)))

    def save_view_time(self, run: Run) -> None:
        """Saves the time of the last view, as run.json's mtime, and the visited flag. Raises OSError."""
        with run.disk:
            card = self._cards.get(run.id)
            if card is None:
                return
            if card.get("visited", False) != run.visited:
                self._write_card(run, ("visited",))
            path = self.path(run) / "run.json"
            if run.looked_at - path.stat().st_mtime > VIEW_LAG_SECONDS:
                os.utime(path, (run.looked_at, run.looked_at))


def open_kept_folders(folder: Path) -> Iterator[Folder]:
    """Yields the last saves in a server's `folder`, which may be in use: nothing is locked, repaired or written. Unreadable runs are
    skipped; for a damaged newest save the one before is read."""
    root = folder / "runs"
    for path in sorted(root.iterdir()) if root.is_dir() else ():
        before = files.sibling_paths(path).old
        if ID.fullmatch(path.name) and (saved := _read(path) or (_read(before) if before.is_dir() else None)):
            yield saved


def read_shipped(folder: Path | None) -> list[Run]:
    """Returns the runs of `open_shipped_folders`."""
    return [shipped.run for shipped in open_shipped_folders(folder)]


def open_shipped_folders(folder: Path | None) -> Iterator[Folder]:
    """Yields the runs in checkpoints/, named after their folders. Unreadable ones are logged and skipped."""
    for path in sorted(folder.iterdir()) if folder and folder.is_dir() else ():
        if shipped := _read(path, path.name):
            shipped.run.name, shipped.run.owner, shipped.run.shipped = path.name, "", True
            yield shipped


def _read(path: Path, id: str | None = None) -> Folder | None:
    try:
        return Folder(path, id)
    except Refusal as refusal:
        log.warning("%s is left out: %s", path, refusal)
        return None

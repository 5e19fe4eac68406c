"""Loads saved runs after a restart, and their parts on demand. A damaged save is set aside, falling back to the save before."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from playground.config import Refusal
from playground.runs.cut_off import interruption_message
from playground.runs.disk import files, saves
from playground.runs.disk.folder import LAZY_PARTS, Folder, Rest, card_of
from playground.runs.disk.watch import DiskWatch
from playground.runs.run import Run
from playground.runs.runtime import REAL, Runtime

log = logging.getLogger(__name__)
ID = re.compile(r"[A-Za-z0-9_-]{16,64}")


class KeptRuns:
    """The runs in the folder `root`, one folder each."""

    def __init__(self, root: Path, runtime: Runtime = REAL) -> None:
        self.root, self.runtime = root, runtime
        root.mkdir(exist_ok=True)
        self.disk = DiskWatch(root, runtime)
        self.unreadable: dict[str, Refusal] = {}  # by run id: why it is ignored
        self._cards: dict[str, dict[str, Any]] = {}  # by run id: run.json as last written
        self._previous_bytes: dict[str, int] = {}  # by run id: bytes of the save before, and of one set aside
        self._logged_ids: set[str] = set()  # runs already logged as unreadable

    def path(self, run: Run) -> Path:
        return self.root / run.id

    def read_all(self) -> list[Run]:
        """Loads every readable run, repairing crashes. Runs at work when the server stopped become "interrupted"."""
        runs, fallback_messages = [], {}
        for id in sorted({path.name.partition(".")[0] for path in self.root.iterdir()}):
            if not ID.fullmatch(id):
                continue
            try:
                run, fallback_messages[id] = self._read_back(self.root / id)
                runs += [run] if run else []
            except (Refusal, OSError) as error:
                log.warning("%s is left alone: %s", self.root / id, error)
                self.unreadable[id] = error if isinstance(error, Refusal) else Refusal("runs.not_a_run", what=id)
        cut_off = [run for run in runs if run.working]
        for run in cut_off:
            run.status, run.message = "interrupted", interruption_message(run, len(cut_off) == 1)
        for run in runs:
            run.message = fallback_messages[run.id] or run.message
        return runs

    def _read_back(self, path: Path) -> tuple[Run | None, Refusal | None]:
        """Loads a folder; returns the run, None when a crash came before its first save, and the message if it is an earlier save. Raises
        Refusal, and OSError."""
        saves.check_versions(path)
        files.recover(path, spare=True)
        if not path.exists():
            return None, None
        message = None
        try:
            folder = saves.open_save(path, path.name)
        except Refusal as refusal:
            folder = saves.restore_previous(path)
            if folder is None:
                raise
            log.warning("%s: the newest save is set aside, the one before is used: %s", path, refusal)
            message = Refusal("runs.earlier_save", step=folder.run.step)
        run, self._cards[path.name] = folder.run, folder.card
        run.runtime, run.seen_at = self.runtime, self.runtime.monotonic()
        if run.status not in saves.TWO_SAVE_STATUSES and files.sibling_paths(path).old.is_dir() and saves.is_whole(folder):
            files.recover(path)
        run.looked_at = min((path / "run.json").stat().st_mtime, self.runtime.date())
        run.loaders = {name: partial(self._load, run, name) for name in LAZY_PARTS}
        self._previous_bytes[run.id] = saves.previous_save_bytes(path)
        return run, message

    def open(self, run: Run) -> Folder:
        """Opens the last save. Raises Refusal."""
        return Folder(self.path(run))

    def read(self, run: Run, use: Callable[[Folder], Any]) -> Any:
        """Returns `use(folder)` of the last save; the folder is locked meanwhile. A damaged save is set aside, falling back to the save
        before. Raises Refusal when there is none."""
        with run.loading, run.disk, self.disk.track():
            try:
                return use(self.open(run))
            except Refusal as refusal:
                if not saves.is_damage(refusal) or not self._fall_back(run, refusal):
                    raise
            return use(self.open(run))

    def _fall_back(self, run: Run, refusal: Refusal) -> bool:
        """Falls back to the save before. Returns whether there is one."""
        try:
            folder = saves.restore_previous(self.path(run))
        except OSError as error:
            folder, refusal = None, error
        if folder is None:
            if run.id not in self._logged_ids:
                log.warning("run %s (%s) can't be read: %s", run.name, run.id, refusal)
            self._logged_ids.add(run.id)
            return False
        log.warning("run %s (%s): the newest save is set aside, the one before is used: %s", run.name, run.id, refusal)
        self._cards[run.id], self._previous_bytes[run.id] = folder.card, saves.previous_save_bytes(self.path(run))
        if run.status != "training":  # otherwise memory is ahead of both saves
            saves.roll_back(run, folder.run)
            with suppress(OSError):  # after a restart the message is missing
                self._write_card(run, saves.SAVE_FIELDS)
        return True

    def reload(self, run: Run) -> Run:
        """Reloads the run from its last save as a new object, since a hung thread may still write to the old one. Both share one folder
        lock. Raises Refusal."""
        reloaded = self.read(run, lambda folder: folder.run)
        reloaded.runtime, reloaded.disk, reloaded.live = run.runtime, run.disk, dict(run.live)
        reloaded.seen_at, reloaded.looked_at = run.seen_at, run.looked_at
        reloaded.loaders = {name: partial(self._load, reloaded, name) for name in LAZY_PARTS}
        return reloaded

    def _load(self, run: Run, name: str) -> Any:
        return self.read(run, lambda folder: getattr(folder.run, name))

    def _write_card(self, run: Run, names: Sequence[str], rest: Rest | None = None) -> None:
        old = self._cards.get(run.id)
        if old is not None:
            new = card_of(run, old["files"], rest)
            card = old | {name: new[name] for name in names or new}
            files.write_file(self.path(run) / "run.json", files.to_json(card))
            self._cards[run.id] = card
            saves.update_previous_card(self.path(run), {name: new[name] for name in names})

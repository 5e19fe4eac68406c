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
from playground.runs.cut_off import said_of
from playground.runs.disk import files, saves
from playground.runs.disk.folder import LAZY, Folder, Rest, card_of
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
        self._beside: dict[str, int] = {}  # by run id: bytes of the save before, and of one set aside
        self._told: set[str] = set()  # runs already logged as unreadable

    def path(self, run: Run) -> Path:
        return self.root / run.id

    def read_all(self) -> list[Run]:
        """Loads every readable run, repairing crashes. Runs at work when the server stopped become "interrupted"."""
        found, earlier = [], {}
        for id in sorted({path.name.partition(".")[0] for path in self.root.iterdir()}):
            if not ID.fullmatch(id):
                continue
            try:
                run, earlier[id] = self._read_back(self.root / id)
                found += [run] if run else []
            except (Refusal, OSError) as error:
                log.warning("%s is left alone: %s", self.root / id, error)
                self.unreadable[id] = error if isinstance(error, Refusal) else Refusal("runs.not_a_run", what=id)
        cut_off = [run for run in found if run.working]
        for run in cut_off:
            run.status, run.message = "interrupted", said_of(run, len(cut_off) == 1)
        for run in found:
            run.message = earlier[run.id] or run.message
        return found

    def _read_back(self, path: Path) -> tuple[Run | None, Refusal | None]:
        """Loads a folder; returns the run, None when a crash came before its first save, and the message if it is an earlier save. Raises
        Refusal, and OSError."""
        saves.check_versions(path)
        files.recover(path, spare=True)
        if not path.exists():
            return None, None
        said = None
        try:
            folder = saves.opened(path, path.name)
        except Refusal as refusal:
            folder = saves.step_back(path)
            if folder is None:
                raise
            log.warning("%s: the newest save is set aside, the one before is used: %s", path, refusal)
            said = Refusal("runs.earlier_save", step=folder.run.step)
        run, self._cards[path.name] = folder.run, folder.card
        run.runtime, run.seen_at = self.runtime, self.runtime.monotonic()
        if run.status not in saves.TWICE and files.beside(path).old.is_dir() and saves.is_whole(folder):
            files.recover(path)
        run.looked_at = min((path / "run.json").stat().st_mtime, self.runtime.date())
        run.loaders = {name: partial(self._load, run, name) for name in LAZY}
        self._beside[run.id] = saves.bytes_beside(path)
        return run, said

    def open(self, run: Run) -> Folder:
        """Opens the last save. Raises Refusal."""
        return Folder(self.path(run))

    def read(self, run: Run, use: Callable[[Folder], Any]) -> Any:
        """Returns `use(folder)` of the last save; the folder is locked meanwhile. A damaged save is set aside, falling back to the save
        before. Raises Refusal when there is none."""
        with run.loading, run.disk, self.disk.asked():
            try:
                return use(self.open(run))
            except Refusal as refusal:
                if not saves.is_damage(refusal) or not self._step_back(run, refusal):
                    raise
            return use(self.open(run))

    def _step_back(self, run: Run, refusal: Refusal) -> bool:
        """Falls back to the save before. Returns whether there is one."""
        try:
            folder = saves.step_back(self.path(run))
        except OSError as error:
            folder, refusal = None, error
        if folder is None:
            if run.id not in self._told:
                log.warning("run %s (%s) can't be read: %s", run.name, run.id, refusal)
            self._told.add(run.id)
            return False
        log.warning("run %s (%s): the newest save is set aside, the one before is used: %s", run.name, run.id, refusal)
        self._cards[run.id], self._beside[run.id] = folder.card, saves.bytes_beside(self.path(run))
        if run.status != "training":  # otherwise memory is ahead of both saves
            saves.set_back(run, folder.run)
            with suppress(OSError):  # after a restart the message is missing
                self._write_card(run, saves.PROGRESS)
        return True

    def again(self, run: Run) -> Run:
        """Reloads the run from its last save as a new object, since a hung thread may still write to the old one. Both share one folder
        lock. Raises Refusal."""
        back = self.read(run, lambda folder: folder.run)
        back.runtime, back.disk, back.live = run.runtime, run.disk, dict(run.live)
        back.seen_at, back.looked_at = run.seen_at, run.looked_at
        back.loaders = {name: partial(self._load, back, name) for name in LAZY}
        return back

    def _load(self, run: Run, name: str) -> Any:
        return self.read(run, lambda folder: getattr(folder.run, name))

    def _write_card(self, run: Run, names: Sequence[str], rest: Rest | None = None) -> None:
        old = self._cards.get(run.id)
        if old is not None:
            new = card_of(run, old["files"], rest)
            card = old | {name: new[name] for name in names or new}
            files.write_file(self.path(run) / "run.json", files.to_json(card))
            self._cards[run.id] = card
            saves.note_before(self.path(run), {name: new[name] for name in names})

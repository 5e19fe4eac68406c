"""The last two saves of a resumable run: the newest in its folder, the one before beside it; and how saved runs are loaded.

Two saves share no file, so that damage to one leaves the other intact: a damaged one is set aside, falling back to the save before. This
doubles the disk space; an ended run keeps one save.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from playground.config import Refusal
from playground.runs.disk import ID, files
from playground.runs.disk.files import check_version
from playground.runs.disk.folder import LAZY_PARTS, Folder, Rest, card_of
from playground.runs.disk.watch import DiskWatch
from playground.runs.orders import STATUSES, allows, next_status
from playground.runs.run import Run
from playground.runs.runtime import REAL, Runtime

log = logging.getLogger(__name__)
TWO_SAVE_STATUSES = tuple(status for status in STATUSES if allows(status, "train"))  # statuses of runs whose last two saves are kept
TRIES, TRIES_TOGETHER = 3, 12  # automatic resumptions from the same step: of a run that was at work alone, and with others
SAVE_FIELDS = ("status", "message")  # fields of a save; the rest of run.json belongs to the run


def open_save(path: Path, id: str) -> Folder:
    """Opens the folder of the run `id`. Raises Refusal for another's."""
    folder = Folder(path)
    if folder.run.id != id:
        raise Refusal("runs.not_a_run", what="run.json")
    return folder


def is_damage(refusal: Refusal) -> bool:
    """Returns whether the refusal is about unreadable files rather than the request."""
    return refusal.key == "runs.not_a_run" or refusal.key.startswith(("config.", "data."))


def restore_previous(path: Path) -> Folder | None:
    """Sets the newest save aside and replaces it by the one before, if complete. Returns None, without changes, if it isn't. Raises
    OSError."""
    try:
        before = open_save(files.sibling_paths(path).old, path.name)
    except Refusal:
        return None
    if not is_whole(before):
        return None
    files.set_aside(path)
    return open_save(path, path.name)


def is_whole(folder: Folder) -> bool:
    """Returns whether every file of a save matches run.json: only then may the save before be deleted."""
    try:
        folder.files()
    except Refusal:
        return False
    return True


def roll_back(run: Run, save: Run) -> None:
    """Rolls the run back to the given save, with a message."""
    run.step, run.seconds, run.checkpoint_step = save.step, save.seconds, save.checkpoint_step
    run.message = Refusal("runs.earlier_save", step=run.step)
    if not allows(run.status, "train"):
        run.status = next_status(save.status, "interrupt")
    run.release()
    run.marks.clear()  # rows already sent to readers no longer exist
    run.touch()


def split_unchanged(path: Path, entries: Mapping[str, Mapping[str, Any]], spare: bool) -> tuple[dict[str, Path], dict[str, bytes]]:
    """Splits the unchanged files of a save into (to link, to rewrite). With `spare` a file is linked from the save before or copied, never
    linked from the newest; an intact one is preferred."""
    linked, written = {}, {}
    before = files.sibling_paths(path).old
    for name, entry in entries.items():
        for folder in (before, path) if spare else (path, before):
            data = _whole(folder / name, entry)
            if data is not None:
                break
        else:
            folder = path  # damaged in both: the next read will report it
        if data is not None and spare and folder is path:
            written[name] = data
        else:
            linked[name] = folder / name
    return linked, written


def _whole(path: Path, entry: Mapping[str, Any]) -> bytes | None:
    try:
        data = files.read_bytes(path, entry["bytes"])
    except Refusal:
        return None
    return data if files.digest(data) == entry["sha256"] else None


def update_previous_card(path: Path, fields: Mapping[str, Any]) -> None:
    """Updates the run's own fields in the save before, so that falling back to it doesn't undo them. Raises OSError."""
    before = files.sibling_paths(path).old
    fields = {name: value for name, value in fields.items() if name not in SAVE_FIELDS}
    if fields and isinstance(card := _read_card(before), dict):  # otherwise there is no fallback to it
        files.write_file(before / files.CARD, files.to_json(card | fields))


def previous_save_bytes(path: Path) -> int:
    """Returns the bytes of the save before, and of one set aside."""
    _, old, _, damaged = files.sibling_paths(path)
    return files.tree_size(old) + files.tree_size(damaged)


def check_versions(path: Path) -> None:
    """Raises Refusal when a later version of this program wrote any save of this run, which must not be repaired then."""
    for folder in (path, *files.sibling_paths(path)):
        check_version(_read_card(folder), path.name)


def _read_card(folder: Path) -> Any:
    """Reads run.json; returns None where it is missing or damaged."""
    try:
        return files.parse_json(files.read_bytes(folder / files.CARD, files.MAX_CARD_BYTES), files.CARD)
    except Refusal:
        return None


def interruption_message(run: Run, is_alone: bool) -> Refusal:
    """Returns the message of a run that was at work when the server stopped; `is_alone`: no other run was."""
    tries, most = count_tries(run.message, run.step), TRIES if is_alone else TRIES_TOGETHER
    return Refusal("runs.cut_off_often" if tries >= most else "runs.interrupted", step=run.step, tries=tries)


def count_tries(message: Refusal | None, step: int) -> int:
    """Returns how often the run has resumed from this very step."""
    count = message.values.get("tries") if message and message.values.get("step") == step else 0
    return count if isinstance(count, int) else 0


class KeptRuns:
    """The runs in the folder `root`, one folder each: loaded after a restart, and their parts on demand."""

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
            run.status, run.message = next_status(run.status, "interrupt"), interruption_message(run, len(cut_off) == 1)
        for run in runs:
            run.message = fallback_messages[run.id] or run.message
        return runs

    def _read_back(self, path: Path) -> tuple[Run | None, Refusal | None]:
        """Loads a folder; returns the run, None when a crash came before its first save, and the message if it is an earlier save. Raises
        Refusal, and OSError."""
        check_versions(path)
        files.recover(path, spare=True)
        if not path.exists():
            return None, None
        message = None
        try:
            folder = open_save(path, path.name)
        except Refusal as refusal:
            folder = restore_previous(path)
            if folder is None:
                raise
            log.warning("%s: the newest save is set aside, the one before is used: %s", path, refusal)
            message = Refusal("runs.earlier_save", step=folder.run.step)
        run, self._cards[path.name] = folder.run, folder.card
        run.runtime, run.seen_at = self.runtime, self.runtime.monotonic()
        if run.status not in TWO_SAVE_STATUSES and files.sibling_paths(path).old.is_dir() and is_whole(folder):
            files.recover(path)
        run.looked_at = min((path / "run.json").stat().st_mtime, self.runtime.date())
        run.loaders = {name: partial(self._load, run, name) for name in LAZY_PARTS}
        self._previous_bytes[run.id] = previous_save_bytes(path)
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
                if not is_damage(refusal) or not self._fall_back(run, refusal):
                    raise
            return use(self.open(run))

    def _fall_back(self, run: Run, refusal: Refusal) -> bool:
        """Falls back to the save before. Returns whether there is one."""
        try:
            folder = restore_previous(self.path(run))
        except OSError as error:
            folder, refusal = None, error
        if folder is None:
            if run.id not in self._logged_ids:
                log.warning("run %s (%s) can't be read: %s", run.name, run.id, refusal)
            self._logged_ids.add(run.id)
            return False
        log.warning("run %s (%s): the newest save is set aside, the one before is used: %s", run.name, run.id, refusal)
        self._cards[run.id], self._previous_bytes[run.id] = folder.card, previous_save_bytes(self.path(run))
        if run.status != "training":  # otherwise memory is ahead of both saves
            roll_back(run, folder.run)
            with suppress(OSError):  # after a restart the message is missing
                self._write_card(run, SAVE_FIELDS)
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
            update_previous_card(self.path(run), {name: new[name] for name in names})

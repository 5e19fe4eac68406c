"""The last two saves of a resumable run: the newest in its folder, the one before beside it. They share no file, so that damage to one
leaves the other intact.

This doubles the disk space; an ended run keeps one save.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playground.config import Refusal
from playground.runs.disk import files
from playground.runs.disk.folder import Folder, check_version
from playground.runs.run import RESUMABLE, WORKING, Run

TWO_SAVE_STATUSES = (*WORKING, *RESUMABLE)  # statuses of runs whose last two saves are kept
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
    if not (run.working or run.status in RESUMABLE):
        run.status = "interrupted" if save.working else save.status
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
    card_path = files.sibling_paths(path).old / "run.json"
    fields = {name: value for name, value in fields.items() if name not in SAVE_FIELDS}
    if fields and card_path.exists():
        try:
            card = files.parse_json(files.read_bytes(card_path, files.MAX_HEADER_BYTES), "run.json")
        except Refusal:  # damaged: no fallback to it
            return
        if isinstance(card, dict):
            files.write_file(card_path, files.to_json(card | fields))


def previous_save_bytes(path: Path) -> int:
    """Returns the bytes of the save before, and of one set aside."""
    _, old, _, damaged = files.sibling_paths(path)
    return files.size_of(old) + files.size_of(damaged)


def check_versions(path: Path) -> None:
    """Raises Refusal when a later version of this program wrote any save of this run, which must not be repaired then."""
    for folder in (path, *files.sibling_paths(path)):
        try:
            card = files.parse_json(files.read_bytes(folder / "run.json", files.MAX_HEADER_BYTES), "run.json")
        except Refusal:  # damaged or missing
            continue
        check_version(card, path.name)

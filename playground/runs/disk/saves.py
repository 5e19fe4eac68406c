"""The last two saves of a run that can go on: the newest in its folder, the one before beside it. Neither shares a file with the other, so
that what damages one leaves the other whole.

It costs as many bytes again as the save before has; a run that has come to its end keeps one save.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playground.config import Refusal
from playground.runs.disk import files
from playground.runs.disk.folder import Folder, check_version
from playground.runs.run import RESUMABLE, WORKING, Run

TWICE = (*WORKING, *RESUMABLE)  # statuses of runs whose last two saves are kept
PROGRESS = ("status", "message")  # what a save says of itself; the rest of run.json is the run's


def opened(path: Path, id: str) -> Folder:
    """The folder of the run `id`. Raises Refusal for another's."""
    folder = Folder(path)
    if folder.run.id != id:
        raise Refusal("runs.not_a_run", what="run.json")
    return folder


def is_damage(refusal: Refusal) -> bool:
    """Whether this is said of files that can't be read, and not of what was asked of them."""
    return refusal.key == "runs.not_a_run" or refusal.key.startswith(("config.", "data."))


def step_back(path: Path) -> Folder | None:
    """Sets the newest save aside and puts the one before in its place, when that is whole. None when it isn't, and then nothing has
    changed. Raises OSError."""
    try:
        before = opened(files.beside(path).old, path.name)
    except Refusal:
        return None
    if not is_whole(before):
        return None
    files.set_aside(path)
    return opened(path, path.name)


def is_whole(folder: Folder) -> bool:
    """Whether every file of a save is as its run.json promises: only then the save before may go."""
    try:
        folder.files()
    except Refusal:
        return False
    return True


def set_back(run: Run, back: Run) -> None:
    """The run is as far as the save `back`, and says so."""
    run.step, run.seconds, run.checkpoint_step = back.step, back.seconds, back.checkpoint_step
    run.message = Refusal("runs.earlier_save", step=run.step)
    if not (run.working or run.status in RESUMABLE):
        run.status = "interrupted" if back.working else back.status
    run.release()
    run.marks.clear()  # rows that readers have seen are there no more
    run.touch()


def kept_files(path: Path, entries: Mapping[str, Mapping[str, Any]], spare: bool) -> tuple[dict[str, Path], dict[str, bytes]]:
    """Files that stay the same at a save: (those to be linked, those to be written again). Beside a `spare` a file is the one before
    its, or a copy, never the newest save's own; whichever is whole."""
    linked, written = {}, {}
    before = files.beside(path).old
    for name, entry in entries.items():
        for folder in (before, path) if spare else (path, before):
            data = _whole(folder / name, entry)
            if data is not None:
                break
        else:
            folder = path  # damaged in both: whoever reads it will say so
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


def note_before(path: Path, said: Mapping[str, Any]) -> None:
    """The save before is told what has changed of the run itself, so that going back to it takes nothing of that back. Raises OSError."""
    card_path = files.beside(path).old / "run.json"
    said = {name: value for name, value in said.items() if name not in PROGRESS}
    if said and card_path.exists():
        try:
            card = files.parse_json(files.read_bytes(card_path, files.MAX_HEADER_BYTES), "run.json")
        except Refusal:  # damaged: there is no going back to it
            return
        if isinstance(card, dict):
            files.write_file(card_path, files.to_json(card | said))


def bytes_beside(path: Path) -> int:
    """What the save before and one that was set aside take."""
    _, old, _, damaged = files.beside(path)
    return files.size_of(old) + files.size_of(damaged)


def check_versions(path: Path) -> None:
    """Raises Refusal when a later version of this program wrote any save of this run: then it is not ours to repair."""
    for folder in (path, *files.beside(path)):
        try:
            card = files.parse_json(files.read_bytes(folder / "run.json", files.MAX_HEADER_BYTES), "run.json")
        except Refusal:  # damaged, or not there
            continue
        check_version(card, path.name)

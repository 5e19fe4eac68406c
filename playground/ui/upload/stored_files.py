"""Uploaded files, for as long as they may be read once more: they lie in the server's own folder, and go when they are an hour old, or
when there are too many."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from playground.runs.disk import files
from playground.runs.registry import Runs

FOLDER = "uploads"  # in the folder of the runs
MOST_SECONDS = 3600.0


def install(runs: Runs) -> None:
    """From now on Gradio keeps there what is uploaded; what a server before this one has left goes. To be called before the page is built,
    by a process with one page: Gradio has one such folder for all."""
    folder = runs.store.folder / FOLDER
    os.environ["GRADIO_TEMP_DIR"] = str(folder)
    delete_old(folder, -1)
    runs.add_task(partial(delete_old, folder, runs.limits.upload_bytes))


def delete_old(folder: Path, most_bytes: int, clock: Callable[[], float] = time.time) -> None:
    """Deletes what was written an hour ago, and the oldest beyond so many bytes; with -1 all of it."""
    with suppress(OSError):  # there is none yet, or another round deletes the same
        kept = 0
        for path in sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True):
            kept += files.tree_size(path)
            if kept > most_bytes or clock() - path.stat().st_mtime >= MOST_SECONDS:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

"""Uploaded files in the server's own folder, to be read once more: deleted after an hour, or when the folder is full."""

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
MAX_AGE_S = 3600.0


def install(runs: Runs) -> None:
    """Makes Gradio store uploads in our folder, and deletes those of an earlier server. Call it before building the page, in a process with
    one page: Gradio has one such folder for all."""
    folder = runs.store.folder / FOLDER
    os.environ["GRADIO_TEMP_DIR"] = str(folder)
    delete_old(folder, -1)
    runs.add_task(partial(delete_old, folder, runs.limits.upload_bytes))


def delete_old(folder: Path, most_bytes: int, clock: Callable[[], float] = time.time) -> None:
    """Deletes files older than an hour, and the oldest beyond `most_bytes`; with -1 all of them."""
    with suppress(OSError):  # the folder is missing, or another round deletes the same file
        total_bytes = 0
        for path in sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True):
            total_bytes += files.tree_size(path)
            if total_bytes > most_bytes or clock() - path.stat().st_mtime >= MAX_AGE_S:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

"""Uploaded files, for as long as they may be read once more: they lie in the server's own folder, and go when they are an hour old."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from playground.runs.registry import Runs

FOLDER = "uploads"  # in the folder of the runs
MOST_SECONDS = 3600.0


def install(runs: Runs) -> None:
    """From now on Gradio keeps there what is uploaded; what a server before this one has left goes. To be called before the page is built,
    by a process with one page: Gradio has one such folder for all."""
    folder = runs.store.folder / FOLDER
    os.environ["GRADIO_TEMP_DIR"] = str(folder)
    delete_old(folder, 0.0)
    runs.every_round(partial(delete_old, folder))


def delete_old(folder: Path, seconds: float = MOST_SECONDS, clock: Callable[[], float] = time.time) -> None:
    """Deletes what was last written so many seconds ago or longer."""
    with suppress(OSError):  # there is none yet, or another round deletes the same
        for path in list(folder.iterdir()):
            if clock() - path.stat().st_mtime >= seconds:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

"""Uploads a run as a Hub repository: the files of its export, with its model card as the README."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playground.export.exported_run import find
from playground.export.folder import write_folder
from playground.hub import remote


def push(name: str, repo: str, private: bool = False) -> str:
    """Uploads a run. Returns the repository's address. Raises Refusal."""
    remote.check_name(repo)
    run = find(name)
    with tempfile.TemporaryDirectory() as folder:
        write_folder(run, Path(folder))
        return remote.upload(Path(folder), repo, "model", f"{run.label or run.name} at step {run.step}", private)

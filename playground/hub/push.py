"""A run becomes a repository of the Hub: the files that one takes home, its model card as the README."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playground.export.folder import write_folder
from playground.export.taken import find
from playground.hub import remote


def push(said: str, repo: str, private: bool = False) -> str:
    """Uploads a run. Returns the repository's address. Raises Refusal."""
    remote.check_name(repo)
    run = find(said)
    with tempfile.TemporaryDirectory() as folder:
        write_folder(run, Path(folder))
        return remote.upload(Path(folder), repo, "model", f"{run.label or run.name} at step {run.step}", private)

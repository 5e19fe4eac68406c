"""A run becomes a repository of the Hub: the files that one takes home, its model card as the README."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playground.config import Refusal
from playground.export.folder import write_folder
from playground.hub import remote
from playground.runs.disk.folder import Folder
from playground.runs.disk.store import read_kept, wanted_folder
from playground.runs.registry import SHIPPED
from playground.runs.run import Run


def find(said: str) -> Run:
    """The run in this folder, the shipped one or the kept one of this name, label or id. Raises Refusal."""
    for path in (Path(said), SHIPPED / said):
        if (path / "run.json").is_file():
            return Folder(path).run
    for run in read_kept(wanted_folder()):
        if said in (run.id, run.name, run.label):
            return run
    raise Refusal("hub.no_run", name=said[:100])


def push(said: str, repo: str, private: bool = False) -> str:
    """Uploads a run. Returns the repository's address. Raises Refusal."""
    run = find(said)
    with tempfile.TemporaryDirectory() as folder:
        write_folder(run, Path(folder))
        return remote.upload(Path(folder), repo, "model", f"{run.label or run.name} at step {run.step}", private)

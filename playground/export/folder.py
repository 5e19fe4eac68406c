"""A run taken home as a folder: the very files of its zip, for whoever sends them on."""

from __future__ import annotations

from pathlib import Path

from playground.export.contents import files
from playground.export.scores import scoring
from playground.export.taken import take
from playground.runs.run import Run


def write_folder(run: Run, path: Path) -> None:
    """Writes them into `path`, which is made if need be; own sentences are never among them. Raises Refusal and OSError."""
    taken = take(run)
    path.mkdir(parents=True, exist_ok=True)
    with scoring(taken) as scores:
        for name, make in files(taken, scores).items():
            (path / name).write_bytes(make())

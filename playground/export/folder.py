"""A run exported as a folder: the files of its zip, for code that uploads them."""

from __future__ import annotations

from pathlib import Path

from playground.export.contents import files
from playground.export.exported_run import export_run
from playground.export.scores import scoring
from playground.runs.run import Run


def write_folder(run: Run, path: Path) -> None:
    """Writes the files into `path`, creating it if needed; own sentences are never included. Raises Refusal and OSError."""
    exported = export_run(run)
    path.mkdir(parents=True, exist_ok=True)
    with scoring(exported) as scores:
        for name, make in files(exported, scores).items():
            (path / name).write_bytes(make())

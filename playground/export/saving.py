"""A run's zip as a file: the command `export`. Like the other commands it imports what it needs when it is called."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from playground.config import Refusal

if TYPE_CHECKING:
    from playground.runs.run import Run


def export(options: argparse.Namespace) -> int:
    """Writes the zip, whole or not at all, and prints where it is."""
    from playground.export.contents import file_name, packed
    from playground.export.scores import scoring
    from playground.export.taken import take

    taken = take(_found(options.run))
    out = options.out or Path(file_name(taken))
    unfinished = out.with_name(f"{out.name}.part")
    try:
        with scoring(taken) as scores, unfinished.open("wb") as file:
            file.writelines(packed(taken, scores, options.sentences, language=options.language))
        unfinished.replace(out)
    finally:
        unfinished.unlink(missing_ok=True)
    print(out)
    return 0


def _found(name: str) -> Run:
    """The run in the folder `name`, or the shipped or kept one with this name or id. Raises Refusal."""
    from playground.runs.disk.folder import Folder
    from playground.runs.disk.store import read_kept, read_shipped, wanted_folder
    from playground.runs.registry import SHIPPED

    if (Path(name) / "run.json").exists():
        return Folder(Path(name)).run
    for run in (*read_shipped(SHIPPED), *read_kept(wanted_folder())):
        if name in (run.id, run.name):
            return run
    raise Refusal("export.no_run", name=name[:200])

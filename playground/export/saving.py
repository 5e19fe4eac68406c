"""The command `export`: writes a run's zip to a file. Like the other commands it imports what it needs when called."""

from __future__ import annotations

import argparse
from pathlib import Path


def export(options: argparse.Namespace) -> int:
    """Writes the zip atomically and prints its path."""
    from playground.export.contents import file_name, pack_zip
    from playground.export.exported_run import export_run, find
    from playground.export.scores import scoring

    exported = export_run(find(options.run))
    out = options.out or Path(file_name(exported))
    unfinished = out.with_name(f"{out.name}.part")
    try:
        with scoring(exported) as scores, unfinished.open("wb") as file:
            file.writelines(pack_zip(exported, scores, options.sentences, language=options.language))
        unfinished.replace(out)
    finally:
        unfinished.unlink(missing_ok=True)
    print(out)
    return 0

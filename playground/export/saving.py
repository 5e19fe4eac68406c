"""A run's zip as a file: the command `export`. Like the other commands it imports what it needs when it is called."""

from __future__ import annotations

import argparse
from pathlib import Path


def export(options: argparse.Namespace) -> int:
    """Writes the zip, whole or not at all, and prints where it is."""
    from playground.export.contents import file_name, packed
    from playground.export.scores import scoring
    from playground.export.taken import find, take

    taken = take(find(options.run))
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

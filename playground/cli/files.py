"""The command that shows how files of sentence pairs are read, and helpers for other commands that read such files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playground.config import Refusal


def read(options: argparse.Namespace) -> int:
    from playground.reading.pairs import as_json, report

    header = {"yes": True, "no": False}.get(options.header)
    try:
        choices = choices_of(options, header=header, encoding=options.encoding, undo=options.undo or None)
        pairs = read_pairs(options.files, choices)
    except (Refusal, OSError) as mistake:
        sentence = mistake.say(options.language) if isinstance(mistake, Refusal) else explain_error(mistake)
        error = json.dumps({"error": {"kind": getattr(mistake, "key", "file"), "sentence": sentence}}, ensure_ascii=False)
        print(error if options.json else sentence, file=sys.stdout if options.json else sys.stderr)
        return 2
    print(json.dumps(as_json(pairs, options.language), ensure_ascii=False) if options.json else "\n".join(report(pairs, options.language)))
    return 0


def choices_of(options: argparse.Namespace, **more: Any) -> Any:
    """Returns the options as choices for reading files."""
    from playground.reading.column_mapping import Choices, parse_column

    joined = None if options.join is None else [parse_column(column) for column in options.join]
    source, target, group = map(parse_column, (options.source, options.target, options.split_by))
    places = {"source": source, "target": target, "joined": joined, "group": group}
    return Choices(swap=options.swap, same_language=options.same_language, **places, **more)


def read_pairs(files: Sequence[Path], choices: Any) -> Any:
    """Reads pairs. Raises Refusal also for a missing column number, which the page ignores: there it was chosen for another file."""
    from playground.runs import upload_process

    pairs = upload_process.read([(file.name, file.read_bytes()) for file in files], choices)
    columns = ", ".join(column.name or str(place) for place, column in enumerate(pairs.columns, 1))
    for place in (*(choices.joined or ()), choices.group):
        if isinstance(place, int) and place >= len(pairs.columns):
            raise Refusal("data.no_column", name=files[0].name, column=place + 1, columns=columns)
    return pairs


def explain_error(error: OSError) -> str:
    return f"{error.filename or 'A file'} can't be used: {error.strerror or error}."

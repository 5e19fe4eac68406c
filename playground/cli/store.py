"""The commands for all that a server keeps: look through it, take it along as one file, and bring it back."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path


def check(options: argparse.Namespace) -> int:
    """1 when something that was saved can't be read."""
    from playground.backup.checking import VERDICTS, check

    counts: Counter[str] = Counter()
    lost = False
    for found in check(_folder(options)):
        counts[found.verdict] += 1
        lost = lost or found.lost
        step = "" if found.step is None else f"step {found.step:,}"
        if options.json:
            print(json.dumps(asdict(found), ensure_ascii=False), flush=True)
        else:
            print(f"{found.name:<42} {found.verdict:<13} {found.bytes:>13,} bytes  {step}  {found.why}".rstrip(), flush=True)
    if not options.json:
        print(", ".join(f"{verdict}: {counts[verdict]}" for verdict in VERDICTS if counts[verdict]) or "Nothing is kept here.")
    return 1 if lost else 0


def export(options: argparse.Namespace) -> int:
    """1 when something could not be taken along, or only as it was before."""
    from playground.backup.exporting import export

    said = export(_folder(options), options.out, options.all_saves)
    _tell(said.left_out, "left out")
    _tell(said.earlier, "earlier save")
    print(f"{said.runs:,} runs and {said.rooms:,} rooms, {said.bytes:,} bytes in {options.out}")
    return 1 if said.left_out or said.earlier else 0


def bring(options: argparse.Namespace) -> int:
    """1 when something was left out."""
    from playground.backup.importing import bring

    said = bring(options.file, _folder(options))
    _tell(said.left_out, "left out")
    for name in said.there:
        print(f"{name}: there already", file=sys.stderr)
    print(f"{said.runs:,} runs and {said.rooms:,} rooms brought to {_folder(options)}")
    return 1 if said.left_out or said.there else 0


def store(options: argparse.Namespace) -> int:
    return {"check": check, "export": export, "import": bring}[options.what](options)


def _folder(options: argparse.Namespace) -> Path:
    from playground.runs.disk.store import default_folder

    return options.folder or default_folder()


def _tell(reasons: Mapping[str, str], what: str) -> None:
    for name, why in reasons.items():
        print(f"{name}: {what}. {why}", file=sys.stderr)

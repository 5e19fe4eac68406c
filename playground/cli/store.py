"""The commands for a server's store: check it, export it as one file, and import it again."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path


def check(options: argparse.Namespace) -> int:
    """Verifies the store. Returns 1 when saved data can't be read."""
    from playground.backup.checking import VERDICTS, check

    counts: Counter[str] = Counter()
    lost = False
    for finding in check(_folder(options)):
        counts[finding.verdict] += 1
        lost = lost or finding.lost
        step = "" if finding.step is None else f"step {finding.step:,}"
        if options.json:
            print(json.dumps(asdict(finding), ensure_ascii=False), flush=True)
        else:
            print(f"{finding.name:<42} {finding.verdict:<13} {finding.bytes:>13,} bytes  {step}  {finding.why}".rstrip(), flush=True)
    if not options.json:
        print(", ".join(f"{verdict}: {counts[verdict]}" for verdict in VERDICTS if counts[verdict]) or "Nothing is kept here.")
    return 1 if lost else 0


def export(options: argparse.Namespace) -> int:
    """Exports the store. Returns 1 when something was left out, or only an earlier save exported."""
    from playground.backup.exporting import export

    report = export(_folder(options), options.out, options.all_saves)
    _tell(report.left_out, "left out")
    _tell(report.earlier, "earlier save")
    print(f"{report.runs:,} runs and {report.rooms:,} rooms, {report.bytes:,} bytes in {options.out}")
    return 1 if report.left_out or report.earlier else 0


def bring(options: argparse.Namespace) -> int:
    """Imports an exported store. Returns 1 when something was left out."""
    from playground.backup.importing import bring

    report = bring(options.file, _folder(options))
    _tell(report.left_out, "left out")
    for name in report.there:
        print(f"{name}: there already", file=sys.stderr)
    print(f"{report.runs:,} runs and {report.rooms:,} rooms brought to {_folder(options)}")
    return 1 if report.left_out or report.there else 0


def store(options: argparse.Namespace) -> int:
    return {"check": check, "export": export, "import": bring}[options.what](options)


def _folder(options: argparse.Namespace) -> Path:
    from playground.runs.disk.store import default_folder

    return options.folder or default_folder()


def _tell(reasons: Mapping[str, str], label: str) -> None:
    for name, why in reasons.items():
        print(f"{name}: {label}. {why}", file=sys.stderr)

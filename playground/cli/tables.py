"""Commands that print a table or write it as CSV: all runs, and the training curve of one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def runs(options: argparse.Namespace) -> int:
    from playground.runs.disk.store import SHIPPED, default_folder, read_kept, read_shipped
    from playground.runs.registry import Runs

    _tell_table(Runs.table((*read_shipped(SHIPPED), *read_kept(options.folder or default_folder()))), options.csv)
    return 0


def history(options: argparse.Namespace) -> int:
    from playground.export.exported_run import find

    run_history = find(options.run).history
    _tell_table(run_history.validation_frame() if options.validations else run_history.frame(), options.csv)
    return 0


def _tell_table(table: Any, file: Path | None) -> None:
    from playground.runs.tables import csv_of

    if file:
        file.write_text(csv_of(table), encoding="utf-8", newline="")
    else:
        print(table.to_string(index=False, na_rep="–"))

"""Commands that publish the playground: serve the page, freeze a page, and upload to the Hub."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path


def serve(options: argparse.Namespace) -> int:
    from playground.ui.server import serve as serve_page

    serve_page()
    return 0


def freeze(options: argparse.Namespace) -> int:
    import shutil
    import tempfile

    from playground.export.exported_run import folder_of
    from playground.features.shared.queries.reader import Reader
    from playground.freeze.folder import freeze as frozen
    from playground.runs.limits import Limits
    from playground.runs.registry import SHIPPED, Runs

    folder, started = folder_of(options.run), time.perf_counter()
    with tempfile.TemporaryDirectory() as here:
        shipped, empty = Path(here) / "shown", Path(here) / "nothing"
        shutil.copytree(folder.path, shipped / folder.run.name)  # a copy: a running server may write the run
        for path in SHIPPED.iterdir():  # lessons refer to them
            if path.name != folder.run.name:
                (shipped / path.name).symlink_to(path.resolve())
        runs = Runs(empty, shipped, replace(Limits.from_environment(), engine="here"))  # nothing is trained
        reader = Reader(runs)
        try:
            for done, all, file in frozen(runs, reader, runs.get(folder.run.name), max(options.sentences, 1), options.out, options.live):
                print(f"{done:>7,} of {all:,} answers  {time.perf_counter() - started:6.1f} s  {file}", flush=True)
        finally:
            reader.close()
            runs.close()
    size = sum(file.stat().st_size for file in options.out.rglob("*") if file.is_file())
    print(f"{size / 1e6:.1f} MB in {options.out}. To look at it, open {options.out / 'index.html'} in a browser.")
    return 0


def hub(options: argparse.Namespace) -> int:
    from playground.hub import commands

    return commands.COMMANDS[options.command](options)

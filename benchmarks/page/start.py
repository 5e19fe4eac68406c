"""How soon the page is there: from the start of the process, and for a visitor of a server that runs."""

from __future__ import annotations

import argparse
import time

from benchmarks.browser import Browser, open_page
from benchmarks.server import app, free_port, wait_for_answer
from benchmarks.suite import note
from benchmarks.tables import markdown, seconds, shown, summary

ROWS = {
    "answer": "start of the process to the server's first answer",
    "picture": "start of the process to the first picture in a browser",
    "ready": "start of the process to everything in view",
    "visit_picture": "a later visitor, nothing cached: to the first picture",
    "visit_ready": "a later visitor, nothing cached: to everything in view",
    "again_picture": "the same visitor again: to the first picture",
    "again_ready": "the same visitor again: to everything in view",
}


def run(options: argparse.Namespace) -> dict:
    """Summaries of seconds by the names of ROWS, and "chromium". The browser is open before the process starts; files are warm on the disk
    after the first start."""
    found: dict[str, list[float]] = {name: [] for name in ROWS}
    with Browser() as browser:
        for number in range(options.starts):
            port, visitor = free_port(), browser.visitor()
            started = time.time()
            with app(port):
                wait_for_answer(port)
                found["answer"].append(time.time() - started)
                _visit(found, "", visitor, port, started)
                visitor.close()
                visitor = browser.visitor()
                _visit(found, "visit_", visitor, port, time.time())
                _visit(found, "again_", visitor, port, time.time())
                visitor.close()
            note(f"start {number + 1}: answer {found['answer'][-1]:.2f} s, picture {found['picture'][-1]:.2f} s")
        return {name: summary(values) for name, values in found.items()} | {"chromium": browser.version}


def _visit(found: dict[str, list[float]], name: str, visitor: object, port: int, started: float) -> None:
    page, times = open_page(visitor, f"http://127.0.0.1:{port}/")
    for event, when in times.items():
        found[f"{name}{event}"].append(when - started)
    page.close()


def table(result: dict) -> str:
    return markdown(("from, to", "seconds"), ((said, shown(result[name], seconds)) for name, said in ROWS.items()))

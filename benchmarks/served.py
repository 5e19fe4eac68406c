"""The serving side: the same runs, reader and page as app.py, and a pipe on which a benchmark asks what can't be seen from outside."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.server import TOKEN
from playground.config import Experiment
from playground.features.shared.queries.reader import Reader
from playground.runs.memory import freeze_objects
from playground.runs.registry import Runs
from playground.ui.server import start

LOOK = 0.005  # seconds between two looks at a run


class Control:
    """The questions that can be asked: every public method, by its name."""

    def __init__(self, runs: Runs, reader: Reader) -> None:
        self._runs, self._reader = runs, reader

    def create(self, knobs: dict[str, Any], owner: str = TOKEN) -> str:
        """A new run; its id."""
        return self._runs.create(Experiment().with_(**knobs), owner).id

    def train(self, knobs: dict[str, Any]) -> str:
        """Trains a new run to its end. Returns its id."""
        run = self._runs.get(self.create(knobs))
        while run.unfinished:
            time.sleep(LOOK)
        return run.id

    def drop(self, run: str, owner: str = TOKEN) -> None:
        """Ends the run and forgets it."""
        self._runs.delete(run, owner)

    def progress_of(self, runs: list[str]) -> dict[str, Any]:
        """How far these runs are at one moment, in their order."""
        record = [self._runs.get(run) for run in runs]
        return {"steps": [run.step for run in record], "time": time.perf_counter(), "statuses": [run.status for run in record]}


def main() -> None:
    """Serves until stdin ends; one JSON question a line, one JSON answer a line."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else is printed is no answer
    runs = Runs(Path(sys.argv[1]))
    reader = Reader(runs)
    demo, _, _ = start(runs, reader, "127.0.0.1", int(sys.argv[2]))
    freeze_objects()
    control = Control(runs, reader)
    print(json.dumps({"answer": "ready"}), file=answers, flush=True)
    try:
        for line in sys.stdin:
            question = json.loads(line)
            try:
                answer = {"answer": getattr(control, question.pop("do"))(**question)}
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps(answer), file=answers, flush=True)
    finally:
        demo.close(verbose=False)
        reader.close()
        runs.close()


if __name__ == "__main__":
    main()

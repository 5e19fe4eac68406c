"""The serving side: the same runs, reader and page as app.py, and a pipe on which a benchmark asks what can't be seen from outside."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.server import TOKEN
from playground.config import Experiment
from playground.queries.reader import Reader
from playground.runs.cache import freeze_objects, size_of
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui.server import start
from playground.ui.upload import uploading

LOOK = 0.005  # seconds between two looks at a run


class Control:
    """What can be asked: every public method, by its name."""

    def __init__(self, runs: Runs, reader: Reader) -> None:
        self._runs, self._reader = runs, reader

    def create(self, knobs: dict[str, Any], owner: str = TOKEN) -> str:
        """A new run; its id."""
        return self._runs.create(Experiment().with_(**knobs), owner).id

    def upload(self, text: str, owner: str) -> str:
        """Own sentences, read as the page reads them; their id."""
        return uploading.read_upload(None, text, "", "", "en", uploading.ticket_of(owner))["own"]

    def known(self) -> list[str]:
        """The runs of this benchmark."""
        return [run.id for run in self._runs.list_owned(TOKEN)]

    def forget(self) -> None:
        """The next training makes its sentences anew, as the first one with these settings does."""
        for cache in self._runs.corpora.caches:
            cache.clear()

    def progress(self, run: str) -> dict[str, Any]:
        found = self._runs.get(run)
        return {"step": found.step, "time": time.perf_counter(), "status": found.status}

    def train(self, knobs: dict[str, Any], target: float) -> dict[str, Any]:
        """A new run, followed to its target; seconds count from before it is made."""
        self.forget()
        started = time.time()
        return self._follow(self._runs.get(self.create(knobs)), target, started)

    def follow(self, known: list[str], knobs: dict[str, Any], target: float) -> dict[str, Any]:
        """The next run that somebody makes, followed to its target. Raises ValueError when it is not the experiment that `knobs` are."""
        until = time.time() + 30
        while not (new := [run for run in self._runs.list_owned(TOKEN) if run.id not in known]):
            if time.time() > until:
                raise ValueError("nobody made a run")
            time.sleep(LOOK)
        wrong = new[0].experiment.difference(Experiment().with_(**knobs))
        if wrong:
            raise ValueError(f"the page made another experiment: {wrong}")
        return self._follow(new[0], target, new[0].created)

    def _follow(self, run: Run, target: float, started: float) -> dict[str, Any]:
        while run.unfinished:
            last = run.history.validations.last()
            if last and last["exact_match"] >= target:
                break
            time.sleep(LOOK)
        now, last = time.time(), run.history.validations.last() or {"exact_match": 0.0, "step": run.step}
        return {
            "run": run.id,
            "seconds": now - started,
            "trained": run.seconds,
            "step": int(last["step"]),
            "exact_match": last["exact_match"],
            "reached": last["exact_match"] >= target,
        }

    def drop(self, run: str, owner: str = TOKEN) -> None:
        """Ends the run and forgets it."""
        self._runs.delete(run, owner)

    def pause(self, run: str, owner: str = TOKEN) -> None:
        self._runs.pause(run, owner)

    def progress_of(self, runs: list[str]) -> dict[str, Any]:
        """How far these runs are at one moment, in their order."""
        found = [self._runs.get(run) for run in runs]
        return {"steps": [run.step for run in found], "time": time.perf_counter(), "statuses": [run.status for run in found]}

    def together(self, knobs: list[dict[str, Any]], target: float) -> list[float | None]:
        """So many runs made at once, each for somebody else: seconds from then until each has reached the target; None for never."""
        self.forget()
        started, reached = time.time(), {}
        runs = [self._runs.get(self.create(one, f"{TOKEN}-{number}")) for number, one in enumerate(knobs)]
        while going := [run for run in runs if run.id not in reached]:
            for run in going:
                over, last = not run.unfinished, run.history.validations.last()
                if last and last["exact_match"] >= target:
                    reached[run.id] = time.time() - started
                elif over:
                    reached[run.id] = None
            time.sleep(LOOK)
        for number, run in enumerate(runs):
            self.drop(run.id, f"{TOKEN}-{number}")
        return [reached[run.id] for run in runs]

    def resident(self) -> int | None:
        """Bytes of memory that this process holds, after a look for what nobody needs any more (Linux only)."""
        gc.collect()
        try:
            return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            return None

    def held(self) -> dict[str, float]:
        """What this process holds, in bytes, and where they are: in malloc's hands, caches and runs that are loaded (Linux only)."""
        resident, loaded = self.resident(), [run for run in self._runs._admission.all() if run.parts]
        reader, corpora = self._reader, self._runs.corpora
        return {
            "resident": resident,
            "peak": _peak(),
            **_malloc(),
            "answers": reader._known.bytes,
            "models": reader._models._built.bytes,
            "updates": self._runs.updates._increments.bytes,
            "corpora": size_of(list(corpora._caches["corpus"]._entries.values())),
            "loaded": sum(size_of([run.parts]) for run in loaded),
            "count_loaded": len(loaded),
            "count_answers": len(reader._known),
            "count_threads": threading.active_count(),
        }

    def processor(self) -> dict[str, float | None]:
        """Seconds of processor time so far: "serving" of the threads that answer visitors (Linux only), "all" of the process."""
        return {"serving": _serving_seconds(), "all": time.process_time()}


def _serving_seconds() -> float | None:
    """Python's threads without the workers that train; torch's own threads are none of Python's, and belong to training."""
    total = 0
    for thread in threading.enumerate():
        if thread.name.startswith(("worker-", "helper")):
            continue
        try:
            total += int(Path(f"/proc/self/task/{thread.native_id}/schedstat").read_text().split()[0])
        except FileNotFoundError:  # gone in this moment, or no Linux
            if not Path("/proc/self/schedstat").exists():
                return None
    return total / 1e9


class _Mallinfo(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ["arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"]
    ]


def _peak() -> int:
    """The most bytes that this process ever held."""
    return next(int(line.split()[1]) * 1024 for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))


def _malloc() -> dict[str, int]:
    """What malloc holds for others ("used") and for nobody ("free"), all arenas together."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError):
        return {}
    mallinfo.restype = _Mallinfo
    found = mallinfo()
    return {"used": found.uordblks + found.hblkhd, "free": found.fordblks}


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
            asked = json.loads(line)
            try:
                answer = {"answer": getattr(control, asked.pop("do"))(**asked)}
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps(answer), file=answers, flush=True)
    finally:
        demo.close(verbose=False)
        reader.close()
        runs.close()


if __name__ == "__main__":
    main()

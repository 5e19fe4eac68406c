"""What a page that follows a run is sent: only what changed since it last asked, as JSON, made once for all who ask for the same."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from playground import words
from playground.runs.history import COUNTS, decimate
from playground.runs.lru import LRU
from playground.runs.run import Run

ROWS = 1000  # of one increment; a curve a thousand pixels wide shows no more
CACHED_BYTES = 16_000_000


class Updates:
    """A cache of increments. They are made from what a run's readers may see, without a lock on the run."""

    def __init__(self) -> None:
        self._made = LRU(most_bytes=CACHED_BYTES, size=lambda made: len(made))

    def get(self, run: Run, since: int) -> tuple[bytes, int]:
        """(the increment from version `since`, the version it leads to)."""
        version = run.version
        return self._made.get_or_make((run.id, version, since), lambda: _packed(increment(run, since, version))), version


def _packed(said: dict[str, Any]) -> bytes:
    """ASCII, so that nothing a person typed can break the encoding."""
    return json.dumps(said, allow_nan=False, separators=(",", ":")).encode("ascii")


def increment(run: Run, since: int, version: int) -> dict[str, Any]:
    """See `Runs.update`. A `since` that this server doesn't remember gets everything."""
    history = run.history
    rows = len(history.steps)
    stop = min(run.marks.get(version, rows), rows)  # there is no mark while the history is on the disk, where it doesn't grow
    start = min(run.marks.get(since, 0), stop)
    plain = ("id", "name", "label", "status", "step", "steps", "eta", "place", "checkpoint_step", "resumable", "threads", "device")
    validations = decimate(history.validations.rows(), ROWS // 2)
    return {name: getattr(run, name) for name in plain} | {
        "version": version,
        "from": start,
        "rows": _rounded(decimate(history.steps.rows(start, stop), ROWS)),
        "validations": _rounded(validations),
        "events": history.events[-200:],
        "message": run.message and {language: run.message.say(language) for language in words.LANGUAGES},
        "seconds": round(run.seconds, 2),
        "live": run.live,
        "replay": run.replay.steps,
        "parameter_steps": run.replay.parameter_steps,
        "probes": [asdict(probe) for probe in history.probes],
    }


def _rounded(columns: dict[str, list[float]]) -> dict[str, list[float | None]]:
    """Six digits are more than a curve shows; what is not finite becomes null."""
    return {
        name: [int(v) for v in column] if name in COUNTS else [float(f"{v:.6g}") if math.isfinite(v) else None for v in column]
        for name, column in columns.items()
    }

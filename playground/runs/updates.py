"""What a page that follows a run is sent: only what changed since it last asked, as JSON, made once for all who ask for the same.

Rows of the curve come one after another; validations, live changes and the replay's steps come whole, and only when there are others.
"""

from __future__ import annotations

import json
import math
from typing import Any

from playground import words
from playground.config import Refusal
from playground.runs.history import COUNTS, History, decimate
from playground.runs.lru import LRU
from playground.runs.run import Mark, Run

ROWS = 1000  # of one increment; a curve a thousand pixels wide shows no more
CACHED_BYTES = 16_000_000
NEWS = ("runs.went_on", "runs.reached", "runs.minutes_over")  # sentences about a run with which nothing is wrong


class Updates:
    """A cache of increments. They are made from what a run's readers may see, without a lock on the run."""

    def __init__(self) -> None:
        self._made = LRU(most_bytes=CACHED_BYTES, size=lambda made: len(made))

    @property
    def caches(self) -> tuple[LRU]:
        """Shares of the memory, see memory.py."""
        return (self._made,)

    def get(self, run: Run, since: int) -> tuple[bytes, int]:
        """(the increment from version `since`, the version it leads to)."""
        version = run.version
        return self._made.get_or_make((run.id, version, since), lambda: _packed(increment(run, since, version))), version


def _packed(said: dict[str, Any]) -> bytes:
    """ASCII, so that nothing a person typed can break the encoding."""
    return json.dumps(said, allow_nan=False, separators=(",", ":")).encode("ascii")


def increment(run: Run, since: int, version: int) -> dict[str, Any]:
    """See `Runs.update`. A `since` that this server doesn't remember gets everything."""
    message = run.message
    if message and message.key == "runs.went_on" and run.status in ("done", "stopped"):
        message = None  # how it came to its end is over too
    try:
        history, now, known = run.history, run.mark(), run.marks.get(since)
    except Refusal as refusal:  # damaged on the disk: there is nothing but what it says
        message, history, now, known = refusal, History(), Mark(0, 0, 0, (), ()), None
    stop = min(run.marks.get(version, now).rows, now.rows)  # there is no mark while the history is on the disk, where it doesn't grow
    start = min(known.rows if known else 0, stop)
    plain = ("id", "name", "status", "step", "steps", "place", "checkpoint_step", "resumable", "threads", "device", "where")
    grown = {
        "validations": lambda: _rounded(decimate(history.validations.rows(), ROWS // 2)),
        "events": lambda: history.events[-200:],
        "replay": lambda: now.replay,
        "parameter_steps": lambda: now.parameter_steps,
    }
    return {name: getattr(run, name) for name in plain} | {
        "version": version,
        "from": start,
        "rows": _rounded(decimate(history.steps.rows(start, stop), ROWS)),
        "message": message and {language: message.say(language) for language in words.LANGUAGES},
        "trouble": bool(message) and message.key not in NEWS,
        "eta": run.eta and [round(seconds, 2) for seconds in run.eta],
        "seconds": round(run.seconds, 2),
        "live": run.live,
        "picture": _newest_picture(run),
    } | {name: make() for name, make in grown.items() if known is None or getattr(known, name) != getattr(now, name)}


def _newest_picture(run: Run) -> int | None:
    """The step that whoever looks at the newest sees; None while there is nothing, and of a run that rests on the disk, where it is not
    read for this."""
    snapshot = run.parts.get("snapshot")
    return snapshot.step if snapshot else None


def _rounded(columns: dict[str, list[float]]) -> dict[str, list[float | None]]:
    """Six digits are more than a curve shows; what is not finite becomes null."""
    return {
        name: [int(v) for v in column] if name in COUNTS else [float(f"{v:.6g}") if math.isfinite(v) else None for v in column]
        for name, column in columns.items()
    }

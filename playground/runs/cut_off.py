"""Runs interrupted by a server stop. They resume automatically once a visitor returns for whom they train: any viewer, the owner, or a
class that has its room open.

Resumed one at a time, through the same admission as a click on Resume; runs that a person paused or stopped are excluded. The run itself
may crash the server: one that has made no progress in TRIES attempts waits for a person. When several were at work, each is likelier to be
innocent and has more attempts.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from typing import Any

from playground.config import Refusal
from playground.runs.run import Run
from playground.runs.runtime import REAL, Runtime

log = logging.getLogger(__name__)
TRIES, TRIES_TOGETHER = 3, 12  # of a run that was at work alone, and with others
RETRY_SECONDS = 5.0  # until a run that found no place is retried

RESUMING_MESSAGES = ("runs.interrupted", "runs.end_not_saved", "runs.earlier_save")  # a hung run waits for a person
FINAL_REFUSALS = ("runs.unknown", "runs.not_resumable")  # the run was deleted, or its status has changed


def interruption_message(run: Run, is_alone: bool) -> Refusal:
    """Returns the message of a run that was at work when the server stopped; `is_alone`: no other run was."""
    tries, most = _count_tries(run.message, run.step), TRIES if is_alone else TRIES_TOGETHER
    return Refusal("runs.cut_off_often" if tries >= most else "runs.interrupted", step=run.step, tries=tries)


def resumption_message(run: Run) -> Refusal:
    """Returns the message of a run that resumed automatically."""
    return Refusal("runs.went_on", step=run.step, tries=_count_tries(run.message, run.step) + 1)


def _count_tries(message: Refusal | None, step: int) -> int:
    """Returns how often the run has resumed from this very step."""
    count = message.values.get("tries") if message and message.values.get("step") == step else 0
    return count if isinstance(count, int) else 0


class CutOff:
    """Resumes interrupted runs. Thread-safe. Its thread lives as long as such runs are left."""

    def __init__(
        self, runs: Iterable[Run], wanted_seconds: float, resume: Callable[[Run, bool], object], runtime: Runtime = REAL
    ) -> None:
        """`resume(run, in_room)` raises Refusal while there is no place; a request expires after `wanted_seconds`."""
        self._runs = {run.id: run for run in runs if _may_resume(run)}
        self._seconds, self._resume = wanted_seconds, resume
        self._requests: dict[str, tuple[float, bool]] = {}  # run id -> (deadline, whether in a room); FIFO
        self._lock, self._wake_event, self._closing = threading.Lock(), threading.Event(), False
        self._clock = runtime.monotonic
        self._thread = runtime.spawn(self._work, "cut-off") if self._runs else None

    def request(self, id: str, in_room: bool = False) -> None:
        """Requests that this run resumes. Returns at once."""
        if id in self._runs:
            with self._lock:
                is_new = id not in self._requests
                self._requests[id] = self._clock() + self._seconds, in_room or self._requests.get(id, (0.0, False))[1]
            if is_new:
                self._wake_event.set()

    def ids_of_owner(self, owner: str) -> list[str]:
        """Returns the ids of this owner's interrupted runs."""
        return [run.id for run in self.list_runs() if run.owner == owner]

    def list_runs(self) -> list[Run]:
        """Returns the runs that may still resume."""
        return list(self._runs.values())

    def close(self) -> None:
        """Stops and joins the thread."""
        self._closing = True
        self._wake_event.set()
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join()

    def _work(self) -> None:
        while self._runs and not self._closing:
            self._wake_event.wait(RETRY_SECONDS if self._requests else None)
            self._wake_event.clear()
            self.try_again()

    def try_again(self) -> None:
        """Resumes the requested runs for which there is a place."""
        for id, (deadline, in_room) in list(self._requests.items()):
            if not self._closing and (self._clock() > deadline or self._try_resume(self._runs.get(id), in_room)):
                with self._lock:
                    del self._requests[id]

    def _try_resume(self, run: Run | None, in_room: bool) -> bool:
        """Resumes a run if possible; returns whether its request is settled: resumed, or refused for good."""
        if run is None:
            return True
        try:
            if _may_resume(run):  # unless it has been resumed meanwhile
                self._resume(run, in_room)
        except Refusal as refusal:
            if refusal.key not in FINAL_REFUSALS:
                log.info("run %s (%s) does not go on yet: %s", run.name, run.id, refusal)
                return False
        except Exception:
            log.exception("run %s (%s) could not go on", run.name, run.id)
        del self._runs[run.id]
        return True


def _may_resume(run: Run) -> Any:
    return run.status == "interrupted" and not run.shipped and run.message and run.message.key in RESUMING_MESSAGES

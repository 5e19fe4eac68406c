"""Orders to a run: one table of the status that each leads to, and of the reason where it is refused. The registry, the jobs, the scheduler
and the page obey it.

"train" resumes, "step" trains one step and then pauses, "change" sets a live knob; "interrupt" is the end of the server, and "copy" gives a
copy its status. A run at work carries an order out at the end of its present step, any other run at once. A run is deleted in any status.

By itself a run goes from "queued" to "preparing", "training", and "done", "diverged" or "failed"; back to "queued" when its process dies;
and over "failed" to "interrupted" when a step hangs.
"""

import threading

from playground.config import Refusal

TABLE = """
             pause   stop     train      step    change       interrupt    copy
queued       paused  stopped  queued     paused  queued       interrupted  paused
preparing    paused  stopped  preparing  paused  preparing    interrupted  paused
training     paused  stopped  training   paused  training     interrupted  paused
paused       -       stopped  queued     queued  paused       paused       paused
stopped      -       -        queued     queued  stopped      stopped      stopped
interrupted  -       -        queued     queued  interrupted  interrupted  stopped
done         -       -        -          -       -            done         done
failed       -       -        -          -       -            failed       failed
diverged     -       -        -          -       -            diverged     diverged
"""
REFUSALS = {
    "pause": "runs.not_at_work", "stop": "runs.not_at_work", "train": "runs.not_resumable", "step": "runs.not_resumable",
    "change": "runs.ended",
}  # fmt: skip
_ORDERS, *_ROWS = (line.split() for line in TABLE.strip().splitlines())
_NEXT = {status: dict(zip(_ORDERS, row, strict=True)) for status, *row in _ROWS}
STATUSES = tuple(_NEXT)


def allows(status: str, order: str) -> bool:
    """Returns whether a run of this status accepts the order."""
    return _NEXT[status][order] != "-"


def next_status(status: str, order: str) -> str:
    """Returns the status that the order leads to. Raises Refusal where the table has none."""
    if not allows(status, order):
        raise Refusal(REFUSALS[order])
    return _NEXT[status][order]


WORKING = tuple(status for status in STATUSES if allows(status, "pause"))  # a worker has the run, or will soon
UNFINISHED = tuple(status for status in STATUSES if allows(status, "stop"))  # these count against an owner's limit
RESUMABLE = tuple(status for status in STATUSES if allows(status, "train") and status not in WORKING)  # saved: resumes bit for bit
FINISHED = tuple(status for status in STATUSES if status not in UNFINISHED)


class TurnAbandoned(BaseException):
    """Raised in a hung turn whose run has been taken over."""


class Orders:
    """The newest order to a job, sent by any thread and carried out between two steps by the worker with the job's turn; and events for the
    job's save and its end."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self._lock = threading.Lock()
        self._order, self._is_over = "train", False
        self._message: Refusal | None = None
        self._prepared = False  # whether a model is loaded
        self._save_event: threading.Event | None = None  # set at the next save; None: no thread waits

    @property
    def urgent(self) -> bool:
        return self._order in ("pause", "stop", "drop")

    @property
    def is_dropped(self) -> bool:
        """Whether the job is only awaited to end, as for a deletion."""
        return self._order == "drop"

    def ask(self, order: str, message: Refusal | None = None) -> bool:
        """Gives an order of the table, or "drop": to end without saving. `message` tells the owner why. Returns False when the job is
        over."""
        with self._lock:
            if not self._is_over:
                self._order, self._message = order, message
            return not self._is_over

    def save_soon(self) -> threading.Event:
        """Requests a save at the end of the present step. Returns an event that is set once it is on the disk."""
        with self._lock:
            if self._is_over:
                return self.done
            save_event = self._save_event or threading.Event()
            if not self._prepared:  # the disk is up to date
                save_event.set()
            else:
                self._save_event = save_event
            return save_event

    def _notify_saved(self) -> None:
        with self._lock:
            save_event, self._save_event = self._save_event, None
        if save_event:
            save_event.set()

"""Orders to a job, sent by any thread and carried out between two steps by the worker with the job's turn."""

from __future__ import annotations

import threading

from playground.config import Refusal


class GivenUp(BaseException):
    """Raised in a hung turn whose run has been taken over."""


class Orders:
    """The newest order to a job, and events for its save and its end."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self._lock = threading.Lock()
        self._order, self._over = "train", False
        self._message: Refusal | None = None
        self._prepared = False  # whether a model is loaded
        self._saved: threading.Event | None = None  # set at the next save; None: no thread waits

    @property
    def urgent(self) -> bool:
        return self._order in ("pause", "stop", "drop")

    @property
    def unwanted(self) -> bool:
        """Whether the job is only awaited to end, as for a deletion."""
        return self._order == "drop"

    def ask(self, order: str, message: Refusal | None = None) -> bool:
        """Orders "train", "step" (one, then pause), "pause", "stop" or "drop" (without saving). Returns False when the job is over."""
        with self._lock:
            if not self._over:
                self._order, self._message = order, message
            return not self._over

    def save_soon(self) -> threading.Event:
        """Requests a save at the end of the present step. Returns an event that is set once it is on the disk."""
        with self._lock:
            if self._over:
                return self.done
            saved = self._saved or threading.Event()
            if not self._prepared:  # the disk is up to date
                saved.set()
            else:
                self._saved = saved
            return saved

    def _tell_saved(self) -> None:
        with self._lock:
            saved, self._saved = self._saved, None
        if saved:
            saved.set()

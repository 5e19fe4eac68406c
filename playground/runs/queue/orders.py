"""Orders to a job, sent by any thread and carried out between two steps by the worker with the job's turn."""

from __future__ import annotations

import threading

from playground.config import Refusal


class TurnAbandoned(BaseException):
    """Raised in a hung turn whose run has been taken over."""


class Orders:
    """The newest order to a job, and events for its save and its end."""

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
        """Orders "train", "step" (one, then pause), "pause", "stop" or "drop" (without saving). Returns False when the job is over."""
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

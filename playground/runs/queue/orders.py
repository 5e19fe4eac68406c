"""What others ask of a job, from any thread. Whoever has the job's turn does it, between two steps."""

from __future__ import annotations

import threading

from playground.config import Refusal


class GivenUp(BaseException):
    """The turn took too long, and the run goes on, or ends, without it."""


class Orders:
    """The newest order to a job, who waits for its save, and who for its end."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self._lock = threading.Lock()
        self._order, self._over = "train", False
        self._message: Refusal | None = None
        self._prepared = False  # whether there is a model
        self._saved: threading.Event | None = None  # somebody waits for a save

    @property
    def urgent(self) -> bool:
        return self._order in ("pause", "stop", "drop")

    @property
    def unwanted(self) -> bool:
        """Whether somebody waits for its end, and for nothing else of it."""
        return self._order == "drop"

    def ask(self, order: str, message: Refusal | None = None) -> bool:
        """One of "train", "step" (one step, then pause), "pause", "stop", "drop" (and keep nothing). False when the job is over."""
        with self._lock:
            if not self._over:
                self._order, self._message = order, message
            return not self._over

    def save_soon(self) -> threading.Event:
        """Asks for a save at the end of the present step. Returns what is set once everything is on the disk as it is then."""
        with self._lock:
            if self._over:
                return self.done
            saved = self._saved or threading.Event()
            if not self._prepared:  # the disk has all there is
                saved.set()
            else:
                self._saved = saved
            return saved

    def _tell_saved(self) -> None:
        with self._lock:
            saved, self._saved = self._saved, None
        if saved:
            saved.set()

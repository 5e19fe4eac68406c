"""A fair queue for reading uploads: a few at once, ordered by the recent cost of each address. In memory, under one lock."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from playground.config import Refusal
from playground.reading.formats.table import SECONDS
from playground.runs.runtime import REAL, Clock

HALF_LIFE_S = 600.0  # of the exponentially decaying cost
MAX_WAITING = 2  # uploads of an address that has had more than one reading may ever take
MIN_COST_S = 0.01  # smaller costs are dropped


@dataclass(eq=False)
class UploadTurn:
    """An upload of `size` bytes in the queue. `asker` is the address and the visitor there; `seconds` is the processor time used."""

    asker: Sequence[str]
    size: int
    seconds: float = 0.0


class UploadQueue:
    """Orders uploads by the recent cost of their address, then of their visitor, then by size. An address that has cost more than SECONDS
    never gets all places."""

    def __init__(self, places: int, monotonic: Clock = REAL.monotonic) -> None:
        self._places, self._clock = places, monotonic
        self._changed = threading.Condition()
        self._waiting: list[UploadTurn] = []
        self._reading: list[UploadTurn] = []
        self._costs: dict[str, tuple[float, float]] = {}  # processor seconds, and at what time

    @contextmanager
    def turn(self, asker: Sequence[str], size: int, timeout_s: float) -> Iterator[UploadTurn]:
        """Waits for a place and holds it. Raises Refusal on timeout, or when too many uploads of a costly address wait."""
        turn = UploadTurn(asker, size)
        with self._changed:
            waiting_count = sum(waiting.asker[:1] == asker[:1] for waiting in self._waiting)
            if self._is_costly(turn) and waiting_count >= MAX_WAITING:
                raise Refusal("data.reading_busy")
            self._waiting.append(turn)
            has_place = self._changed.wait_for(lambda: self._next() is turn, timeout_s)
            self._waiting.remove(turn)
            if has_place:
                self._reading.append(turn)
            self._changed.notify_all()
        if not has_place:
            raise Refusal("data.reading_busy")
        try:
            yield turn
        finally:
            with self._changed:
                self._reading.remove(turn)
                self._charge(turn)
                self._changed.notify_all()

    def cost(self, name: str) -> float:
        """Returns the decayed processor seconds of an address or a visitor."""
        seconds, since = self._costs.get(name, (0.0, 0.0))
        return seconds * 0.5 ** ((self._clock() - since) / HALF_LIFE_S) if seconds else 0.0

    def _charge(self, done: UploadTurn) -> None:
        costs = {name: self.cost(name) for name in self._costs}
        costs |= {name: costs.get(name, 0.0) + done.seconds for name in done.asker if name}
        self._costs = {name: (cost, self._clock()) for name, cost in costs.items() if cost >= MIN_COST_S}

    def _is_costly(self, turn: UploadTurn) -> bool:
        return bool(turn.asker) and self.cost(turn.asker[0]) > SECONDS

    def _next(self) -> UploadTurn | None:
        """Returns the upload that may begin now."""
        if len(self._reading) >= self._places:
            return None
        active_addresses = [turn.asker[:1] for turn in self._reading]
        ready = [turn for turn in self._waiting if not self._is_costly(turn) or turn.asker[:1] not in active_addresses]
        return min(ready, key=lambda turn: ([self.cost(name) for name in turn.asker], turn.size), default=None)

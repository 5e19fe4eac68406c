"""A fair queue for reading uploads: a few at once, ordered by the recent cost of each address. In memory, under one lock."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from playground.config import Refusal
from playground.reading.formats.limits import SECONDS
from playground.runs.runtime import REAL, Clock

HALF_LIFE_S = 600.0  # of the exponentially decaying cost
MOST_WAITING = 2  # uploads of an address that has had more than one reading may ever take
LEAST_S = 0.01  # smaller costs are dropped


@dataclass(eq=False)
class Turn:
    """An upload of `size` bytes in the queue. `asker` is the address and the visitor there; `seconds` is the processor time used."""

    asker: Sequence[str]
    size: int
    seconds: float = 0.0


class Turns:
    """Orders uploads by the recent cost of their address, then of their visitor, then by size. An address that has cost more than SECONDS
    never gets all places."""

    def __init__(self, places: int, monotonic: Clock = REAL.monotonic) -> None:
        self._places, self._clock = places, monotonic
        self._changed = threading.Condition()
        self._waiting: list[Turn] = []
        self._reading: list[Turn] = []
        self._costs: dict[str, tuple[float, float]] = {}  # processor seconds, and at what time

    @contextmanager
    def turn(self, asker: Sequence[str], size: int, timeout_s: float) -> Iterator[Turn]:
        """Waits for a place and holds it. Raises Refusal on timeout, or when too many uploads of a costly address wait."""
        mine = Turn(asker, size)
        with self._changed:
            near = sum(one.asker[:1] == asker[:1] for one in self._waiting)
            if self._is_costly(mine) and near >= MOST_WAITING:
                raise Refusal("data.reading_busy")
            self._waiting.append(mine)
            has_place = self._changed.wait_for(lambda: self._next() is mine, timeout_s)
            self._waiting.remove(mine)
            if has_place:
                self._reading.append(mine)
            self._changed.notify_all()
        if not has_place:
            raise Refusal("data.reading_busy")
        try:
            yield mine
        finally:
            with self._changed:
                self._reading.remove(mine)
                self._charge(mine)
                self._changed.notify_all()

    def cost(self, name: str) -> float:
        """Returns the decayed processor seconds of an address or a visitor."""
        seconds, since = self._costs.get(name, (0.0, 0.0))
        return seconds * 0.5 ** ((self._clock() - since) / HALF_LIFE_S) if seconds else 0.0

    def _charge(self, done: Turn) -> None:
        costs = {name: self.cost(name) for name in self._costs}
        costs |= {name: costs.get(name, 0.0) + done.seconds for name in done.asker if name}
        self._costs = {name: (cost, self._clock()) for name, cost in costs.items() if cost >= LEAST_S}

    def _is_costly(self, one: Turn) -> bool:
        return bool(one.asker) and self.cost(one.asker[0]) > SECONDS

    def _next(self) -> Turn | None:
        """Returns the upload that may begin now."""
        if len(self._reading) >= self._places:
            return None
        others = [one.asker[:1] for one in self._reading]
        ready = [one for one in self._waiting if not self._is_costly(one) or one.asker[:1] not in others]
        return min(ready, key=lambda one: ([self.cost(name) for name in one.asker], one.size), default=None)

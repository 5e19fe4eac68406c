"""How often a page of a run that trains is told of it, and asks for fresh pictures: what the server can spare, shared by who is there."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

EACH = 400  # milliseconds between two pictures of a run that trains, for a lone visitor
SPARE = 0.15  # of a core, for the pictures of all
LATEST = 0.1  # how much the newest picture says of what one costs
LONGEST = 60 * EACH  # as for a room that is full
HERE = 30.0  # seconds for which a visitor counts who has asked for a picture: longer than the longest wait for the next
FASTEST, SLOWEST, A_SECOND = 0.1, 0.5, 50  # seconds between two looks at a run's version: the bounds, and looks a second of all streams


class Pace:
    """Counts visitors who ask for pictures, not what one of them holds open; and each address is told to wait as if all others had as many
    visitors as itself, so that a crowd behind one slows down itself first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.streams = 0
        self._cost = SPARE * EACH / 1000  # of a picture, of late, in seconds of a processor; before any, what is spared for one visitor
        self._clock, self._asked = clock, dict[tuple[str, str], float]()

    def asked(self, address: str, visitor: str, seconds: float) -> None:
        """A visitor at this address has asked for a picture of a run that trains, which took so many seconds of a processor."""
        now = self._clock()
        self._cost += LATEST * (seconds - self._cost)
        self._asked.pop((address, visitor), None)
        self._asked[address, visitor] = now
        for who, then in list(self._asked.items()):  # oldest first
            if now - then <= HERE:
                break
            self._asked.pop(who, None)

    def refresh_ms(self, address: str) -> int:
        """A lone visitor sees almost every picture that training makes; thirty share what the server can spare, at what a picture costs by
        now: those of one run that all of them follow cost less than those of thirty runs."""
        here = Counter(where for where, _ in list(self._asked))
        crowd = min(here.total(), len(here) * here[address])
        return round(min(LONGEST, EACH + 1000 * max(crowd - 1, 0) * self._cost / SPARE))

    @property
    def look(self) -> float:
        """Seconds between two events: a lone visitor's curve grows ten times a second, one of thirty's twice."""
        return min(SLOWEST, max(FASTEST, self.streams / A_SECOND))

    @property
    def until_look(self) -> float:
        """Seconds until all streams look again, at the same moment: what is new is written once for those who follow the same run, and
        whoever trains is interrupted once for all of them."""
        return self.look - self._clock() % self.look

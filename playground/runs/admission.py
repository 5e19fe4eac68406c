"""Admission control: the registered runs, and whether another unfinished one fits. In-memory bookkeeping under one lock.

A thread that holds the lock never waits for the disk or a worker. A new run reserves its place, is saved, then becomes visible.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from playground.config import Refusal
from playground.model.costs import admit, training_bytes
from playground.runs.corpora import sizes
from playground.runs.identity import new_name, owner_of
from playground.runs.limits import Limits
from playground.runs.memory import LRU
from playground.runs.run import Run


class Rules:
    """Hooks by which other parts of a server restrict runs, such as the creator's room. These defaults allow everything."""

    @contextmanager
    def beginning(self, new: Sequence[Run], token: str, lab: str = "") -> Iterator[None]:
        """Wraps the creation of runs by the token's holder; `lab` names the lab of which they are arms. Raises Refusal when forbidden."""
        yield

    def shared(self, run: Run) -> bool:
        """Returns whether visitors besides its owner depend on this run, so that it may not be stopped for others."""
        return False

    def awaited(self, run: Run) -> bool:
        """Returns whether visitors who depend on this run are present."""
        return False

    def in_room(self, token: str) -> bool:
        """Returns whether the token's holder is in a room, whose limits then replace those of an address."""
        return False

    def changing(self, token: str, knob: str, value: Any) -> None:
        """Checks a change of a live knob. Raises Refusal when forbidden."""


MAX_OWNERS = 10_000  # with a remembered address: the most recent


class Visitors:
    """Remembers the last address of each owner, in memory only: addresses are never written to the disk. Thread-safe."""

    def __init__(self, new: Callable[[str], object] = lambda token: None) -> None:
        """`new` is called with the token of each first-time visitor."""
        self._on_new = new
        self._addresses = LRU(most=MAX_OWNERS)

    def record_address(self, token: str, address: str) -> None:
        """Records a request by the token's holder from this address."""
        before = self._addresses.get(owner := owner_of(token))
        self._addresses.put(owner, address)
        if before is None:
            self._on_new(token)

    def address(self, owner: str) -> str:
        """Returns an owner's last address; "" when unknown."""
        return self._addresses.get(owner) or ""


class Admission:
    """Limits unfinished runs per owner, per address, and in total. When all places are taken, unwatched paused runs are stopped to make
    room."""

    def __init__(self, runs: Iterable[Run], limits: Limits, visitors: Visitors) -> None:
        self.lock = threading.Lock()
        self._visitors, self._limits = visitors, limits
        self.rules = Rules()  # a server replaces them after loading its runs
        self.runs = {run.id: run for run in runs}
        self._reserved: dict[str, Run] = {}  # being saved: their places are reserved, but no other thread sees them

    def all(self) -> list[Run]:
        """Returns a snapshot of the runs."""
        return list(self.runs.values())

    def reserve(self, new: Sequence[Run], in_room: bool) -> list[Run]:
        """Assigns places and names to new runs, all or none. Returns the runs stopped to make room. Raises Refusal."""
        with self.lock:
            stopped_runs = []
            for owner, count in Counter(run.owner for run in new if run.unfinished).items():
                stopped_runs += self.check(owner, count, in_room)
            for run in new:
                run.name = new_name({other.name for other in (*self.all(), *self._reserved.values())})
                self._reserved[run.id] = run
            return stopped_runs

    def release(self, new: Sequence[Run]) -> None:
        """Cancels a reservation."""
        with self.lock:
            for run in new:
                self._reserved.pop(run.id, None)

    def publish(self, new: Sequence[Run], begin: Callable[[Run], object]) -> None:
        """Makes reserved runs visible and calls `begin` for each, even if another's raises an error."""
        with self.lock, ExitStack() as calls:
            for run in new:
                self.runs[run.id] = self._reserved.pop(run.id)
            for run in reversed(new):
                calls.callback(begin, run)

    def remove(self, run: Run, busy: Callable[[Run], bool]) -> bool:
        """Removes the run unless it is `busy`. Returns whether it was removed."""
        with self.lock:
            is_removed = not busy(run)
            if is_removed:
                self.runs.pop(run.id, None)
            return is_removed

    def check(self, owner: str, count: int = 1, in_room: bool = False) -> list[Run]:
        """Makes room for `count` more runs of this owner; the caller holds the lock. With `in_room` an address may take all places but a
        share for others. Returns the stopped runs, whose status is not saved yet. Raises Refusal when there is no place."""
        unfinished = [run for run in (*self.all(), *self._reserved.values()) if run.unfinished]
        owned_runs = [run for run in unfinished if run.owner == owner]
        if len(owned_runs) + count > self._limits.runs_each:
            names = [run.name for run in owned_runs] or "–"
            raise Refusal("runs.too_many_yours", most=self._limits.runs_each, count=len(owned_runs), more=count, names=names)
        address = self._visitors.address(owner)
        address_count = sum(self._visitors.address(run.owner) == address for run in unfinished) if address else 0
        most = self._limits.runs_address
        if in_room:
            most = max(most, self._limits.runs_unfinished - self._limits.runs_elsewhere)
        if address_count and address_count + count > most:
            raise Refusal("runs.too_many_near", most=most, minutes=self._limits.idle_minutes)
        lacking = max(0, len(unfinished) + count - self._limits.runs_unfinished)
        candidates = [run for run in unfinished if run.status == "paused" and not run.watched] if lacking else []
        paused_runs = [run for run in candidates if not self.rules.shared(run)]
        if len(paused_runs) < lacking:
            raise Refusal("runs.too_many", most=self._limits.runs_unfinished, minutes=self._limits.idle_minutes)
        stopped_runs = sorted(paused_runs, key=lambda run: run.seen_at)[:lacking]
        for run in stopped_runs:
            run.obey("stop", Refusal("runs.gave_way", step=run.step))
        return stopped_runs


def bytes_needed(run: Run, memory: int) -> int:
    """Estimates the memory of a training. Raises Refusal when it exceeds `memory`."""
    size = sizes(run.experiment, run.pairs)
    admit(run.experiment, *size, memory)
    return training_bytes(run.experiment, *size)

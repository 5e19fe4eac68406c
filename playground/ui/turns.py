"""Fair turns of queued calls: first those whose caller listens for the result, then round robin over addresses and their browser tabs.

Gradio's own queue is first come, first served, and starts every call at once here: each waits for its turn inside its function. A result
is handed to Gradio only when its caller listens, so that unread results don't pile up.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import gradio as gr

from playground.config import Refusal
from playground.ui.address import address_of
from playground.ui.gate import RETRY_AFTER_S

MAX_WAITING = 200  # calls that wait for a turn or for a listener
UNREAD_S = 300.0  # seconds until a result without a listener is dropped


class Tally:
    """Counts open streams by name, and tells observers of new ones. For the event loop only."""

    def __init__(self) -> None:
        self._open: Counter[Hashable] = Counter()
        self.observers: list[Callable[[], None]] = []

    def __contains__(self, name: Hashable) -> bool:
        return name in self._open

    def count(self, kind: str) -> int:
        """Counts the streams of all names of a kind; names are tuples that begin with it."""
        return sum(number for name, number in list(self._open.items()) if name[0] == kind)

    def is_full(self, most: Mapping[Hashable, int]) -> bool:
        """Whether any of these names has reached its limit."""
        return any(self._open[name] >= limit for name, limit in most.items())

    @contextmanager
    def holding(self, *names: Hashable) -> Iterator[None]:
        """Counts one more for each name while the context is open."""
        self._open.update(names)
        for observer in self.observers:
            observer()
        try:
            yield
        finally:
            self._open.subtract(names)
            for name in names:
                if not self._open[name]:
                    del self._open[name]


@dataclass(eq=False)
class Call:
    """A call of a browser tab or a program, its `session`, at an address. `ready` resolves when it may go on."""

    address: str
    session: str
    since: float
    group: str = ""
    ready: asyncio.Future = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Turns:
    """The waiting calls of a server. For the event loop only."""

    def __init__(self, streams: Tally, most_address: int, clock: Callable[[], float] = time.monotonic) -> None:
        """`most_address` limits the waiting calls of one address."""
        self._streams, self._most_address, self._clock = streams, most_address, clock
        self._waiting: list[Call] = []  # for a turn
        self._unread: list[Call] = []  # for a listener
        self._free: dict[str, int] = {}  # turns left by group
        streams.observers.append(self._release_read)

    def admit(self, address: str) -> Refusal | None:
        """Makes room for one more call of this address: where too many wait, one without a listener is dropped. Refuses without any."""
        calls = [call for call in (*self._waiting, *self._unread) if not call.ready.done()]
        same_address = [call for call in calls if call.address == address]
        full = same_address if len(same_address) >= self._most_address else calls if len(calls) >= MAX_WAITING else []
        if not full:
            return None
        refusal = Refusal("page.too_many_calls", seconds=RETRY_AFTER_S)
        abandoned = [call for call in full if not self._is_heard(call)]
        if not abandoned:
            return refusal
        _choose_victim(abandoned).ready.set_exception(refusal)
        return None

    @asynccontextmanager
    async def take(self, group: str, at_once: int, request: gr.Request) -> AsyncIterator[None]:
        """Waits for one of the `at_once` turns of a group, and after the work for the caller to listen. Raises Refusal for a dropped call.
        """
        call = Call(address_of(request.request), request.session_hash or "", self._clock(), group)
        self._free.setdefault(group, at_once)
        try:
            await self._wait(call, self._waiting, self._start)
            yield
        finally:
            if call.ready.done() and not call.ready.cancelled() and not call.ready.exception():
                self._free[group] += 1
                self._start()
        if not self._is_heard(call):
            again = Call(call.address, call.session, call.since)
            try:
                await asyncio.wait_for(self._wait(again, self._unread, lambda: None), UNREAD_S)
            except asyncio.TimeoutError:
                raise Refusal("page.not_there") from None

    async def _wait(self, call: Call, calls: list[Call], start: Callable[[], None]) -> None:
        calls.append(call)
        try:
            start()
            await call.ready
        finally:
            if call in calls:
                calls.remove(call)

    def _start(self) -> None:
        """Starts waiting calls, as far as there are turns left."""
        for call in sort_fairly([call for call in self._waiting if not call.ready.done()], self._is_heard):
            if self._free[call.group] > 0:
                self._free[call.group] -= 1
                self._waiting.remove(call)
                call.ready.set_result(None)

    def _release_read(self) -> None:
        for call in self._unread:
            if self._is_heard(call) and not call.ready.done():
                call.ready.set_result(None)

    def _is_heard(self, call: Call) -> bool:
        return ("listener", call.session) in self._streams


def sort_fairly(calls: Iterable[Call], is_heard: Callable[[Call], bool]) -> list[Call]:
    """Sorts calls: those with a listener first; then round robin over addresses, and within an address over browser tabs."""
    sessions, addresses = Counter[tuple[bool, str, str]](), Counter[tuple[bool, str]]()
    by_session, order = [], []
    for call in sorted(calls, key=lambda call: call.since):
        abandoned = not is_heard(call)
        by_session.append((abandoned, sessions[abandoned, call.address, call.session], call.since, call))
        sessions[abandoned, call.address, call.session] += 1
    for abandoned, _, since, call in sorted(by_session, key=lambda place: place[:3]):
        order.append((abandoned, addresses[abandoned, call.address], since, call))
        addresses[abandoned, call.address] += 1
    return [call for *_, call in sorted(order, key=lambda place: place[:3])]


def _choose_victim(calls: list[Call]) -> Call:
    """Returns the oldest call of the address with most of them: the caller of a recent one may be about to listen."""
    count = Counter(call.address for call in calls)
    return max(calls, key=lambda call: (count[call.address], -call.since))

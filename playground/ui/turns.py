"""Fair turns of queued calls, and fair refresh rates of pages that follow a training run.

Calls whose caller listens for the result come first, then round robin over addresses and their browser tabs. Gradio's own queue is first
come, first served, and starts every call at once here: each waits for its turn inside its function. A result is handed to Gradio only when
its caller listens, so that unread results don't pile up.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import gradio as gr

from playground.config import Refusal
from playground.ui.network import address_of
from playground.ui.rights import RETRY_AFTER_S

REFRESH_MS = 400  # between two pictures of a training run, for a lone visitor
CPU_BUDGET = 0.15  # share of a core for all pictures
COST_WEIGHT = 0.1  # weight of the newest picture in the running average
MAX_REFRESH_MS = 60 * REFRESH_MS  # the interval of a full room
ACTIVE_S = 30.0  # seconds that a visitor counts after a request for a picture: longer than the longest interval
MIN_POLL_S, MAX_POLL_S, POLLS_PER_S = 0.1, 0.5, 50  # seconds between two checks of a run's version, and checks a second of all streams
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
            await self._wait_for_turn(call)
            yield
        finally:
            if call.ready.done() and not call.ready.cancelled() and not call.ready.exception():
                self._free[group] += 1
                self._start()
        if not self._is_heard(call):
            await self._wait_for_listener(Call(call.address, call.session, call.since))

    async def _wait_for_turn(self, call: Call) -> None:
        self._waiting.append(call)
        try:
            self._start()
            await call.ready
        finally:
            if call in self._waiting:
                self._waiting.remove(call)

    async def _wait_for_listener(self, call: Call) -> None:
        self._unread.append(call)  # at once: a listener that comes in the next moment is noticed
        try:
            await asyncio.wait_for(call.ready, UNREAD_S)
        except asyncio.TimeoutError:
            raise Refusal("page.not_there") from None
        finally:
            self._unread.remove(call)

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


class Pace:
    """Counts active visitors, not the streams each holds open. The interval grows with the number of visitors at the caller's own address,
    as if every address had as many: a crowd slows itself down first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.streams = 0
        self._cost = CPU_BUDGET * REFRESH_MS / 1000  # running average of a picture's cost, in CPU seconds
        self._clock, self._requested_at = clock, dict[tuple[str, str], float]()

    def record_request(self, address: str, visitor: str, seconds: float) -> None:
        """Records a visitor's request for a picture of a training run, and its cost in CPU seconds."""
        now = self._clock()
        self._cost += COST_WEIGHT * (seconds - self._cost)
        self._requested_at.pop((address, visitor), None)
        self._requested_at[address, visitor] = now
        for key, requested_at in list(self._requested_at.items()):  # oldest first
            if now - requested_at <= ACTIVE_S:
                break
            self._requested_at.pop(key, None)

    def refresh_ms(self, address: str) -> int:
        """Returns the refresh interval in milliseconds: almost every picture for a lone visitor; a class shares the CPU budget at the
        current cost, which is lower where all follow one run."""
        by_address = Counter(source for source, _ in list(self._requested_at))
        visitors = min(by_address.total(), len(by_address) * by_address[address])
        return round(min(MAX_REFRESH_MS, REFRESH_MS + 1000 * max(visitors - 1, 0) * self._cost / CPU_BUDGET))

    def spread_refresh_ms(self, address: str) -> int:
        """Returns the refresh interval, in a class a quarter shorter or longer by chance: pages that waited together don't ask together."""
        interval = self.refresh_ms(address)
        return interval if interval == REFRESH_MS else round(interval * random.uniform(0.75, 1.25))

    @property
    def poll_s(self) -> float:
        """Seconds between two events: 0.1 for a lone visitor, 0.5 for each of thirty."""
        return min(MAX_POLL_S, max(MIN_POLL_S, self.streams / POLLS_PER_S))

    @property
    def until_poll_s(self) -> float:
        """Seconds until all streams check again, at the same moment: a run's update is serialised once for all followers, and its training
        is interrupted once."""
        return self.poll_s - self._clock() % self.poll_s

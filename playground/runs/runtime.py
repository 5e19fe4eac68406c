"""Clocks and threads, injected into the parts of a server so that tests control both; and the time of day for long periods."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

log = logging.getLogger(__name__)
Clock = Callable[[], float]  # seconds
JUMP_SECONDS = 60.0  # smaller differences are clock adjustments or load
LASTING_SECONDS = 3600.0  # after which the jump was meant, or would have been corrected


class SteadyClock:
    """The time of day for long periods, such as since a run was last viewed, or until a room ends. Returns seconds since 1970 when called,
    which must happen now and then. Lock-free: a late caller changes nothing.

    A machine's clock may be set back a day, or start in another century: nothing must be deleted for that. So time continues steadily from
    the first reading, and a jump is accepted once it has lasted.
    """

    def __init__(self, wall: Clock = time.time, even: Clock = time.monotonic) -> None:
        self._wall, self._even = wall, even
        self._offset = wall() - even()
        self._jump: tuple[float, float] | None = None  # when the clocks diverged, and their present offset

    def __call__(self) -> float:
        even = self._even()
        offset = self._wall() - even
        if abs(offset - self._offset) < JUMP_SECONDS:
            self._offset, self._jump = offset, None
        elif self._jump is None or abs(offset - self._jump[1]) >= JUMP_SECONDS:
            self._jump = even, offset
            log.warning("the machine's clock has jumped by %.0f s, which counts if it lasts", offset - self._offset)
        elif even - self._jump[0] >= LASTING_SECONDS:
            self._offset, self._jump = offset, None
        return even + self._offset


_clock = SteadyClock()


def now() -> float:
    """Returns the seconds since 1970 by this process's clock."""
    return _clock()


def start_thread(work: Callable[[], object], name: str) -> threading.Thread:
    """Starts a daemon thread."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread


@dataclass(frozen=True)
class Runtime:
    """The machine's clocks and threads."""

    monotonic: Clock = time.monotonic  # seconds, monotonic
    date: Clock = now  # seconds since 1970
    spawn: Callable[[Callable[[], object], str], threading.Thread] = start_thread  # (work, name of the thread)
    wait: Callable[[threading.Event, float], bool] = threading.Event.wait  # waits for an event or a timeout in s; returns whether it is set


REAL = Runtime()


def hold_threads() -> tuple[Runtime, Callable[[], None]]:
    """Returns a runtime whose threads wait before their work, and the function that lets them begin."""
    begun = threading.Event()

    def wait_and_work(work: Callable[[], object]) -> None:
        begun.wait()
        work()

    return Runtime(spawn=lambda work, name: start_thread(partial(wait_and_work, work), name)), begun.set


class Loop:
    """A thread that does its work every `seconds`, and at once when woken, until closed. Errors are logged."""

    def __init__(self, work: Callable[[], object], name: str, seconds: float, runtime: Runtime) -> None:
        self._work, self._seconds, self._due, self.closing = work, seconds, threading.Event(), False
        self._thread = runtime.spawn(self._run, name)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def wake(self) -> None:
        self._due.set()

    def close(self) -> None:
        """Stops and joins the thread, unless it is the calling one."""
        self.closing = True
        self._due.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while not self.closing:
            self._due.wait(self._seconds)
            self._due.clear()
            try:
                if not self.closing:
                    self._work()
            except BaseException:
                log.exception("a round was broken off")

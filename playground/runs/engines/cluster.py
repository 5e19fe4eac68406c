"""Training processes on a Ray cluster, as many as it has GPUs, or else cores.

A background thread starts them, replaces dead ones, and reconnects to a lost cluster. Trainings use only those that are up. Each reply
takes the page's only interpreter about 3 ms, so some thirty processes with turns of a tenth of a second would saturate it: turns lengthen
with their number (see Scheduler.grow).
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from multiprocessing.context import BaseContext
from multiprocessing.managers import BaseManager
from typing import Any, Protocol
from urllib.parse import urlsplit

from playground.logs import event, reason
from playground.runs.engines.children import SHARE
from playground.runs.engines.host import Answer
from playground.runs.engines.hosted import Wishes
from playground.runs.engines.trainer import Lost
from playground.runs.queue.watchdog import FIRST
from playground.runs.runtime import REAL, Runtime
from playground.words import ENGLISH, say

log = logging.getLogger(__name__)
AGAIN_S = 30.0  # seconds until an unreachable cluster is retried; maximum backoff for a process that failed to start
LOOK_S = 1.0  # seconds between two checks for started and dead processes
PROBE_S = 5.0  # connection timeout
NONE, CONNECTING, CONNECTED, UNREACHABLE = "none", "connecting", "connected", "unreachable"
GONE = (OSError, EOFError)  # raised when the driver process has died


class Driver(Protocol):
    """The interface of ray_driver.Driver."""

    def offer(self) -> Any: ...
    def begin(self, number: int) -> None: ...
    def arrived(self, seconds: float) -> Mapping[int, Any]: ...
    def ask(self, number: int, question: tuple, seconds: float, machine: str) -> Answer: ...
    def end(self, number: int) -> None: ...
    def close(self) -> None: ...


class Slot:
    """The link to one process of the cluster, which is a new one after each restart."""

    def __init__(self, number: int, driver: Callable[[], Driver | None], step_seconds: float) -> None:
        self.number, self._driver, self._step_seconds = number, driver, step_seconds
        self.up, self.node, self.where = False, "", {}
        self.asked_for, self.failed, self.not_before = False, 0, 0.0  # whether it has been requested; failed attempts, and when to retry
        self._one_at_a_time = threading.Lock()

    def ask(self, id: str, name: str, wishes: Wishes, *arguments: Any) -> Answer:
        with self._one_at_a_time:
            driver = self._driver()
            if driver is None or not self.up:
                raise Lost
            seconds = SHARE * self._step_seconds * (FIRST if name == "begin" else 1)
            try:
                return driver.ask(self.number, (id, name, wishes, *arguments), seconds, self.node)
            except (*GONE, Lost) as error:
                self.up = False
                event(log, "process_ended", logging.WARNING, number=self.number, **self.where)
                raise Lost(getattr(error, "guilty", False)) from None

    def close(self) -> None:
        """Kills the process."""
        self.up = False
        if driver := self._driver():
            with suppress(*GONE):
                driver.end(self.number)


class Cluster:
    """All processes of the cluster; `ready` are those that are up."""

    def __init__(
        self, start: Callable[[], Driver], step_seconds: float, grown: Callable[[int], object] = lambda count: None, runtime: Runtime = REAL
    ) -> None:
        """`start` starts the driver process; it may raise anything. `grown` receives the number of processes that will train at once."""
        self.state, self.gpus, self.memory = CONNECTING, False, {}
        self._start, self._step_seconds, self._grown = start, step_seconds, grown
        self._slots: list[Slot] = []
        self._driver: Driver | None = None
        self._closing, self._clock = threading.Event(), runtime.monotonic
        self._keeper = runtime.spawn(self._keep, "cluster")

    @property
    def ready(self) -> list[Slot]:
        return [slot for slot in self._slots if slot.up]

    def room(self, node: str) -> float:
        """Returns a machine's bytes for trainings; inf if it has left the cluster, where no run starts."""
        return self.memory.get(node, float("inf"))

    def close(self) -> None:
        """Ends every process, dropping their models."""
        self._closing.set()
        self._leave()
        self._keeper.join(2 * LOOK_S)

    def _keep(self) -> None:
        while not self._closing.is_set():
            try:
                if self._driver is None:
                    self._connect()
                self._look()
            except Exception as error:
                self._lose(error)
                self._closing.wait(AGAIN_S)
        self._leave()

    def _connect(self) -> None:
        self._driver = self._start()
        offer = self._driver.offer()
        self.gpus, self.memory = offer.gpus, offer.memory
        for number in range(len(self._slots), offer.count):
            self._slots.append(Slot(number, lambda: self._driver, self._step_seconds))
        for slot in self._slots:
            slot.asked_for, slot.failed, slot.not_before = False, 0, 0.0
        self._grown(len(self._slots))
        self.state = CONNECTED
        log.info("runs are trained on the Ray cluster: %d machines, %d processes", len(offer.memory), offer.count)

    def _look(self) -> None:
        """Requests new processes for dead slots, and registers those that have started."""
        driver = self._driver
        for slot in self._slots:
            if not slot.up and not slot.asked_for and self._clock() >= slot.not_before:
                driver.begin(slot.number)
                slot.asked_for = True
        for number, place in driver.arrived(LOOK_S).items():
            slot = self._slots[number]
            slot.asked_for = False
            if isinstance(place, str):
                event(log, "no_process", logging.WARNING, number=number, error=place)
                slot.failed += 1
                slot.not_before = self._clock() + min(AGAIN_S, 2**slot.failed)
            else:
                slot.node, slot.where = place.machine, {"node": place.address} | ({} if place.gpu is None else {"gpu": place.gpu})
                slot.up, slot.failed = True, 0
        self.memory = driver.offer().memory
        self._closing.wait(LOOK_S)

    def _lose(self, error: Exception) -> None:
        self._leave()
        if self.state != UNREACHABLE and not self._closing.is_set():
            log.warning("%s (%s)", say(ENGLISH, "operator.reason_cluster_unreachable"), reason(error))
        self.state, self.memory = UNREACHABLE, {}

    def _leave(self) -> None:
        driver, self._driver = self._driver, None
        for slot in self._slots:
            slot.up = False
        if driver:
            driver.close()


def begin(context: BaseContext, address: str) -> Driver:
    """Starts the driver process of the cluster at this address. Raises OSError, RuntimeError, and Ray's errors."""
    if find_spec("ray") is None:
        raise RuntimeError("Ray is not installed: pip install -r requirements-ray.txt")
    probe(address)
    return _Beside(context, address)


def probe(address: str) -> None:
    """Checks that the address accepts connections, since Ray takes minutes to time out. Raises OSError."""
    parts = urlsplit(address if "//" in address else f"//{address}")
    if parts.port:
        socket.create_connection((parts.hostname, parts.port), PROBE_S).close()


class _Manager(BaseManager):
    pass


def _drive(address: str) -> Any:
    from playground.runs.engines import ray_driver  # in the driver process only

    return ray_driver.drive(address)


def _prepare() -> None:
    from playground.runs.engines import ray_driver

    ray_driver.prepare()


_Manager.register("drive", _drive, exposed=("offer", "begin", "arrived", "ask", "end"))


class _Beside:
    """A ray_driver.Driver in a separate process."""

    def __init__(self, context: BaseContext, address: str) -> None:
        self._manager = _Manager(ctx=context)
        self._manager.start(_prepare)
        driver = self._manager.drive(address)
        self.offer, self.begin, self.arrived, self.ask, self.end = driver.offer, driver.begin, driver.arrived, driver.ask, driver.end
        self._driver = driver

    def close(self) -> None:
        self._manager.shutdown()

"""Training processes on a Ray cluster, as many as it has GPUs, or else cores. Imported only where RAY_ADDRESS names a cluster; needs `pip
install -r playground/ray/requirements.txt`, or the extra "ray". driver.py is the process that speaks with Ray, and the hosts.

A background thread starts them, replaces dead ones, and reconnects to a lost cluster. Trainings use only those that are up. Each reply
takes the page's only interpreter about 3 ms, so some thirty processes with turns of a tenth of a second would saturate it: turns lengthen
with their number (see Scheduler.grow).
"""

from __future__ import annotations

import logging
import multiprocessing
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from multiprocessing.context import BaseContext
from multiprocessing.managers import BaseManager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from playground.logs import event, reason
from playground.runs.engines import PREPARE_FACTOR, Lost
from playground.runs.engines.children import TIMEOUT_FRACTION
from playground.runs.engines.choice import CONNECTED, CONNECTING, UNREACHABLE
from playground.runs.engines.host import Answer, CallSettings
from playground.runs.limits import Limits
from playground.runs.runtime import REAL, Runtime
from playground.words import ENGLISH, say

if TYPE_CHECKING:
    from playground.ray.driver import Driver

log = logging.getLogger(__name__)
RETRY_S = 30.0  # seconds until an unreachable cluster is retried; maximum backoff for a process that failed to start
CHECK_PERIOD_S = 1.0  # seconds between two checks for started and dead processes
PROBE_S = 5.0  # connection timeout
CONNECTION_ERRORS = (OSError, EOFError)  # raised when the driver process has died


class Slot:
    """The link to one process of the cluster, which is a new one after each restart."""

    def __init__(self, number: int, driver: Callable[[], Driver | None], step_seconds: float) -> None:
        self.number, self._driver, self._step_seconds = number, driver, step_seconds
        self.up, self.node, self.where = False, "", {}
        self.is_requested, self.failures, self.retry_at = False, 0, 0.0  # retry time by the clock
        self._call_lock = threading.Lock()

    def ask(self, id: str, name: str, settings: CallSettings, *arguments: Any) -> Answer:
        with self._call_lock:
            driver = self._driver()
            if driver is None or not self.up:
                raise Lost
            seconds = TIMEOUT_FRACTION * self._step_seconds * (PREPARE_FACTOR if name == "begin" else 1)
            try:
                return driver.ask(self.number, (id, name, settings, *arguments), seconds, self.node)
            except (*CONNECTION_ERRORS, Lost) as error:
                level, self.up = logging.WARNING if self.up else logging.INFO, False  # INFO: by `close`
                event(log, "process_ended", level, number=self.number, **self.where)
                raise Lost(getattr(error, "guilty", False)) from None

    def close(self) -> None:
        """Kills the process."""
        self.up = False
        if driver := self._driver():
            with suppress(*CONNECTION_ERRORS):
                driver.end(self.number)


class Cluster:
    """All processes of the cluster; `ready` are those that are up."""

    def __init__(
        self, start: Callable[[], Driver], step_seconds: float, on_grow: Callable[[int], object] = lambda _: None, runtime: Runtime = REAL
    ) -> None:
        """`start` starts the driver process; it may raise anything. `on_grow` receives the number of processes that will train at once."""
        self.state, self.gpus, self.memory = CONNECTING, False, {}
        self._start_driver, self._step_seconds, self._on_grow = start, step_seconds, on_grow
        self._slots: list[Slot] = []
        self._driver: Driver | None = None
        self._closing, self._clock = threading.Event(), runtime.monotonic
        self._thread = runtime.spawn(self._run, "cluster")

    @property
    def ready(self) -> list[Slot]:
        return [slot for slot in self._slots if slot.up]

    def capacity(self, node: str) -> float:
        """Returns a machine's bytes for trainings; inf if it has left the cluster, where no run starts."""
        return self.memory.get(node, float("inf"))

    def close(self) -> None:
        """Ends every process, dropping their models."""
        self._closing.set()
        self._disconnect()
        self._thread.join(2 * CHECK_PERIOD_S)

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                if self._driver is None:
                    self._connect()
                self._check_slots()
            except Exception as error:
                self._handle_loss(error)
                self._closing.wait(RETRY_S)
        self._disconnect()

    def _connect(self) -> None:
        self._driver = self._start_driver()
        offer = self._driver.offer()
        self.gpus, self.memory = offer.gpus, offer.memory
        for number in range(len(self._slots), offer.count):
            self._slots.append(Slot(number, lambda: self._driver, self._step_seconds))
        for slot in self._slots:
            slot.is_requested, slot.failures, slot.retry_at = False, 0, 0.0
        self._on_grow(len(self._slots))
        self.state = CONNECTED
        log.info("runs are trained on the Ray cluster: %d machines, %d processes", len(offer.memory), offer.count)

    def _check_slots(self) -> None:
        """Requests new processes for dead slots, and registers those that have started."""
        driver = self._driver
        for slot in self._slots:
            if not slot.up and not slot.is_requested and self._clock() >= slot.retry_at:
                driver.begin(slot.number)
                slot.is_requested = True
        for number, place in driver.take_arrivals(CHECK_PERIOD_S).items():
            slot = self._slots[number]
            slot.is_requested = False
            if isinstance(place, str):
                event(log, "no_process", logging.WARNING, number=number, error=place)
                slot.failures += 1
                slot.retry_at = self._clock() + min(RETRY_S, 2**slot.failures)
            else:
                slot.node, slot.where = place.machine, {"node": place.address} | ({} if place.gpu is None else {"gpu": place.gpu})
                slot.up, slot.failures = True, 0
        self.memory = driver.offer().memory
        self._closing.wait(CHECK_PERIOD_S)

    def _handle_loss(self, error: Exception) -> None:
        self._disconnect()
        if self.state != UNREACHABLE and not self._closing.is_set():
            log.warning("%s (%s)", say(ENGLISH, "operator.reason_cluster_unreachable"), reason(error))
        self.state, self.memory = UNREACHABLE, {}

    def _disconnect(self) -> None:
        driver, self._driver = self._driver, None
        for slot in self._slots:
            slot.up = False
        if driver:
            driver.close()


def connect(limits: Limits, on_grow: Callable[[int], object], runtime: Runtime) -> Cluster | None:
    """Returns the engine of the cluster that `limits` name, which connects in the background; None on a system without a forkserver."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return None
    context = multiprocessing.get_context("forkserver")
    return Cluster(lambda: start_driver(context, limits.cluster), limits.step_seconds, on_grow, runtime)


def start_driver(context: BaseContext, address: str) -> Driver:
    """Starts the driver process of the cluster at this address. Raises OSError, RuntimeError, and Ray's errors."""
    if find_spec("ray") is None:
        raise RuntimeError("Ray is not installed: pip install -r playground/ray/requirements.txt")
    _probe(address)
    return _DriverProcess(context, address)


def _probe(address: str) -> None:
    """Checks that the address accepts connections, since Ray takes minutes to time out. Raises OSError."""
    parts = urlsplit(address if "//" in address else f"//{address}")
    if parts.port:
        socket.create_connection((parts.hostname, parts.port), PROBE_S).close()


class _Manager(BaseManager):
    pass


def _create_driver(address: str) -> Any:
    from playground.ray import driver  # in the driver process only

    return driver.Driver(address)


def _prepare_driver() -> None:
    from playground.ray import driver

    driver.prepare()


_Manager.register("drive", _create_driver, exposed=("offer", "begin", "take_arrivals", "ask", "end"))


class _DriverProcess:
    """A driver.Driver in a separate process."""

    def __init__(self, context: BaseContext, address: str) -> None:
        self._manager = _Manager(ctx=context)
        self._manager.start(_prepare_driver)
        driver = self._manager.drive(address)
        self.offer, self.begin, self.take_arrivals = driver.offer, driver.begin, driver.take_arrivals
        self.ask, self.end, self._driver = driver.ask, driver.end, driver

    def close(self) -> None:
        self._manager.shutdown()

"""The engine of a Ray cluster: processes on its machines, as many as it has GPUs, or else cores.

A thread looks after them: it asks for processes, for another in the place of one that has ended, and for the cluster when there is none.
Who trains only uses those that are up. The page takes about 3 ms of its one interpreter for each answer, so that some thirty processes with
turns of a tenth of a second would fill it: the more there are, the longer are their turns (see Scheduler.grow).
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
AGAIN_S = 30.0  # seconds until a cluster that could not be reached is asked for again; the longest until a process is that could not begin
LOOK_S = 1.0  # seconds between two looks at what has come and gone
PROBE_S = 5.0  # seconds that a cluster may take to let anybody in at all
NONE, CONNECTING, CONNECTED, UNREACHABLE = "none", "connecting", "connected", "unreachable"
GONE = (OSError, EOFError)  # what is raised when the process that speaks with Ray is no more


class Driver(Protocol):
    """What ray_driver.Driver does."""

    def offer(self) -> Any: ...
    def begin(self, number: int) -> None: ...
    def arrived(self, seconds: float) -> Mapping[int, Any]: ...
    def ask(self, number: int, question: tuple, seconds: float, machine: str) -> Answer: ...
    def end(self, number: int) -> None: ...
    def close(self) -> None: ...


class Slot:
    """One process of the cluster, and the link to it. It is another one each time that it comes up."""

    def __init__(self, number: int, driver: Callable[[], Driver | None], step_seconds: float) -> None:
        self.number, self._driver, self._step_seconds = number, driver, step_seconds
        self.up, self.node, self.where = False, "", {}
        self.asked_for, self.failed, self.not_before = False, 0, 0.0  # whether it is to come; how often it hasn't, and when to try again
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
        """Ends the process, whatever it is doing."""
        self.up = False
        if driver := self._driver():
            with suppress(*GONE):
                driver.end(self.number)


class Cluster:
    """All processes of the cluster at `address`. Those that are up are in `ready`."""

    def __init__(
        self, start: Callable[[], Driver], step_seconds: float, grown: Callable[[int], object] = lambda count: None, runtime: Runtime = REAL
    ) -> None:
        """`start` begins the process that speaks with the cluster; it may raise anything. `grown` is told how many processes there will be
        at once."""
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
        """Bytes for trainings on a machine; of one that is gone nobody asks."""
        return self.memory.get(node, float("inf"))

    def close(self) -> None:
        """Ends every process. What was trained there is gone."""
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
        """What has ended is asked for again; what has come is up."""
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
    """Begins the process that speaks with the cluster at this address. Raises OSError, RuntimeError, and what Ray raises."""
    if find_spec("ray") is None:
        raise RuntimeError("Ray is not installed: pip install -r requirements-ray.txt")
    probe(address)
    return _Beside(context, address)


def probe(address: str) -> None:
    """Ray takes minutes to say that nobody is there. Raises OSError."""
    parts = urlsplit(address if "//" in address else f"//{address}")
    if parts.port:
        socket.create_connection((parts.hostname, parts.port), PROBE_S).close()


class _Manager(BaseManager):
    pass


def _drive(address: str) -> Any:
    from playground.runs.engines import ray_driver  # in its own process only

    return ray_driver.drive(address)


def _prepare() -> None:
    from playground.runs.engines import ray_driver

    ray_driver.prepare()


_Manager.register("drive", _drive, exposed=("offer", "begin", "arrived", "ask", "end"))


class _Beside:
    """A ray_driver.Driver in a process of its own."""

    def __init__(self, context: BaseContext, address: str) -> None:
        self._manager = _Manager(ctx=context)
        self._manager.start(_prepare)
        driver = self._manager.drive(address)
        self.offer, self.begin, self.arrived, self.ask, self.end = driver.offer, driver.begin, driver.arrived, driver.ask, driver.end
        self._driver = driver

    def close(self) -> None:
        self._manager.shutdown()

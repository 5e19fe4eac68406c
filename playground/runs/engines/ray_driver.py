"""The process that speaks with Ray, and what it has on the machines of a cluster: a host in each process that Ray gives it.

Not the page's process: Ray ends a process whose cluster has been gone for a minute, and may take two to say that there is none. Nothing but
this module knows Ray.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from typing import Any, NamedTuple

import ray
from ray.exceptions import RayError

from playground.runs.engines.children import end_with_who_asks
from playground.runs.engines.host import Answer, Host
from playground.runs.engines.trainer import Lost
from playground.runs.heap import share_arenas
from playground.runs.limits import machine_devices
from playground.runs.queue.warmup import warm_up

OWN_BYTES = 400 * 2**20  # that a process takes before it trains anything: torch, and the smallest model


class Offer(NamedTuple):
    """What a cluster has for us by now."""

    gpus: bool  # whether a process has a GPU, or else a core
    count: int  # of processes
    memory: dict[str, int]  # bytes for trainings, by the id of the machine


class Place(NamedTuple):
    """Where a process is."""

    machine: str  # id
    address: str
    gpu: int | None


@ray.remote(max_restarts=0)
class FarHost:
    """A process on some machine, ready to train."""

    def __init__(self) -> None:
        share_arenas()
        warm_up(machine_devices()[0])
        self._host = Host()

    def place(self) -> Place:
        context = ray.get_runtime_context()
        gpus = context.get_accelerator_ids().get("GPU") or [None]
        return Place(context.get_node_id(), ray.util.get_node_ip_address(), gpus[0] and int(gpus[0]))

    def answer(self, *question: Any) -> Answer:
        return self._host.answer(*question)


class Driver:
    """Processes by their numbers. Its calls come from many threads; those about one process, one after the other."""

    def __init__(self, address: str) -> None:
        """Raises what Ray raises when there is no such cluster, after minutes."""
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
        self._gpus = self.offer().gpus
        self._hosts: dict[int, Any] = {}
        self._coming: dict[Any, int] = {}  # what will say where it is -> its number

    def offer(self) -> Offer:
        alive = [machine for machine in ray.nodes() if machine["Alive"]]
        gpus = any(machine["Resources"].get("GPU") for machine in alive)
        counts = {machine["NodeID"]: int(machine["Resources"].get("GPU" if gpus else "CPU", 0)) for machine in alive}
        memory = {machine["NodeID"]: int(machine["Resources"].get("memory", 0)) for machine in alive}
        return Offer(gpus, sum(counts.values()), {id: max(0, memory[id] - count * OWN_BYTES) for id, count in counts.items() if count})

    def begin(self, number: int) -> None:
        """Asks for a process; it comes as soon as there is a place for it."""
        needed = {"num_gpus": 1} if self._gpus else {"num_cpus": 1}
        self._hosts[number] = FarHost.options(**needed, scheduling_strategy="SPREAD").remote()
        self._coming[self._hosts[number].place.remote()] = number

    def arrived(self, seconds: float) -> dict[int, Place | str]:
        """Those that are ready by now; why not, of one that has ended instead."""
        ready, _ = ray.wait(list(self._coming), num_returns=len(self._coming), timeout=seconds) if self._coming else ([], [])
        return {self._coming.pop(reference): self._said(reference) for reference in ready}

    def ask(self, number: int, question: tuple, seconds: float, machine: str) -> Answer:
        """What its host answers. Raises Lost when it doesn't, after so many seconds at the latest; it is gone then."""
        try:
            return ray.get(self._hosts[number].answer.remote(*question), timeout=seconds)
        except (RayError, KeyError):
            self.end(number)
            raise Lost(guilty=machine in self.offer().memory) from None  # with its whole machine it isn't the run's doing

    def end(self, number: int) -> None:
        """Whatever it is doing. Safe to call twice."""
        if host := self._hosts.pop(number, None):
            ray.kill(host)

    def _said(self, reference: Any) -> Place | str:
        try:
            return ray.get(reference)
        except RayError as error:
            return type(error).__name__


def drive(address: str) -> Driver:
    """Lives as long as whoever asked for it."""
    return Driver(address)


def prepare() -> None:
    """First of all in this process. What Ray prints of its machines would stand between the lines of the server's log."""
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  as long as the process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_who_asks()

"""The driver process of a Ray cluster, and its hosts: one in each process that Ray provides.

Separate from the page's process: Ray kills a process whose cluster has been gone for a minute, and may take two to report that there is
none. Only this module imports Ray.
"""

import logging
import os
import signal
import sys
from typing import Any, NamedTuple

import ray
from ray.exceptions import RayError

from playground.runs.engines import Lost
from playground.runs.engines.children import end_with_parent
from playground.runs.engines.host import Answer, Host
from playground.runs.limits import machine_devices
from playground.runs.machine_speed import warm_up
from playground.runs.memory import share_arenas

OWN_BYTES = 400 * 2**20  # of an idle process: torch, and the smallest model


class Offer(NamedTuple):
    """The present resources of the cluster."""

    gpus: bool  # whether each process has a GPU, otherwise a core
    count: int  # of processes
    memory: dict[str, int]  # bytes for trainings, by machine id


class Place(NamedTuple):
    """Where a Ray process runs: the machine, its address, and the index of its GPU if it has one."""

    machine: str  # id
    address: str
    gpu: int | None


@ray.remote(max_restarts=0)
class RayHost:
    """A process on a machine of the cluster, ready to train."""

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
    """Processes by number, as long as its client lives. Called from many threads; calls for one process are serialised."""

    def __init__(self, address: str) -> None:
        """Connects. Raises Ray's error when there is no such cluster, after minutes."""
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
        self._gpus = self.offer().gpus
        self._hosts: dict[int, Any] = {}
        self._starting: dict[Any, int] = {}  # reference to a starting host's place -> its number

    def offer(self) -> Offer:
        alive = [machine for machine in ray.nodes() if machine["Alive"]]
        gpus = any(machine["Resources"].get("GPU") for machine in alive)
        counts = {machine["NodeID"]: int(machine["Resources"].get("GPU" if gpus else "CPU", 0)) for machine in alive}
        memory = {machine["NodeID"]: int(machine["Resources"].get("memory", 0)) for machine in alive}
        return Offer(gpus, sum(counts.values()), {id: max(0, memory[id] - count * OWN_BYTES) for id, count in counts.items() if count})

    def begin(self, number: int) -> None:
        """Requests a process; Ray starts it once resources are free."""
        needed = {"num_gpus": 1} if self._gpus else {"num_cpus": 1}
        self._hosts[number] = RayHost.options(**needed, scheduling_strategy="SPREAD").remote()
        self._starting[self._hosts[number].place.remote()] = number

    def take_arrivals(self, seconds: float) -> dict[int, Place | str]:
        """Returns the places of hosts that have started, or the error of those that failed."""
        ready, _ = ray.wait(list(self._starting), num_returns=len(self._starting), timeout=seconds) if self._starting else ([], [])
        return {self._starting.pop(reference): self._place_or_error(reference) for reference in ready}

    def ask(self, number: int, question: tuple, seconds: float, machine: str) -> Answer:
        """Returns the host's answer. Raises Lost on an error or timeout, after killing the host."""
        try:
            return ray.get(self._hosts[number].answer.remote(*question), timeout=seconds)
        except (RayError, KeyError):
            self.end(number)
            raise Lost(guilty=machine in self.offer().memory) from None  # not the run's fault if its whole machine is gone

    def end(self, number: int) -> None:
        """Kills a process. Idempotent."""
        if host := self._hosts.pop(number, None):
            ray.kill(host)

    def _place_or_error(self, reference: Any) -> Place | str:
        try:
            return ray.get(reference)
        except RayError as error:
            return type(error).__name__


def prepare() -> None:
    """Initialises this process first of all. Ray's output would otherwise mix with the server's log."""
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  open as long as the process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()

"""Chooses the engine that trains a run: a cluster if connected, the page's process, or a child process; and the client side of remote
training, which calls a host and applies its increments to the run."""

import logging
import multiprocessing
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from importlib import import_module
from typing import Any, Protocol

from playground.data.tokenizers import load_tokenizer
from playground.logs import event, reason
from playground.runs.corpora import Corpora
from playground.runs.engines import InProcess, Lost, ReadSave, Trainer, parts_of
from playground.runs.engines.children import Child
from playground.runs.engines.host import Answer, CallSettings, Prepared, Start, apply_increment, to_arrays, to_tensors
from playground.runs.history import STEPS, Columns
from playground.runs.limits import Limits
from playground.runs.memory import own_bytes
from playground.runs.queue.parallel import ParallelMap
from playground.runs.queue.scheduler import Job
from playground.runs.recording import PROGRESS_PERIOD_S
from playground.runs.replay import Parameters
from playground.runs.run import Run
from playground.runs.runtime import REAL, Runtime

PRELOADED = "playground.runs.engines.preloaded"
CLUSTER = "playground.ray"  # connects to a cluster; imported only where one is named
# A process leaks if it holds more than LEAK_FACTOR times its trainings' estimate plus LEAK_BYTES.
LEAK_FACTOR, LEAK_BYTES = 2.0, 400_000_000
NONE, CONNECTING, CONNECTED, UNREACHABLE = "none", "connecting", "connected", "unreachable"  # states of a cluster


class Link(Hashable, Protocol):
    """The connection to a host."""

    node: Hashable | None  # its machine, with separate cores and memory; None: this one
    up: bool  # False while the host is unreachable
    where: Mapping[str, Any]  # for display: "process" on this machine, or "node" and perhaps "gpu"

    def ask(self, id: str, name: str, settings: CallSettings, *arguments: Any) -> Answer:
        """Returns the reply of Host.answer. Raises Lost when there will be none."""

    def close(self) -> None:
        """Kills the host. The next training may start a new one."""


class Cluster(Protocol):
    """Hosts on other machines."""

    state: str
    ready: Sequence[Link]  # the hosts that are up
    gpus: bool  # whether each host has one
    memory: Mapping[Hashable, int]  # bytes for trainings, by machine

    def capacity(self, node: Hashable) -> float:
        """Returns a machine's bytes for trainings; inf if it has left the cluster, where no run starts."""

    def close(self) -> None:
        """Ends every host, dropping its models."""


class Remote:
    """A Trainer whose model is in a host. Trainers with the same link take turns."""

    parallel_map: ParallelMap = map

    def __init__(self, run: Run, link: Link, replay_bytes: int) -> None:
        self.run, self.lane, self._replay_bytes = run, link, replay_bytes
        self._begun = False  # by `prepare`
        self._next_update = 0.0  # when viewers' next progress update is due

    def prepare(self, read: ReadSave) -> None:
        run = self.run
        files, parts, step = read(lambda folder: (folder.sent(), parts_of(folder), folder.run.step))
        prepared: Prepared = self._ask("begin", self._start(files, parts, step))
        tokenizers = tuple(map(load_tokenizer, prepared.tokenizers))
        run.hold(**parts, tokenizers=tokenizers)
        run.where = dict(self.lane.where)
        run.replay.plan = prepared.plan
        if prepared.step < run.steps:
            run.replay.reopen(prepared.step)
        run.step, run.seconds, run.longest_target = prepared.step, prepared.seconds, prepared.longest_target
        self._begun = True

    def _start(self, files: dict[str, bytes], parts: dict[str, Any], step: int) -> Start:
        history, replay = copy(parts["history"]), parts["replay"]
        history.steps = Columns(STEPS)
        settings = {name: getattr(self.run, name) for name in ("device", "threads", "precision")}
        earlier = [at for at in replay.parameters_by_step if at <= step]
        rounded = (earlier[-1], to_arrays(dict(replay.parameters_by_step[earlier[-1]]))) if earlier else None
        return Start(files, settings, self._replay_bytes, history, replay.plan, replay.steps, rounded)

    def advance(self, seconds: float, one_step: bool) -> bool:
        """Trains as many steps as there is time for."""
        return self._ask("advance", seconds, one_step)

    def show(self) -> None:
        self._ask("show")

    def finish(self) -> None:
        self._ask("finish")
        self.run.replay.end(self.run.snapshot.parameters)

    def parameters(self) -> Parameters:
        return to_tensors(self._ask("parameters"))

    def state(self) -> bytes:
        return self._ask("state")

    def abort(self) -> None:
        """Kills the process; the other runs in it resume elsewhere."""
        self.lane.close()

    def close(self) -> None:
        with suppress(Lost):
            self._ask("close")

    def _ask(self, name: str, *arguments: Any) -> Any:
        run = self.run
        settings = CallSettings(run.live, run.watched, getattr(self.parallel_map, "cores", 1))
        answer = self.lane.ask(run.id, name, settings, *arguments)
        if answer.increment and self._begun:
            apply_increment(answer.increment, run)
            if settings.watched and run.runtime.monotonic() >= self._next_update:
                run.touch()
                self._next_update = run.runtime.monotonic() + PROGRESS_PERIOD_S
        if answer.error:
            raise answer.error
        return answer.value


log = logging.getLogger(__name__)


class Engines:
    """Trains on the cluster that limits.cluster names while it is reachable, otherwise on this machine: in child processes, so that
    training and page have an interpreter each, even for a single run. There are none with limits.engine "here", nor with "auto" on a single
    core, which they would have to share. A GPU has one process anyway."""

    def __init__(
        self, corpora: Corpora, limits: Limits, on_grow: Callable[[int], object] = lambda count: None, runtime: Runtime = REAL
    ) -> None:
        """Starts the processes in the background; until one is ready, runs train in this process, then they move. `on_grow` receives a
        cluster's number of processes."""
        self._corpora, self._limits = corpora, limits
        self.ready: list[Link] = []
        self._children: list[Child] = []
        if "forkserver" in multiprocessing.get_all_start_methods():
            context = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload([PRELOADED])
            uses_processes = limits.engine == "processes" or (limits.engine == "auto" and limits.cores > 1)
            if uses_processes and "cpu" in limits.devices:
                self._children = [Child(number, context, limits.step_seconds) for number in range(limits.cores)]
        self.cluster: Cluster | None = import_module(CLUSTER).connect(limits, on_grow, runtime) if limits.cluster else None
        self._starter = runtime.spawn(self._start_children, "starter")

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices available to a new run, by torch's names there."""
        return ("cuda:0" if self.cluster.gpus else "cpu",) if self._cluster_links() else self._limits.devices

    @property
    def memory(self) -> int:
        """Maximum bytes of one run."""
        return max(self.cluster.memory.values()) if self._cluster_links() and self.cluster.memory else self._limits.memory

    @property
    def state(self) -> dict[str, Any]:
        """The cluster's "state", and its number of "machines" and "processes" that are ready."""
        ready = self.cluster.ready if self.cluster else []
        state = self.cluster.state if self.cluster else NONE
        return {"state": state, "machines": len({slot.node for slot in ready}), "processes": len(ready)}

    def capacity(self, node: Hashable) -> float:
        """Returns the bytes for all runs on a machine of the cluster."""
        return self.cluster.capacity(node) if self.cluster else float("inf")

    def trainer(self, run: Run, bytes: int, other_runs: Iterable[Job]) -> Trainer:
        """Returns the trainer of a run that takes `bytes`, given the `other_runs` at work."""
        other_runs = list(other_runs)
        if cluster_links := self._cluster_links(run):
            return Remote(run, self._least_loaded(cluster_links, other_runs, bytes), self._limits.replay_bytes)
        if run.device != "cpu" or not self.ready:
            return InProcess(run, self._corpora, self._limits.replay_bytes)
        return Remote(run, self._least_loaded(self.ready, other_runs), self._limits.replay_bytes)

    def find_better_trainer(self, run: Run, bytes: int, lane: Hashable | None, other_runs: Iterable[Job]) -> Trainer | None:
        """Returns a better trainer, or None: a process with at least two runs fewer; any if the present one has died, or once one farther
        from the page (a child process, a cluster) has become available."""
        cluster_links = self._cluster_links(run)
        local_links = self.ready if run.device == "cpu" else []
        links = cluster_links or local_links
        if lane in links:
            other_runs = list(other_runs)
            quietest, run_counts = self._least_loaded(links, other_runs, bytes), Counter(other.lane for other in other_runs)
            return Remote(run, quietest, self._limits.replay_bytes) if run_counts[lane] > run_counts[quietest] else None
        return self.trainer(run, bytes, other_runs) if links or (lane and not lane.up) else None

    def end_leaking_process(self, at_work: Iterable[Job]) -> None:
        """Kills the child process that holds most, if it leaks. Its runs resume from their last saves in another."""
        expected = Counter()
        for other in at_work:
            expected[other.lane] += other.bytes
        held = {child: own_bytes(child.pid) for child in self._children if child.pid}
        on_grow = [child for child in held if held[child] > LEAK_FACTOR * expected[child] + LEAK_BYTES]
        if on_grow:
            child = max(on_grow, key=held.__getitem__)
            event(log, "process_grew", logging.WARNING, number=child.number, held=held[child], expected=expected[child])
            child.close()

    def close(self) -> None:
        """Ends every process, dropping their models."""
        children, self._children = self._children, []
        if self.cluster:
            self.cluster.close()
        while True:
            is_starting = self._starter.is_alive()
            for child in children:
                child.close()
            if not is_starting:
                return
            self._starter.join(0.05)  # until the process being started can be ended

    def _cluster_links(self, run: Run | None = None) -> list[Link]:
        """Returns the cluster's processes that may train the run."""
        fits = run is None or run.device == "cpu" or (self.cluster and self.cluster.gpus)
        return self.cluster.ready if self.cluster and fits else []

    def _least_loaded(self, links: Sequence[Link], other_runs: Sequence[Job], bytes: int = 0) -> Link:
        """Returns the process with the fewest runs on a machine with enough memory; among equals, on the machine with the fewest."""
        lanes, nodes, used_bytes = Counter(other.lane for other in other_runs), Counter(other.node for other in other_runs), Counter()
        for other in other_runs:
            used_bytes[other.node] += other.bytes

        def load(link: Link) -> tuple[bool, int, int]:
            crowded = link.node is not None and used_bytes[link.node] + bytes > self.capacity(link.node)
            return crowded, lanes[link], nodes[link.node]

        return min(links, key=load)

    def _start_children(self) -> None:
        for child in tuple(self._children):
            if not self._children:  # closed meanwhile
                return
            try:
                child.start()
            except Exception as error:  # this process can train instead
                if self._children:
                    event(log, "no_process", logging.WARNING, error=reason(error))
                return
            self.ready.append(child)

"""The client side of remote training: calls a host and applies its increments to the run."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from typing import Any, Protocol

from playground.data.tokenizers import load_tokenizer
from playground.runs.engines.host import Answer, CallSettings, Prepared, Start
from playground.runs.engines.increment import apply_increment, to_arrays, to_tensors
from playground.runs.engines.trainer import Lost, ReadSave, parts_of
from playground.runs.history import STEPS, Columns
from playground.runs.queue.parallel import ParallelMap
from playground.runs.recording import PROGRESS_PERIOD_S
from playground.runs.replay import Parameters
from playground.runs.run import Run

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


"""The runs at work: one job each, and a scheduler per device."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from playground.config import Refusal
from playground.logs import event
from playground.runs.corpora import Corpora
from playground.runs.disk.store import Store
from playground.runs.engines.choice import Engines
from playground.runs.engines.trainer import Trainer
from playground.runs.limits import Limits
from playground.runs.machine_speed import execution_plan
from playground.runs.memory import Memory
from playground.runs.queue.jobs import TrainingJob
from playground.runs.queue.scheduler import Scheduler, Turn
from playground.runs.queue.warmup import get_ready
from playground.runs.queue.watchdog import Watchdog
from playground.runs.run import Run
from playground.runs.runtime import REAL, Runtime

log = logging.getLogger(__name__)
SAVE_TIMEOUT_S = 60.0  # seconds
CLOSE_TIMEOUT_S = 5.0  # seconds for turns to end when the server stops: the rest of ten is for saving


class Workers:
    """Starts jobs, forwards orders to them, abandons hung ones, and shuts down in order."""

    def __init__(
        self, store: Store, corpora: Corpora, limits: Limits, memory: Memory, lost: Callable[[Run, Refusal], object],
        runtime: Runtime = REAL, engines: Callable[..., Engines] = Engines,
    ) -> None:  # fmt: skip
        """`lost` is called with a run whose step hangs, and the message; its thread may still write to the run object."""
        self._store, self._limits, self._run_lost, self._runtime = store, limits, lost, runtime
        self._jobs: dict[str, TrainingJob] = {}

        def warm_up(device: str) -> None:
            get_ready(device)
            memory.ready()

        self._schedulers = {
            device: Scheduler(
                limits.cores if device == "cpu" else 1, limits.memory, limits.turn_seconds, partial(warm_up, device),
                lambda: memory.unaccounted, lambda node: self._engines.room(node), runtime,
            )
            for device in limits.devices
        }  # fmt: skip
        self._elsewhere = self._schedulers[limits.devices[0]]  # also gives the turns on other machines
        self._engines = engines(corpora, limits, self._elsewhere.grow, runtime)
        memory.reserve_by(lambda: sum(scheduler.reserved for scheduler in self._schedulers.values()))
        self._watchdog = Watchdog(self._schedulers.values(), limits.step_seconds, store.disk.is_awaited_by, self._lose, runtime)

    def count(self) -> dict[str, int]:
        """Sums Scheduler.count over the devices; adds the living "watchdog" thread and training "processes" besides this one."""
        found = Counter({"watchdog": int(self._watchdog.alive), "processes": len(self._engines.ready)})
        for scheduler in self._schedulers.values():
            found.update(scheduler.count())
        return dict(found)

    @property
    def memory(self) -> int:
        """Maximum bytes of one run, where it would begin now."""
        return self._engines.memory

    @property
    def cluster(self) -> dict[str, Any]:
        """The "state" of the cluster, see cluster.py, and its number of "machines" and "processes" that may train."""
        return self._engines.state

    def poke(self) -> None:
        """Wakes the workers: a job has become urgent, or memory has been freed."""
        for scheduler in self._schedulers.values():
            scheduler.poke()

    def end_what_grows(self) -> None:
        """Replaces a training process with a memory leak, when memory is short."""
        self._engines.end_what_grows(list(self._jobs.values()))

    def settle(self, run: Run, beside: Sequence[Run] = ()) -> None:
        """Assigns the run a device and its execution plan, unless its device exists. Chooses the device with the fewest runs, those in
        `beside` included. May measure for a moment."""
        devices = self._engines.devices
        if run.device not in devices:
            others = [job.run for job in list(self._jobs.values())] + [other for other in beside if other is not run]
            run.device = min(devices, key=lambda device: sum(other.device == device for other in others))
            way = execution_plan(run.experiment, run.device)
            run.threads, run.precision = way["threads"], way["precision"]

    def busy(self, run: Run) -> bool:
        return run.id in self._jobs

    def start(self, run: Run, order: str, needed: int) -> None:
        """Creates the job of a settled run and reserves `needed` bytes of memory."""
        trainer = self._settled(run, self._engines.trainer(run, needed, self._others(run)))
        job = TrainingJob(run, self._store, trainer, self._limits, needed, self._better, lambda: self._jobs.pop(run.id, None))
        job.ask(order)
        self._jobs[run.id] = job
        run.seen()
        self._schedulers.get(run.device, self._elsewhere).add(job)

    def ask(self, run: Run, order: str, message: Refusal | None = None) -> bool:
        """Sends an order; `message` tells the owner why the run is stopped. Returns False when the run is not at work, or just over."""
        job = self._jobs.get(run.id)
        if job is None or not job.ask(order, message):
            return False
        self.poke()
        return True

    def wait(self, run: Run) -> None:
        """Waits until an ending job has saved everything. Raises Refusal on timeout."""
        job = self._jobs.get(run.id)
        if job and not self._runtime.wait(job.done, SAVE_TIMEOUT_S):
            raise Refusal("runs.still_saving")

    def save(self, run: Run) -> None:
        """Saves a run at work as it is now, and waits for it. Raises Refusal on timeout."""
        job = self._jobs.get(run.id)
        if job and not self._runtime.wait(job.save_soon(), SAVE_TIMEOUT_S):
            raise Refusal("runs.still_saving")

    def close(self) -> None:
        """Joins every thread but hung ones, then saves the runs at work, and ends the processes."""
        self._watchdog.close()
        until = self._runtime.monotonic() + CLOSE_TIMEOUT_S
        for scheduler in self._schedulers.values():
            for job in scheduler.close(max(0.0, until - self._runtime.monotonic())):
                event(log, "run_left", logging.ERROR, run=job.run.id, name=job.run.name, step=job.run.step)
                job.give_up()
        for job in list(self._jobs.values()):
            job.interrupt()
        self._engines.close()

    def _others(self, run: Run) -> list[TrainingJob]:
        return [job for job in list(self._jobs.values()) if job.run is not run]

    def _better(self, job: TrainingJob) -> Trainer | None:
        other = self._engines.better(job.run, job.bytes, job.lane, self._others(job.run))
        return other and self._settled(job.run, other)

    def _settled(self, run: Run, trainer: Trainer) -> Trainer:
        """Returns the trainer; reassigns the device of a run settled while a cluster with GPUs was connected, if it trains here now."""
        if not trainer.lane:
            self.settle(run)
        return trainer

    def _lose(self, turn: Turn, seconds: float) -> None:
        job, run = turn.job, turn.job.run
        key = "runs.preparing_hung" if run.status == "preparing" else "runs.step_hung"
        event(log, "run_hung", logging.ERROR, run=run.id, name=run.name, owner=run.owner, step=run.step + 1, seconds=round(seconds, 1))
        said = {"step": run.step + 1, "seconds": f"{seconds:.0f}", "saved": run.checkpoint_step or run.first_step}
        job.give_up()
        self._run_lost(run, Refusal(key, **said))

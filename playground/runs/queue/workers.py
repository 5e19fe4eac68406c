"""The runs at work: one job each, a scheduler per device, and a watchdog for hung turns."""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from weakref import WeakKeyDictionary

from playground.config import Refusal
from playground.logs import event
from playground.runs.corpora import Corpora
from playground.runs.disk.store import Store
from playground.runs.engines import PREPARE_FACTOR, Trainer
from playground.runs.engines.choice import Engines
from playground.runs.limits import Limits
from playground.runs.machine_speed import execution_plan, warm_up_and_measure
from playground.runs.memory import Memory
from playground.runs.queue.jobs import TrainingJob
from playground.runs.queue.scheduler import Scheduler, Turn
from playground.runs.run import Run
from playground.runs.runtime import REAL, Loop, Runtime

log = logging.getLogger(__name__)
CHECK_PERIOD_S = 1.0  # seconds between two checks
TURN_FACTOR = 20  # times the run's longest turn so far, if that exceeds the timeout
DELETION_TIMEOUT_S, DELETION_FACTOR = 5.0, 5  # the same for a run that is being deleted
SAVE_TIMEOUT_S = 60.0  # seconds
CLOSE_TIMEOUT_S = 5.0  # seconds for turns to end when the server stops: the rest of ten is for saving


class Watchdog:
    """Checks every turn periodically, in the thread `loop`. A hung turn keeps its thread, which can't be killed, and without threads a
    server stands still. `lost` is called with each overdue turn, once its worker is replaced; `waits_for_disk` tells whether a thread waits
    for the disk, which is not a hang."""

    def __init__(
        self, schedulers: Iterable[Scheduler], seconds: float, waits_for_disk: Callable[[int], bool], lost: Callable[[Turn, float], object],
        runtime: Runtime = REAL,
    ) -> None:  # fmt: skip
        """`seconds` is the timeout of a step, unless the run's own have taken longer."""
        self._schedulers, self._seconds, self._waits_for_disk, self._lost = tuple(schedulers), seconds, waits_for_disk, lost
        self._last_disk_wait: WeakKeyDictionary[threading.Thread, float] = WeakKeyDictionary()  # when each thread last waited for the disk
        self._clock = runtime.monotonic
        self.loop = Loop(self.check_turns, "watchdog", min(CHECK_PERIOD_S, self._seconds / 2), runtime)

    def timeout(self, turn: Turn) -> float:
        """Returns the turn's timeout in seconds."""
        if turn.longest and getattr(turn.job, "is_dropped", False):
            return max(min(DELETION_TIMEOUT_S, self._seconds), DELETION_FACTOR * turn.longest)
        return max(self._seconds * (1 if turn.longest else PREPARE_FACTOR), TURN_FACTOR * turn.longest)

    def check_turns(self) -> None:
        """Checks all turns once."""
        now = self._clock()
        for scheduler in self._schedulers:
            for turn in scheduler.replace(lambda turn: self._is_overdue(turn, now)):
                self._lost(turn, now - turn.began)

    def _is_overdue(self, turn: Turn, now: float) -> bool:
        if self._waits_for_disk(turn.thread.ident):
            self._last_disk_wait[turn.thread] = now
        return now - max(turn.began, self._last_disk_wait.get(turn.thread, 0.0)) > self.timeout(turn)


class Workers:
    """Starts jobs, forwards orders to them, abandons hung ones, and shuts down in order."""

    def __init__(
        self, store: Store, corpora: Corpora, limits: Limits, memory: Memory, on_lost_run: Callable[[Run, Refusal], object],
        runtime: Runtime = REAL, engines: Callable[..., Engines] = Engines,
    ) -> None:  # fmt: skip
        """`on_lost_run` is called with a run whose step hangs, and the message; its thread may still write to the run object."""
        self._store, self._limits, self._on_lost_run, self._runtime = store, limits, on_lost_run, runtime
        self._jobs: dict[str, TrainingJob] = {}

        def warm_up(device: str) -> None:
            warm_up_and_measure(device)
            memory.ready()

        self._schedulers = {
            device: Scheduler(
                limits.cores if device == "cpu" else 1, limits.memory, limits.turn_seconds, partial(warm_up, device),
                lambda: memory.unaccounted, lambda node: self.engines.capacity(node), runtime,
            )
            for device in limits.devices
        }  # fmt: skip
        self._elsewhere = self._schedulers[limits.devices[0]]  # also gives the turns on other machines
        self.engines = engines(corpora, limits, self._elsewhere.grow, runtime)
        memory.reserve_by(lambda: sum(scheduler.reserved for scheduler in self._schedulers.values()))
        self._watchdog = Watchdog(self._schedulers.values(), limits.step_seconds, store.disk.is_awaited_by, self._handle_hang, runtime)

    def count(self) -> dict[str, int]:
        """Sums Scheduler.count over the devices; adds the living "watchdog" thread and training "processes" besides this one."""
        counts = Counter({"watchdog": int(self._watchdog.loop.alive), "processes": len(self.engines.ready)})
        for scheduler in self._schedulers.values():
            counts.update(scheduler.count())
        return dict(counts)

    def wake_workers(self) -> None:
        """Wakes the workers: a job has become urgent, or memory has been freed."""
        for scheduler in self._schedulers.values():
            scheduler.wake()

    def end_leaking_process(self) -> None:
        """Replaces a training process with a memory leak, when memory is short."""
        self.engines.end_leaking_process(list(self._jobs.values()))

    def assign_device(self, run: Run, new_runs: Sequence[Run] = ()) -> None:
        """Assigns the run a device and its execution plan, unless its device exists. Chooses the device with the fewest runs, `new_runs`
        included. May measure for a moment. A run in bfloat16 from another machine continues in float32 where that is faster."""
        devices = self.engines.devices
        if run.device not in devices:
            other_runs = [job.run for job in list(self._jobs.values())] + [other for other in new_runs if other is not run]
            run.device = min(devices, key=lambda device: sum(other.device == device for other in other_runs))
            plan = execution_plan(run.experiment, run.device)
            run.threads, run.precision = plan["threads"], plan["precision"]
        elif run.precision == "bfloat16":
            run.precision = execution_plan(run.experiment, run.device)["precision"]

    def busy(self, run: Run) -> bool:
        return run.id in self._jobs

    def start(self, run: Run, order: str, needed: int) -> None:
        """Creates the job of a run with a device and reserves `needed` bytes of memory. A run whose job can't be created can be resumed."""
        try:
            trainer = self._reassign_device(run, self.engines.trainer(run, needed, self._other_jobs(run)))
            job = TrainingJob(run, self._store, trainer, self._limits, needed, self._find_better, lambda: self._jobs.pop(run.id, None))
        except BaseException as error:
            run.obey("interrupt", Refusal("runs.failed", step=run.step, kind=type(error).__name__))
            raise
        job.ask(order)
        self._jobs[run.id] = job
        run.mark_seen()
        self._schedulers.get(run.device, self._elsewhere).add(job)

    def ask(self, run: Run, order: str, message: Refusal | None = None) -> bool:
        """Sends an order; `message` tells the owner why the run is stopped. Returns False when the run is not at work, or just over."""
        job = self._jobs.get(run.id)
        if job is None or not job.ask(order, message):
            return False
        self.wake_workers()
        return True

    def order(self, run: Run, order: str, message: Refusal | None = None) -> bool:
        """Has the run's job carry out an order; waits for a job that is just over until it has saved everything. Returns False once the run
        has no job. Raises Refusal on timeout."""
        while job := self._jobs.get(run.id):
            if job.ask(order, message):
                self.wake_workers()
                return True
            self._wait_for(job.done)
        return False

    def wait(self, run: Run) -> None:
        """Waits until an ending job has saved everything. Raises Refusal on timeout."""
        if job := self._jobs.get(run.id):
            self._wait_for(job.done)

    def save(self, run: Run) -> None:
        """Saves a run at work as it is now, and waits for it. Raises Refusal on timeout."""
        if job := self._jobs.get(run.id):
            self._wait_for(job.save_soon())

    def close(self) -> None:
        """Joins every thread but hung ones, then saves the runs at work, and ends the processes."""
        self._watchdog.loop.close()
        until = self._runtime.monotonic() + CLOSE_TIMEOUT_S
        for scheduler in self._schedulers.values():
            for job in scheduler.close(max(0.0, until - self._runtime.monotonic())):
                event(log, "run_left", logging.ERROR, run=job.run.id, name=job.run.name, step=job.run.step)
                job.abandon()
        for job in list(self._jobs.values()):
            job.interrupt()
        self.engines.close()

    def _wait_for(self, saved: threading.Event) -> None:
        if not self._runtime.wait(saved, SAVE_TIMEOUT_S):
            raise Refusal("runs.still_saving")

    def _other_jobs(self, run: Run) -> list[TrainingJob]:
        return [job for job in list(self._jobs.values()) if job.run is not run]

    def _find_better(self, job: TrainingJob) -> Trainer | None:
        other = self.engines.find_better_trainer(job.run, job.bytes, job.lane, self._other_jobs(job.run))
        return other and self._reassign_device(job.run, other)

    def _reassign_device(self, run: Run, trainer: Trainer) -> Trainer:
        """Returns the trainer; reassigns the device of a run begun while a cluster with GPUs was connected, if it trains here now."""
        if not trainer.lane:
            self.assign_device(run)
        return trainer

    def _handle_hang(self, turn: Turn, seconds: float) -> None:
        job, run = turn.job, turn.job.run
        key = "runs.preparing_hung" if run.status == "preparing" else "runs.step_hung"
        event(log, "run_hung", logging.ERROR, run=run.id, name=run.name, owner=run.owner, step=run.step + 1, seconds=round(seconds, 1))
        values = {"step": run.step + 1, "seconds": f"{seconds:.0f}", "saved": run.checkpoint_step or run.first_step}
        job.abandon()
        if run.working:  # otherwise its end is on disk or deferred, and only the release of its model hangs
            self._on_lost_run(run, Refusal(key, **values))

"""Starts runs: new ones, copies, and forks, which continue from a step of another run; and resumes them: at the owner's order;
automatically, those that a server stop cut off; and those whose step hangs, from the last save.

Copies and forks are made as files, so that they are complete on the disk before any request sees them. They inherit `secret`. Raises
Refusal without a token.

A run that was cut off resumes once a visitor returns for whom it trains: any viewer, the owner, or a class that has its room open. Such
runs resume one at a time, through the same admission as a click on Resume; those that a person paused or stopped are excluded. The run
itself may crash the server: one that has made no progress in saves.TRIES attempts waits for a person. When several were at work, each is
likelier to be innocent and has more attempts.
"""

import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from playground.config import Experiment, Refusal
from playground.logs import event, reason, refusals
from playground.runs.admission import Admission, bytes_needed
from playground.runs.disk.folder import Folder, pack_run
from playground.runs.disk.saves import count_tries
from playground.runs.disk.store import Store
from playground.runs.housekeeping import Housekeeper
from playground.runs.identity import new_id, owner_of
from playground.runs.orders import next_status
from playground.runs.queue.workers import Workers
from playground.runs.replay import Parameters
from playground.runs.run import Run
from playground.runs.runtime import REAL, Loop, Runtime, now

log = logging.getLogger(__name__)
RETRY_SECONDS = 5.0  # until a run that found no place is retried
RESUMING_MESSAGES = ("runs.interrupted", "runs.end_not_saved", "runs.earlier_save")  # a hung run waits for a person
FINAL_REFUSALS = ("runs.unknown", "runs.not_resumable")  # the run was deleted, or its status has changed

# Edits the parameters of a run at a step; returns them and the number of edits. May raise Refusal.
Change = Callable[[Run, int, Parameters], tuple[Parameters, int]]


def new_run(experiment: Experiment, token: str, **values: Any) -> Run:
    """Creates a run without a name and a device. Raises Refusal when its data are missing."""
    owner = _owner(token)
    if experiment.data.task == "own" and values.get("data") is None:
        raise Refusal("data.no_own_pairs")
    return Run(new_id(), "", experiment, owner, device="", **values)


def copy_run(folder: Folder, token: str) -> tuple[Run, dict[str, bytes]]:
    """Copies a folder's run for the caller; returns it, still unnamed, and its files. A run at work becomes paused, an interrupted one
    stopped, so that it doesn't resume automatically. Raises Refusal when it has no parameters yet."""
    owner = _owner(token)
    if not folder.has("weights.safetensors"):
        raise Refusal("runs.nothing_yet")
    run = folder.run
    status = next_status(run.status, "copy")
    run.message = run.message if status == run.status else None
    run.id, run.name, run.label, run.guess, run.owner, run.created, run.beside = new_id(), "", "", "", owner, now(), run.id
    run.status, run.shipped, run.sentences_shared, run.visited = status, False, False, False
    return run, folder.files()


def fork_run(folder: Folder, step: int | None, token: str, change: Change | None = None) -> tuple[Run, dict[str, bytes]]:
    """Creates the caller's fork from the saved parameters nearest to `step` (None: the newest), and its files, all from this one save;
    `change` is made to the parameters. Raises Refusal when it has no parameters yet.

    Step numbers continue, hence the learning rate too; history and replay up to there are the parent's. The last step is the parent's, or
    as many steps again when none are left. Live knobs keep their values; the optimiser state is restored if saved there, otherwise fresh.
    """
    source, file = folder.run, "state.safetensors"
    actual, parameters = source.parameters_at(step)
    newest = source.snapshot
    goes_on = folder.has(file) and (step is None or abs(newest.step - step) <= abs(actual - step))
    if goes_on:
        actual, parameters = newest.step, newest.parameters
    state = {file: folder.read(file)} if goes_on else {}
    parameters, edits = change(source, actual, parameters) if change else (parameters, 0)
    left = source.steps - actual
    experiment = source.experiment if left > 0 else source.experiment.with_(steps=actual + source.steps - source.first_step)
    run = new_run(
        experiment, token, data=source.pairs, credit=source.credit, secret=source.secret, parent=(source.id, actual), first_step=actual,
        step=actual, checkpoint_step=actual, live=source.live_at(actual), edits=edits,
    )  # fmt: skip
    history, replay = source.history.until(actual), source.replay.resume_at(actual, run.steps, parameters, edits > 0)
    run.parts |= {"history": history, "replay": replay, "tokenizers": source.tokenizers}
    return run, pack_run(run, parameters) | state


def _owner(token: str) -> str:
    if not token:
        raise Refusal("runs.no_token")
    return owner_of(token)


class Starter:
    """Saves new runs, makes them visible and starts them: all or none. Resumes runs through the same admission."""

    def __init__(self, admission: Admission, store: Store, workers: Workers, housekeeper: Housekeeper) -> None:
        self._admission, self._store, self._workers, self._housekeeper = admission, store, workers, housekeeper

    def start(self, new: list[Run], token: str, contents: dict[Run, dict[str, bytes]] | None = None, lab: str = "") -> list[Run]:
        """Registers new runs and starts them; `contents` are the files that each continues from. Raises Refusal."""
        def write(run: Run) -> None:
            self._workers.assign_device(run, new_runs=new)
            self._store.create(run, contents and contents[run])
            if contents:
                run.release()

        if not new:
            return []
        with refusals(log, "run_refused", owner=new[0].owner), self._admission.rules.beginning(new, token, lab):
            needed = {run.id: bytes_needed(run, self._workers.engines.memory) for run in new}
            return self._register(new, token, write, lambda run: self._workers.start(run, "train", needed[run.id]))

    def add_copy(self, run: Run, contents: dict[str, bytes], token: str) -> Run:
        """Registers a copy at rest with its files. Raises Refusal."""
        with refusals(log, "run_refused", owner=run.owner), self._admission.rules.beginning([run], token):
            return self._register([run], token, lambda run: self._store.save(run, contents), lambda run: run.mark_seen())[0]

    def _register(self, new: list[Run], token: str, write: Callable[[Run], object], begin: Callable[[Run], object]) -> list[Run]:
        """Saves new runs by `write`, then makes them visible: all or none."""
        for run in new:
            run.runtime = self._store.runtime
            run.mark_seen()
        self._housekeeper.stop_idle()
        self._housekeeper.retention.admit(self._admission.all(), new)
        self._housekeeper.save_statuses(self._admission.reserve(new, self._admission.rules.in_room(token)))
        try:
            for run in new:
                write(run)
        except BaseException as error:
            self._admission.release(new)
            for run in new:
                self._store.delete(run)
            if isinstance(error, OSError):
                event(log, "save_failed", logging.WARNING, error=reason(error))
                raise Refusal("runs.disk_full") from error
            raise
        for run in new:
            event(log, "run_made", run=run.id, name=run.name, owner=run.owner, task=run.experiment.data.task)
        self._admission.publish(new, begin)
        self._housekeeper.evict_overdue()
        return new

    def resume(self, run: Run, order: str, in_room: bool, message: Refusal | None = None) -> None:
        """Resumes a run by the order "train" or "step"; it then shows `message`. Raises Refusal."""
        if self._workers.order(run, order):  # it was about to pause
            return
        next_status(run.status, order)
        self.retry_save(run)
        needed = bytes_needed(run, self._workers.engines.memory)
        self._workers.assign_device(run)
        self._housekeeper.stop_idle()
        stopped_runs = []
        with self._admission.lock:
            if self._admission.runs.get(run.id) is not run:
                raise Refusal("runs.unknown")
            if run.working:  # another thread resumed it first
                return
            next_status(run.status, order)
            if run.status != "paused":
                stopped_runs = self._admission.check(run.owner, in_room=in_room)
            run.obey(order, message)
            self._workers.start(run, order, needed)
        self._housekeeper.save_statuses(stopped_runs)

    def resume_automatically(self, run: Run, in_room: bool) -> None:
        """Resumes a run that was cut off, which then tells how often it has resumed. Raises Refusal."""
        tries = count_tries(run.message, run.step) + 1
        self.resume(run, "train", in_room or self._admission.rules.shared(run), Refusal("runs.went_on", step=run.step, tries=tries))

    def retry_save(self, run: Run) -> None:
        """Retries a final save that failed. Raises Refusal when it fails again."""
        try:
            self._store.retry_save(run)
        except OSError as error:
            raise Refusal("runs.end_not_on_disk") from error

    def restore_last_save(self, run: Run, message: Refusal) -> None:
        """Marks a run whose step hangs as failed at once, then replaces it by its last save in the background, since the disk may be slow.

        A hung step can't be killed. The abandoned object, to which its thread may still write, is garbage once the turn ends.
        """
        run.eta, run.place = None, 0
        run.set_status("failed", message)
        run.runtime.spawn(partial(self._replace_by_last_save, run, message), "lost-run")

    def _replace_by_last_save(self, run: Run, message: Refusal) -> None:
        try:
            reloaded = self._store.reload(run)
            reloaded.version = run.version + 1
            reloaded.set_status("interrupted", message)
            with self._admission.lock:
                if self._admission.runs.get(run.id) is not run:  # deleted meanwhile
                    return
                self._admission.runs[run.id] = reloaded
            self._store.write_card(reloaded, "status", "message")
        except (Refusal, OSError) as error:
            log.warning("run %s (%s): its last save is not in its place: %s", run.name, run.id, error)


class CutOff:
    """Resumes interrupted runs, in a thread if there are any at the start. Thread-safe."""

    def __init__(self, admission: Admission, starter: Starter, wanted_seconds: float, runtime: Runtime = REAL) -> None:
        """A request expires after `wanted_seconds`."""
        self._admission, self._starter, self._seconds = admission, starter, wanted_seconds
        self._runs = {run.id: run for run in admission.all() if _may_resume(run)}
        self._requests: dict[str, tuple[float, bool]] = {}  # run id -> (deadline, whether in a room); FIFO
        self._lock, self._clock = threading.Lock(), runtime.monotonic
        self._loop = Loop(self.try_again, "cut-off", RETRY_SECONDS, runtime) if self._runs else None

    def request(self, id: str, in_room: bool = False) -> None:
        """Requests that this run resumes. Returns at once."""
        if id in self._runs:
            with self._lock:
                is_new = id not in self._requests
                self._requests[id] = self._clock() + self._seconds, in_room or self._requests.get(id, (0.0, False))[1]
            if is_new:
                self._loop.wake()

    def request_for_visitor(self, token: str) -> None:
        """Requests the runs of a visitor seen for the first time since the server started."""
        owner = owner_of(token)
        ids = [run.id for run in list(self._runs.values()) if run.owner == owner]
        in_room = bool(ids) and self._admission.rules.in_room(token)
        for id in ids:
            self.request(id, in_room)

    def request_for_rooms(self) -> None:
        """Requests the runs of classes that are present."""
        for run in list(self._runs.values()):
            if self._admission.rules.awaited(run):
                self.request(run.id, in_room=True)

    def close(self) -> None:
        """Stops and joins the thread."""
        if self._loop:
            self._loop.close()

    def try_again(self) -> None:
        """Resumes the requested runs for which there is a place."""
        for id, (deadline, in_room) in list(self._requests.items()):
            if not self._loop.closing and (self._clock() > deadline or self._try_resume(self._runs.get(id), in_room)):
                with self._lock:
                    del self._requests[id]

    def _try_resume(self, run: Run | None, in_room: bool) -> bool:
        """Resumes a run if possible; returns whether its request is settled: resumed, or refused for good."""
        if run is None:
            return True
        try:
            if _may_resume(run):  # unless it has been resumed meanwhile
                self._starter.resume_automatically(run, in_room)
        except Refusal as refusal:
            if refusal.key not in FINAL_REFUSALS:
                log.info("run %s (%s) does not go on yet: %s", run.name, run.id, refusal)
                return False
        except Exception:
            log.exception("run %s (%s) could not go on", run.name, run.id)
        del self._runs[run.id]
        return True


def _may_resume(run: Run) -> Any:
    return run.status == "interrupted" and not run.shipped and run.message and run.message.key in RESUMING_MESSAGES

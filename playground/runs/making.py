"""Creates and registers runs: new ones, copies, and forks, which continue from a step of another run.

Copies and forks are made as files, so that they are complete on the disk before any request sees them. They inherit `secret`. Raises
Refusal without a token.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from playground.config import Experiment, Refusal
from playground.logs import event, reason, refusals
from playground.runs.admission import Admission, bytes_needed
from playground.runs.disk.folder import Folder, pack_run
from playground.runs.disk.store import Store
from playground.runs.housekeeping import Housekeeper
from playground.runs.names import new_id, owner_of
from playground.runs.orders import next_status
from playground.runs.queue.workers import Workers
from playground.runs.run import Run
from playground.runs.runtime import now

log = logging.getLogger(__name__)


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
    run.id, run.name, run.label, run.owner, run.created, run.shipped, run.beside = new_id(), "", "", owner, now(), False, run.id
    run.status, run.sentences_shared, run.visited = status, False, False
    return run, folder.files()


def fork_run(folder: Folder, step: int | None, token: str) -> tuple[Run, dict[str, bytes]]:
    """Creates the caller's fork from the saved parameters nearest to `step` (None: the newest), and its files, all from this one save.
    Raises Refusal when it has no parameters yet.

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
    left = source.steps - actual
    experiment = source.experiment if left > 0 else source.experiment.with_(steps=actual + source.steps - source.first_step)
    run = new_run(
        experiment, token, data=source.pairs, credit=source.credit, secret=source.secret, parent=(source.id, actual), first_step=actual,
        step=actual, checkpoint_step=actual, live=source.live_at(actual),
    )  # fmt: skip
    history, replay = source.history.until(actual), source.replay.resume_at(actual, run.steps, parameters)
    run.parts |= {"history": history, "replay": replay, "tokenizers": source.tokenizers}
    return run, pack_run(run, parameters) | state


def _owner(token: str) -> str:
    if not token:
        raise Refusal("runs.no_token")
    return owner_of(token)


class Registration:
    """Saves new runs, makes them visible and starts them: all or none."""

    def __init__(self, admission: Admission, store: Store, workers: Workers, housekeeper: Housekeeper) -> None:
        self._admission, self._store, self._workers, self._housekeeper = admission, store, workers, housekeeper

    def start(self, new: list[Run], token: str, contents: dict[str, bytes] | None = None, lab: str = "") -> list[Run]:
        """Registers new runs, a fork with the files that it continues from, and starts them. Raises Refusal."""
        def write(run: Run) -> None:
            self._workers.assign_device(run, new_runs=new)
            self._store.create(run, contents)
            if contents:
                run.release()

        if not new:
            return []
        with refusals(log, "run_refused", owner=new[0].owner), self._admission.rules.beginning(new, token, lab):
            needed = {run.id: bytes_needed(run, self._workers.memory) for run in new}
            return self._register(new, token, write, lambda run: self._workers.start(run, "train", needed[run.id]))

    def add_copy(self, run: Run, token: str, contents: dict[str, bytes]) -> Run:
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

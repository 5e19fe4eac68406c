"""Saves a run at work: when, what, and the message if the disk refuses."""

import logging

from playground.config import Refusal
from playground.logs import event, reason
from playground.runs.disk.folder import Rest, pack_run
from playground.runs.disk.store import OWN_DATA, Store
from playground.runs.engines import Trainer
from playground.runs.limits import Limits
from playground.runs.orders import WORKING, allows
from playground.runs.run import Run

log = logging.getLogger(__name__)
SAVE_SHARE = 0.02  # maximum fraction of the training time; a large run is saved less often
TRANSIENT_MESSAGES = ("runs.not_saved", "runs.process_ended")  # messages that the next save makes obsolete


class Saving:
    """The saves of one job."""

    def __init__(self, run: Run, store: Store, limits: Limits) -> None:
        self.run, self.store, self.limits = run, store, limits
        self._since = self._cost = 0.0  # training seconds at the last save, and its duration
        self._failed = False  # whether the last save failed
        self._begun: float | None = None  # wall-clock start, until the first save: of thirty runs each trains a thirtieth of that time

    def begin(self) -> None:
        """Starts counting from the present state, which is saved."""
        self._since, self._begun = self.run.seconds, self.run.runtime.monotonic()

    @property
    def due(self) -> bool:
        if self._begun is not None and self.run.runtime.monotonic() - self._begun >= self.limits.save_seconds:
            return True
        return self.run.seconds - self._since >= max(self.limits.save_seconds, self._cost / SAVE_SHARE)

    @property
    def has_just_failed(self) -> bool:
        """Whether the last save failed and it is too soon to retry."""
        return self._failed and not self.due

    def save(self, trainer: Trainer | None, rest: Rest | None = None) -> Refusal | None:
        """Saves atomically: the model if there is a trainer, otherwise run.json only; `rest` is the upcoming status. Returns the message
        that goes with it.

        A full disk doesn't stop training: it is reported, and retried later.
        """
        run, started, before = self.run, self.run.runtime.monotonic(), self.run.checkpoint_step
        self._begun = None
        rest = rest or (run.status, self.lasting_message())
        contents, self._failed = self._contents(trainer, rest[0]) if trainer else {}, False
        try:
            if contents:
                run.checkpoint_step = run.step
                self.store.save(run, contents, OWN_DATA, rest)
            else:
                self.store.write_card(run, rest=rest)
        except OSError as error:
            event(log, "save_failed", logging.WARNING, run=run.id, name=run.name, error=reason(error))
            run.checkpoint_step, self._failed = before, True
            if trainer:  # otherwise the disk is up to date, and memory may not be
                run.hold()
            rest = rest[0], self._full_disk_message(contents, rest)
        self._cost, self._since = self.run.runtime.monotonic() - started, run.seconds
        return rest[1]

    def lasting_message(self) -> Refusal | None:
        """Returns the run's message unless a save makes it obsolete."""
        message = self.run.message
        return message if message and message.key not in TRANSIENT_MESSAGES else None

    def _full_disk_message(self, contents: dict[str, bytes], rest: Rest) -> Refusal | None:
        """Returns the message after a failed save. While the run trains, the next save retries; its end is written once there is space."""
        if rest[0] in WORKING:
            return rest[1] or Refusal("runs.not_saved")
        if not contents:
            return rest[1] or Refusal("runs.change_not_saved")
        self.store.defer_save(self.run, contents, rest)
        return Refusal("runs.end_not_on_disk")

    def _contents(self, trainer: Trainer, status: str) -> dict[str, bytes]:
        """Returns the run's files; none for non-finite parameters, about to be reported as diverged: the last save is better."""
        parameters = trainer.parameters()
        if not all(bool(tensor.isfinite().all()) for tensor in parameters.values()):
            return {}
        state = {"state.safetensors": trainer.state()} if allows(status, "train") else {}
        return pack_run(self.run, parameters) | state

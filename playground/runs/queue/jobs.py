"""A run's job: prepares it, trains in time slices, saves, and ends with a message that a person can understand."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import partial

import torch

from playground.config import Refusal
from playground.logs import event
from playground.runs.disk.folder import Rest
from playground.runs.disk.store import Store
from playground.runs.engines import Failed, Lost, Trainer, parts_of
from playground.runs.forecast import Pace
from playground.runs.limits import Limits
from playground.runs.orders import Orders, TurnAbandoned, next_status
from playground.runs.queue.parallel import ParallelMap
from playground.runs.queue.saving import Saving
from playground.runs.run import Run
from playground.training.loop import Diverged

log = logging.getLogger(__name__)
MAX_LOSSES = 2  # processes that may die while training a run between two saves


class TrainingJob(Orders):
    """Trains one run. Any thread may send orders (`ask`); only the worker with the turn acts, so a run has a single writer.

    Orders, saves and status are here; the model is in the trainer.
    """

    def __init__(
        self, run: Run, store: Store, trainer: Trainer, limits: Limits, bytes: int,
        find_better: Callable[[TrainingJob], Trainer | None] = lambda job: None, ended: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """`find_better` returns, at the start of a turn, the trainer to move to, or None."""
        super().__init__()
        self.run, self.store, self.trainer, self.limits, self.bytes = run, store, trainer, limits, bytes
        self.key, self.owner, self.cores, self._clock = run.id, run.owner, run.threads, run.runtime.monotonic
        self._find_better, self._ended = find_better, ended
        self._is_abandoned = False  # a turn hangs: the run no longer belongs to this job, whatever the turn returns
        self._losses = Counter()  # processes that died, by the step of the last save
        self._saving, self._last_update = Saving(run, store, limits), 0.0
        self._pace: Pace | None = None  # since this job began to train

    @property
    def place(self) -> int:
        return self.run.place

    @place.setter
    def place(self, place: int) -> None:
        run = self.run
        if place != run.place:
            run.place = place
            if place or (run.message and run.message.key == "runs.waits_for_memory"):
                run.message = Refusal("runs.waits_for_memory", needed=f"{self.bytes / 2**20:,.0f}") if place else None
            run.touch()

    @property
    def left(self) -> float:
        """Estimated training seconds until the end, from the mean speed."""
        run = self.run
        return run.seconds / run.step * (run.steps - run.step) if run.step else math.inf

    @property
    def lane(self) -> Hashable | None:
        return self.trainer.lane

    @property
    def node(self) -> Hashable | None:
        return self.lane and self.lane.node

    def turn(self, seconds: float, parallel_map: ParallelMap = map) -> bool:
        """Trains for about `seconds`, in the worker's thread. Returns whether another turn is needed."""
        if self._is_over:
            return False
        torch.set_num_threads(1)  # affects this thread only
        self.trainer.parallel_map = parallel_map
        try:
            return self._work(seconds)
        except Lost as lost:
            return not self._is_abandoned and self._recover(lost)

    def _work(self, seconds: float) -> bool:
        try:
            self._train(self._clock() + seconds)
            return not self._is_over and self._execute_order()
        except Lost:
            raise
        except TurnAbandoned:
            return False
        except Diverged as error:
            return self._end_safely("diverged", Refusal("runs.diverged", step=error.step))
        except BaseException as error:  # SystemExit within a step ends that step only
            return self._end_safely("failed", self._explain(error))

    def _train(self, until: float) -> None:
        """Trains until the time is over, the run is done, or another order arrives."""
        if self._move_if_better():  # the new trainer may need another turn's core
            return
        if not self._prepared and not self.urgent:
            self._prepare()
        while not self.urgent:
            goes_on = self.trainer.advance(until - self._clock(), self._order == "step")
            self._check_abandoned()
            if not goes_on:
                self._end("done", self._saving.lasting_message())
                return
            if self._order == "step":
                self.ask("pause")
            self._do_upkeep()
            if self._clock() >= until:
                return

    def _prepare(self) -> None:
        self.run.set_status("preparing", self.run.message)
        if self._order == "train":
            with suppress(OSError):  # after a restart it would be where it was before it was resumed
                self.store.save_at_work(self.run)
        self.trainer.prepare(partial(self.store.read, self.run))
        self._check_abandoned()
        self._prepared = True
        self._saving.begin()
        self.run.set_status("training", self.run.message)

    def _move_if_better(self) -> bool:
        """Moves to a better trainer, through a save, which changes no result. Returns whether it moves."""
        other = None if self.urgent or self._saving.has_just_failed else self._find_better(self)
        if other and self._prepared:
            self.run.message = self._save()
            if self.run.checkpoint_step != self.run.step:
                return False
        if other:
            self.trainer.close()
            self.trainer, self._prepared = other, False
        return other is not None

    def _recover(self, lost: Lost) -> bool:
        """Rolls back to the last save after the model was lost, unless the run has cost too many processes."""
        try:
            self._roll_back()
            self._losses[self.run.step] += lost.guilty
            if self._losses[self.run.step] > MAX_LOSSES:
                return self._end("failed", Refusal("runs.process_lost", step=self.run.step))
        except BaseException as error:
            return self._end_safely("failed", self._explain(error))
        event(log, "process_lost", logging.WARNING, run=self.run.id, name=self.run.name, step=self.run.step)
        with self._lock:
            self._is_over = False
        self.run.set_status("queued", Refusal("runs.process_ended", step=self.run.step))
        return True

    def _roll_back(self) -> None:
        """Rolls the run back to its last save."""
        run, self._prepared, self._pace = self.run, False, None
        save, parts = self.store.read(run, lambda folder: (folder.run, parts_of(folder)))
        run.hold(**parts)
        run.step, run.seconds, run.checkpoint_step, run.eta = save.step, save.seconds, save.checkpoint_step, None
        run.marks.clear()  # rows already sent to readers no longer exist
        self._notify_saved()

    def _do_upkeep(self) -> None:
        """Updates the remaining time, saves when due, and stops a run without viewers, between two steps."""
        run, now = self.run, self._clock()
        if self._pace is None:
            self._pace, self._last_update = Pace(now, run.step), now
        if now - self._last_update >= 0.25:
            self._pace.record(now, run.step)
            run.eta = self._pace.estimate_left(run.steps - run.step)
            self._last_update = now
            run.touch()
        if self._save_event or self._saving.due:
            run.message = self._save()
            self._notify_saved()
        if run.unseen_seconds > self.limits.idle_seconds:
            self.ask("stop", self.limits.idle_message(run.step))

    def _execute_order(self) -> bool:
        """Carries out the pending order. Returns whether training continues."""
        with self._lock:
            order, message, self._is_over = self._order, self._message, self.urgent
        if order == "drop":
            return self._close()
        return self._end(next_status(self.run.status, order), message) if self._is_over else True

    def _end(self, status: str, message: Refusal | None = None) -> bool:
        """Ends or pauses: last frame, final save, model released."""
        with self._lock:
            self._is_over = True
        run = self.run
        run.eta, run.place = None, 0
        if self._prepared and status == "paused":
            self.trainer.show()
        elif self._prepared and status in ("done", "stopped", "diverged"):
            self.trainer.finish()
        self._check_abandoned()
        run.set_status(status, self._save((status, message)))
        return self._close()

    def _end_safely(self, status: str, message: Refusal) -> bool:
        """Ends the run even if ending it fails."""
        if self._is_abandoned:
            return False
        try:
            return self._end(status, message)
        except Lost:
            raise
        except TurnAbandoned:
            return False
        except BaseException as error:
            self.run.set_status("failed", self._explain(error))
            return self._close()

    def _explain(self, error: BaseException) -> Refusal:
        """Returns the message for an error; details are logged."""
        if isinstance(error, Refusal):
            return error
        event(log, "training_error", logging.ERROR, error, run=self.run.id, name=self.run.name, step=self.run.step)
        if isinstance(error, MemoryError) or "allocate memory" in str(error) or "out of memory" in str(error):
            return Refusal("runs.out_of_memory", step=self.run.step)
        return Refusal("runs.failed", step=self.run.step, kind=error.kind if isinstance(error, Failed) else type(error).__name__)

    def interrupt(self) -> None:
        """Saves the run for a server stop, once no worker has the job. A pending order of the owner is carried out."""
        if not self._is_over:
            self._is_over = True
            self.run.eta, self.run.place = None, 0
            try:
                self._interrupt()
            except Lost:
                self._roll_back()
                self._interrupt()
            self._close()

    def _interrupt(self) -> None:
        order, message = self._order, self._message
        if order not in ("pause", "step", "stop"):
            order, message = "interrupt", Refusal("runs.interrupted", step=self.run.step)
        status = next_status(self.run.status, order)
        self.run.set_status(status, self._save((status, message)))

    def abandon(self) -> None:
        """Abandons a hung turn. Its thread may still write to the run object, which must have no other user by then; it can't write to the
        disk."""
        with self._lock:
            self._is_abandoned = self._is_over = True
        self.trainer.abort()
        self._close()
        self._ended = lambda: None

    def _check_abandoned(self) -> None:
        if self._is_abandoned:
            raise TurnAbandoned

    def _save(self, rest: Rest | None = None) -> Refusal | None:
        return self._saving.save(self.trainer if self._prepared else None, rest)

    def _close(self) -> bool:
        """Releases the model. Returns False: no further turn is needed."""
        self.trainer.close()
        self._prepared = False
        self._ended()  # before `done` is set: after that the run may have another job
        self.done.set()
        self._notify_saved()
        return False

"""All runs of this server: the interface for the page and its routes. Every call that changes a run takes the caller's token."""

from __future__ import annotations

import atexit
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from playground.config import LIVE_KNOBS, Experiment, Refusal, check
from playground.logs import event, reason, refusals
from playground.reading.uploads import Pairs
from playground.runs.admission import Admission, bytes_needed
from playground.runs.corpora import Corpora
from playground.runs.cut_off import CutOff, said_again
from playground.runs.disk.folder import Folder
from playground.runs.disk.store import Store, read_shipped
from playground.runs.engines.choice import Engines
from playground.runs.heap import share_arenas
from playground.runs.housekeeping import Housekeeper
from playground.runs.limits import Limits
from playground.runs.lost import put_back
from playground.runs.making import copied, forked, new_run
from playground.runs.memory import Memory
from playground.runs.names import clean_label, owner_of, owns
from playground.runs.queue.workers import Workers
from playground.runs.retention import Retention, Share
from playground.runs.rules import Rules
from playground.runs.run import Run
from playground.runs.runtime import REAL, Runtime
from playground.runs.tables import runs_table
from playground.runs.updates import Updates
from playground.runs.visitors import Visitors

log = logging.getLogger(__name__)
_PACKAGE, _ROOT = Path(__file__).parents[1:3]
# The shipped runs: inside the package when installed, beside it in a clone.
SHIPPED = (_PACKAGE if (_PACKAGE / "checkpoints").is_dir() else _ROOT) / "checkpoints"


class Runs:
    """Thread-safe. A visitor's ids are looked up, never joined to a path; tokens are compared by hash, in constant time."""

    table = staticmethod(runs_table)

    def __init__(
        self, folder: Path | None = None, shipped: Path | None = SHIPPED, limits: Limits | None = None, runtime: Runtime = REAL,
        engines: Callable[..., Engines] = Engines,
    ) -> None:  # fmt: skip
        """Loads the shipped runs and those saved in `folder` (wanted_folder() when None), and starts the workers. `runtime` provides clocks
        and threads, `engines` creates the training engines."""
        share_arenas()
        self.limits, self.rules = limits or Limits.from_environment(), Rules()
        self.corpora, self.updates, self.store = Corpora(), Updates(), Store(folder, runtime)
        self._shipped, self._runtime = shipped, runtime
        self.visitors = Visitors(self._came)
        known = (*read_shipped(shipped), *self.store.read_all())
        self._admission = Admission(known, self.limits, self.visitors, self._in_room)
        self._retention = Retention(self.limits, self.store.disk_size, self._in_room, runtime.date, lambda: self.store.others)
        self.memory = Memory(self.limits.memory)
        for name, share in {"corpora": self.corpora, "updates": self.updates}.items():
            self.memory.add(name, *share.caches)
        self._workers = Workers(self.store, self.corpora, self.limits, self.memory, self._put_back, runtime, engines)
        self._housekeeper = Housekeeper(self._admission, self._workers, self.store, self.limits, self._retention, self.memory, runtime)
        self._cut_off = CutOff(known, self.limits.idle_seconds, self._go_on_again, runtime)
        self._housekeeper.also(self._look_after_rooms)
        atexit.register(self.close)

    def create(
        self, experiment: Experiment, token: str, pairs: Pairs | None = None, credit: str = "", label: str = "", beside: str = "",
        sentences_shared: bool = False,
    ) -> Run:  # fmt: skip
        """Creates and queues a run, to be compared with the run `beside`. Raises Refusal: too large for the machine, too many unfinished
        runs, no data for task "own"."""
        credit = credit or (pairs.credit if pairs else "")
        values = {"data": pairs, "credit": credit, "label": clean_label(label), "beside": beside, "sentences_shared": sentences_shared}
        return self._begin([new_run(experiment, token, **values)], token)[0]

    def create_all(
        self, experiments: Sequence[Experiment], token: str, labels: Sequence[str], secret: bool = False, lab: str = ""
    ) -> list[Run]:
        """Creates runs of generated tasks, to be compared with the first: all or none. `lab` names the lab of which they are the arms.
        Raises Refusal."""
        named = zip(experiments, labels, strict=True)
        new = [new_run(experiment, token, label=clean_label(label), secret=secret) for experiment, label in named]
        for run in new[1:]:
            run.beside = new[0].id
        return self._begin(new, token, lab=lab)

    def repeat(self, id: str, seeds: Sequence[int], token: str) -> list[Run]:
        """Creates one run for each of other `seeds` with a run's settings and sentences, from step 0: all or none. Allowed for any run
        whose sentences the caller may see. Raises Refusal."""
        source = self.require_reader(id, token)
        values = {"data": source.pairs, "credit": source.credit, "secret": source.secret, "beside": source.id}
        return self._begin([new_run(source.experiment.with_(seed=seed), token, **values) for seed in seeds], token)

    def get(self, id: str) -> Run:
        """Returns the run of an id. Raises Refusal when it is unknown, or its folder can't be read."""
        run = self.find(id)
        if run is None:
            known = self.store.unreadable.get(id, Refusal("runs.unknown"))
            raise Refusal(known.key, **known.values)
        return run

    def find(self, id: str) -> Run | None:
        """Returns the run of an id, regardless of its owner, since ids can't be guessed; None when it is unknown or deleted."""
        return self._admission.runs.get(id)

    def shipped(self) -> list[Run]:
        """Lists the shipped runs; first the one shown to new visitors, whose attention follows the reading order."""
        return sorted((run for run in self._admission.all() if run.shipped), key=lambda run: (run.id != "german_english", run.id))

    def mine(self, token: str) -> list[Run]:
        """Lists the caller's runs, newest first."""
        return sorted((run for run in self._admission.all() if owns(run.owner, token)), key=lambda run: -run.created)

    def made_of(self, own: str) -> list[Run]:
        """Lists the runs trained on the uploaded data with this id, of any owner."""
        return [run for run in self._admission.all() if own and run.experiment.data.own == own]

    def share_sentences(self, id: str, token: str, shared: bool) -> None:
        """Makes uploaded sentences readable with the run's link, or private again."""
        run = self._mine(id, token)
        run.sentences_shared = shared
        run.touch()
        self._note(run, "sentences_shared")

    def owns(self, id: str, token: str) -> bool:
        return owns(self.get(id).owner, token)

    def require_owner(self, id: str, token: str) -> Run:
        """Returns the caller's run. Raises Refusal, the same for an unknown run and for another owner's."""
        run = self.find(id)
        if run is None and id in self.store.unreadable:
            return self.get(id)
        if run is None or not owns(run.owner, token):
            raise Refusal("runs.not_yours")
        return run

    def require_reader(self, id: str, token: str) -> Run:
        """Returns a run whose sentences the caller may see. Raises Refusal."""
        run = self.get(id)
        if not run.may_be_read_by(token):
            raise Refusal("runs.sentences_private")
        return run

    def pause(self, id: str, token: str) -> None:
        """Pauses at the end of the present step. Raises Refusal when the run isn't at work."""
        if not self._workers.ask(self._mine(id, token), "pause"):
            raise Refusal("runs.not_at_work")

    def stop(self, id: str, token: str) -> None:
        """Stops at the end of the present step; the run is saved and can be resumed. Raises Refusal when it isn't at work."""
        self._stop(self._mine(id, token))

    def stop_for_operator(self, id: str) -> None:
        """Stops a run of any owner, and tells the owner that the operator did it."""
        run = self.get(id)
        event(log, "operator_stopped", logging.WARNING, run=run.id, name=run.name, owner=run.owner)
        self._stop(run, Refusal("runs.operator_stopped", step=run.step))

    def resume(self, id: str, token: str) -> None:
        """Resumes a run exactly where it was saved. Raises Refusal when it can't."""
        self._go_on(self._mine(id, token), "train", self.rules.in_room(token))

    def step_once(self, id: str, token: str) -> None:
        """Trains one step, then pauses the run."""
        self._go_on(self._mine(id, token), "step", self.rules.in_room(token))

    def delete(self, id: str, token: str) -> None:
        """Deletes the run and all its files."""
        self._delete(self._mine(id, token))

    def rename(self, id: str, token: str, label: str) -> None:
        """Changes the label: text, at most LABEL characters."""
        run = self._mine(id, token)
        run.label = clean_label(label)
        run.touch()
        self._note(run, "label")

    def hand_over(self, token: str, to: str) -> None:
        """Transfers the caller's runs to the holder of the token `to`."""
        for run in self.mine(token):
            run.owner = owner_of(to)
            run.touch()
            self._note(run, "owner")

    def set_live(self, id: str, token: str, knob: str, value: Any) -> None:
        """Changes a live knob from the next step on. Raises Refusal for any other knob, a value outside its range, or an ended run."""
        run = self._mine(id, token)
        if knob not in LIVE_KNOBS:
            raise Refusal("runs.not_live", name=str(knob)[:40], names=tuple(LIVE_KNOBS))
        value = check(knob, value)
        self.rules.changing(token, knob, value)
        if not (run.unfinished or run.resumable):
            raise Refusal("runs.ended")
        with self._admission.lock:
            run.live = run.live | {knob: value}
        run.touch()
        if not run.working:
            self._note(run, "live")

    def fork(self, id: str, step: int | None, token: str) -> Run:
        """Creates a run that continues from the saved parameters nearest to `step` (see run.parent and making.py). Allowed for any run
        whose sentences the caller may see. Raises Refusal when none are saved yet."""
        source = self.require_reader(id, token)
        run, contents = self._saved(source, lambda folder: forked(folder, step, token))
        return self._begin([run], token, contents)[0]

    def copy(self, id: str, token: str) -> Run:
        """Copies the run as it is now for the caller, see making.py. Allowed for any run whose sentences the caller may see. Raises Refusal
        when nothing is saved yet."""
        source = self.require_reader(id, token)
        run, contents = self._saved(source, lambda folder: copied(folder, token))
        with refusals(log, "run_refused", owner=run.owner), self.rules.beginning([run], token):
            return self._enter([run], token, lambda run: self.store.save(run, contents), lambda run: run.seen())[0]

    def seen(self, id: str, token: str = "") -> None:
        """Records a view of this run, by the token's holder if known. A run that was cut off resumes."""
        self.get(id).seen(token)
        self._cut_off.want(id)

    def kept(self) -> list[Run]:
        """Lists all runs but the shipped ones."""
        return [run for run in self._admission.all() if not run.shipped]

    def share(self, token: str) -> Share:
        """Returns the caller's disk usage, and which run is evicted first."""
        return self._retention.share(self._admission.all(), token)

    def update(self, run: Run, since: int = 0) -> tuple[bytes, int]:
        """Returns (JSON of the changes since version `since`, the version for the next request); the bytes are shared by equal requests.

        {"version", "from": row of the history where this increment begins (0: replace all rows), "rows": {column: [...]},
         "id", "name", "status", "resumable", "message": {language: sentence} | null, "trouble": whether the message reports a
         problem, "step", "steps", "seconds", "place",
         "eta": [from, to] | null, "live": {knob: value}, "checkpoint_step", "threads", "device", "where": see Run}, and, where changed:
        {"validations": {column: [...]}, "events": [[step, knob, value]], "replay": [steps], "parameter_steps": [steps]}
        """
        return self.updates.get(run, since)

    @property
    def cluster(self) -> dict[str, Any]:
        """See Workers.cluster."""
        return self._workers.cluster

    def counted(self) -> dict[str, int]:
        """Returns the counts of Workers.count, of "kept" and "unfinished" runs, and whether the "housekeeper" lives and found the server
        "full"."""
        kept = [run for run in self._admission.all() if not run.shipped]
        found = {"kept": len(kept), "unfinished": sum(run.unfinished for run in kept)}
        return self._workers.count() | found | {"housekeeper": int(self._housekeeper.alive), "full": int(self._housekeeper.full)}

    def every_round(self, duty: Callable[[], object]) -> None:
        """Adds a task to the housekeeping thread, run every few seconds and at the end."""
        self._housekeeper.also(duty)

    def close(self) -> None:
        """Saves the runs at work, then stops and joins every thread. Idempotent. A live torch thread would abort the interpreter."""
        atexit.unregister(self.close)
        self._cut_off.close()
        self._housekeeper.close()
        self._workers.close()
        self.store.close()

    def _stop(self, run: Run, message: Refusal | None = None) -> None:
        if self._workers.ask(run, "stop", message):
            return
        self._workers.wait(run)
        with self._admission.lock:
            if run.status != "paused":
                raise Refusal("runs.not_at_work")
            run.say("stopped", message)
        self._note(run, "status", "message")

    def _saved(self, run: Run, use: Callable[[Folder], Any]) -> Any:
        """Returns `use(folder)` of the run, saved as it is now; the folder is locked meanwhile."""
        self._workers.save(run)
        self._write_waiting(run)
        return self.last_save(run, use)

    def last_save(self, run: Run, use: Callable[[Folder], Any]) -> Any:
        """Returns `use(folder)` of the run's last save, which may be old; the folder is locked meanwhile."""
        return use(Folder(self._shipped / run.id, run.id)) if run.shipped else self.store.read(run, use)

    def _put_back(self, run: Run, message: Refusal) -> None:
        put_back(run, message, self._admission, self.store)

    def _in_room(self, run: Run) -> bool:
        """Returns whether a class depends on the run. Reads `rules` late: a server replaces them after loading its runs."""
        return self.rules.shared(run)

    def _write_waiting(self, run: Run) -> None:
        """Retries a final save that failed. Raises Refusal when it fails again."""
        try:
            self.store.write_waiting(run)
        except OSError as error:
            raise Refusal("runs.end_not_on_disk") from error

    def _mine(self, id: str, token: str) -> Run:
        """Returns the caller's run to be changed, which counts as a view."""
        run = self.require_owner(id, token)
        run.seen()
        return run

    def _begin(self, new: list[Run], token: str, contents: dict[str, bytes] | None = None, lab: str = "") -> list[Run]:
        """Registers new runs, a fork with the files that it continues from, and starts them."""
        def write(run: Run) -> None:
            self._workers.settle(run, beside=new)
            self.store.create(run, contents)
            if contents:
                run.release()

        if not new:
            return []
        with refusals(log, "run_refused", owner=new[0].owner), self.rules.beginning(new, token, lab):
            needed = {run.id: bytes_needed(run, self._workers.memory) for run in new}
            return self._enter(new, token, write, lambda run: self._workers.start(run, "train", needed[run.id]))

    def _enter(self, new: list[Run], token: str, write: Callable[[Run], object], begin: Callable[[Run], object]) -> list[Run]:
        """Saves new runs by `write`, then makes them visible: all or none."""
        for run in new:
            run.runtime = self._runtime
            run.seen()
        self._housekeeper.stop_idle()
        self._retention.admit(self._admission.all(), new)
        self._housekeeper.note(self._admission.reserve(new, self.rules.in_room(token)))
        try:
            for run in new:
                write(run)
        except BaseException as error:
            self._admission.release(new)
            for run in new:
                self.store.delete(run)
            if isinstance(error, OSError):
                event(log, "save_failed", logging.WARNING, error=reason(error))
                raise Refusal("runs.disk_full") from error
            raise
        for run in new:
            event(log, "run_made", run=run.id, name=run.name, owner=run.owner, task=run.experiment.data.task)
        self._admission.enter(new, begin)
        self._housekeeper.retire()
        return new

    def _go_on(self, run: Run, order: str, in_room: bool, message: Refusal | None = None) -> None:
        """Resumes a run, which then shows `message`."""
        if self._workers.ask(run, order):  # it was about to pause
            return
        self._workers.wait(run)
        if not (run.resumable or run.working):
            raise Refusal("runs.not_resumable")
        self._write_waiting(run)
        needed = bytes_needed(run, self._workers.memory)
        self._workers.settle(run)
        self._housekeeper.stop_idle()
        gone = []
        with self._admission.lock:
            if self._admission.runs.get(run.id) is not run:
                raise Refusal("runs.unknown")
            if run.working:  # another thread resumed it first
                return
            if not run.resumable:
                raise Refusal("runs.not_resumable")
            if run.status != "paused":
                gone = self._admission.check(run.owner, in_room=in_room)
            run.say("queued", message)
            self._workers.start(run, order, needed)
        self._housekeeper.note(gone)

    def _go_on_again(self, run: Run, in_room: bool) -> None:
        """Resumes a run that was cut off."""
        self._go_on(run, "train", in_room or self._in_room(run), said_again(run))

    def _came(self, token: str) -> None:
        """Resumes the cut-off runs of a visitor seen for the first time since the server started."""
        mine = self._cut_off.of(owner_of(token))
        in_room = bool(mine) and self.rules.in_room(token)
        for id in mine:
            self._cut_off.want(id, in_room)

    def _look_after_rooms(self) -> None:
        """Resumes the cut-off runs of classes that are present."""
        for run in self._cut_off.all():
            if self.rules.awaited(run):
                self._cut_off.want(run.id, in_room=True)

    def _note(self, run: Run, *names: str) -> None:
        """Saves changed fields of a run. Raises Refusal when the disk refuses; the change lasts as long as the server."""
        try:
            self.store.note(run, *names)
        except OSError as error:
            event(log, "save_failed", logging.WARNING, run=run.id, name=run.name, what=",".join(names), error=reason(error))
            raise Refusal("runs.change_not_saved") from error

    def _delete(self, run: Run) -> None:
        gone = False
        while not gone:  # retries when a thread resumes it in between
            self._workers.ask(run, "drop")
            self._workers.wait(run)
            gone = self._admission.leave(run, self._workers.busy)
        self.store.delete(run)
        event(log, "run_deleted", run=run.id, name=run.name, owner=run.owner)

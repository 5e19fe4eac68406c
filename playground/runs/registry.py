"""All runs of this server: the interface for the page and its routes. Every call that changes a run takes the caller's token."""

import atexit
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from playground.config import LIVE_KNOBS, Experiment, Refusal, check
from playground.logs import event, reason
from playground.reading.pairs import Pairs
from playground.runs.admission import Admission, Rules, Visitors
from playground.runs.corpora import Corpora
from playground.runs.disk.folder import Folder
from playground.runs.disk.store import SHIPPED, Store, read_shipped
from playground.runs.engines.choice import Engines
from playground.runs.housekeeping import DiskShare, Housekeeper
from playground.runs.identity import clean_label, owner_of, owns
from playground.runs.incoming import open_zip, tune_again, tune_run
from playground.runs.limits import Limits
from playground.runs.memory import Memory, share_arenas
from playground.runs.orders import next_status
from playground.runs.queue.workers import Workers
from playground.runs.run import Run
from playground.runs.runtime import REAL, Runtime
from playground.runs.starter import Change, CutOff, Starter, copy_run, fork_run, new_run
from playground.runs.tables import Updates, runs_table

log = logging.getLogger(__name__)


class Runs:
    """Thread-safe. A visitor's ids are looked up, never joined to a path; tokens are compared by hash, in constant time."""

    table = staticmethod(runs_table)

    def __init__(
        self, folder: Path | None = None, shipped: Path | None = SHIPPED, limits: Limits | None = None, runtime: Runtime = REAL,
        engines: Callable[..., Engines] = Engines,
    ) -> None:  # fmt: skip
        """Loads the shipped runs and those saved in `folder` (default_folder() if None), and starts the workers. `runtime` provides clocks
        and threads, `engines` creates the training engines."""
        share_arenas()
        self.limits = limits or Limits.from_environment()
        self.corpora, self.updates, self.store, self._shipped = Corpora(), Updates(), Store(folder, runtime), shipped
        self.visitors = Visitors(lambda token: self._cut_off.request_for_visitor(token))
        self._admission = Admission((*read_shipped(shipped), *self.store.read_all()), self.limits, self.visitors)
        self.memory = Memory(self.limits.memory)
        for name, share in {"corpora": self.corpora, "updates": self.updates}.items():
            self.memory.add(name, *share.caches)
        self._workers = Workers(
            self.store, self.corpora, self.limits, self.memory, lambda run, message: self._starter.restore_last_save(run, message),
            runtime, engines,
        )  # fmt: skip
        self._housekeeper = Housekeeper(self._admission, self._workers, self.store, self.limits, self.memory, runtime)
        self._starter = Starter(self._admission, self.store, self._workers, self._housekeeper)
        self._cut_off = CutOff(self._admission, self._starter, self.limits.idle_seconds, runtime)
        self._housekeeper.add_task(self._cut_off.request_for_rooms)
        atexit.register(self.close)

    @property
    def rules(self) -> Rules:
        """Hooks by which other parts of a server restrict runs."""
        return self._admission.rules

    @rules.setter
    def rules(self, rules: Rules) -> None:
        self._admission.rules = rules

    def create(
        self, experiment: Experiment, token: str, pairs: Pairs | None = None, credit: str = "", label: str = "", compared_to: str = "",
        sentences_shared: bool = False,
    ) -> Run:  # fmt: skip
        """Creates and queues a run, to be compared with the run `compared_to`. Raises Refusal: too large for the machine, too many
        unfinished runs, no data for task "own"."""
        values = {"data": pairs, "label": clean_label(label), "beside": compared_to, "sentences_shared": sentences_shared}
        return self._starter.start([new_run(experiment, token, credit=credit or (pairs.credit if pairs else ""), **values)], token)[0]

    def create_all(
        self, experiments: Sequence[Experiment], token: str, labels: Sequence[str], secret: bool = False, lab: str = "", guess: str = ""
    ) -> list[Run]:
        """Creates runs of tasks, to be compared with the first: all or none; or the arms of a `lab`, with its guess. Raises Refusal."""
        named = zip(experiments, labels, strict=True)
        new = [new_run(experiment, token, label=clean_label(label), secret=secret, guess=guess) for experiment, label in named]
        for run in new[1:]:
            run.beside = new[0].id
        return self._starter.start(new, token, lab=lab)

    def repeat(self, id: str, seeds: Sequence[int], token: str) -> list[Run]:
        """Creates one run for each of other `seeds` with a run's settings, sentences and base, from step 0: all or none. Allowed for a run
        whose sentences the caller may see. Raises Refusal."""
        source = self.require_reader(id, token)
        wanted = [source.experiment.with_(seed=seed) for seed in seeds]
        if source.base:
            if self.find(base := source.base[0]) is None:
                raise Refusal("runs.base_gone", name=source.name)
            return self._start_from(base, token, lambda folder: [tune_again(folder, source, each, token) for each in wanted])
        values = {"data": source.pairs, "credit": source.credit, "secret": source.secret, "beside": source.id}
        return self._starter.start([new_run(each, token, **values) for each in wanted], token)

    def get(self, id: str) -> Run:
        """Returns the run of an id. Raises Refusal when it is unknown, or its folder can't be read."""
        run = self.find(id)
        if run is None:
            error = self.store.unreadable.get(id, Refusal("runs.unknown"))
            raise Refusal(error.key, **error.values)
        return run

    def find(self, id: str) -> Run | None:
        """Returns the run of an id, regardless of its owner, since ids can't be guessed; None when it is unknown or deleted."""
        return self._admission.runs.get(id)

    def shipped(self) -> list[Run]:
        """Lists the shipped runs; first the one shown to new visitors, whose attention follows the reading order."""
        return sorted((run for run in self._admission.all() if run.shipped), key=lambda run: (run.id != "german_english", run.id))

    def list_owned(self, token: str) -> list[Run]:
        """Lists the caller's runs, newest first."""
        return sorted((run for run in self._admission.all() if owns(run.owner, token)), key=lambda run: -run.created)

    def find_by_data(self, own: str) -> list[Run]:
        """Lists the runs trained on the uploaded data with this id, of any owner."""
        return [run for run in self._admission.all() if own and run.experiment.data.own == own]

    def share_sentences(self, id: str, token: str, shared: bool) -> None:
        """Makes uploaded sentences readable with the run's link, or private again."""
        self._set_field(self._get_owned(id, token), "sentences_shared", shared)

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
        self._order(self._get_owned(id, token), "pause")

    def stop(self, id: str, token: str) -> None:
        """Stops at the end of the present step; the run is saved and can be resumed. Raises Refusal when it isn't at work."""
        self._order(self._get_owned(id, token), "stop")

    def stop_for_operator(self, id: str) -> None:
        """Stops a run of any owner, and tells the owner that the operator did it."""
        run = self.get(id)
        event(log, "operator_stopped", logging.WARNING, run=run.id, name=run.name, owner=run.owner)
        self._order(run, "stop", Refusal("runs.operator_stopped", step=run.step))

    def resume(self, id: str, token: str) -> None:
        """Resumes a run exactly where it was saved. Raises Refusal when it can't."""
        self._starter.resume(self._get_owned(id, token), "train", self.rules.in_room(token))

    def step_once(self, id: str, token: str) -> None:
        """Trains one step, then pauses the run."""
        self._starter.resume(self._get_owned(id, token), "step", self.rules.in_room(token))

    def delete(self, id: str, token: str) -> None:
        """Deletes the run and all its files."""
        run = self._get_owned(id, token)
        while not self._admission.remove(run, self._workers.busy):  # again when a thread resumes it in between
            self._workers.ask(run, "drop")
            self._workers.wait(run)
        self.store.delete(run)
        event(log, "run_deleted", run=run.id, name=run.name, owner=run.owner)

    def rename(self, id: str, token: str, label: str) -> None:
        """Changes the label: text, at most LABEL characters."""
        self._set_field(self._get_owned(id, token), "label", clean_label(label))

    def hand_over(self, token: str, to: str) -> None:
        """Transfers the caller's runs to the token `to`."""
        for run in self.list_owned(token):
            self._set_field(run, "owner", owner_of(to))

    def set_live(self, id: str, token: str, knob: str, value: Any) -> None:
        """Changes a live knob from the next step on. Raises Refusal for any other knob, a value outside its range, or an ended run."""
        run = self._get_owned(id, token)
        if knob not in LIVE_KNOBS:
            raise Refusal("runs.not_live", name=str(knob)[:40], names=tuple(LIVE_KNOBS))
        value = check(knob, value)
        self.rules.changing(token, knob, value)
        next_status(run.status, "change")
        with self._admission.lock:
            run.live = run.live | {knob: value}
        run.touch()
        if not run.working:
            self._save_fields(run, "live")

    def fork(self, id: str, step: int | None, token: str, change: Change | None = None) -> Run:
        """Creates a run that continues from the saved parameters nearest to `step` (starter.py). Allowed as `repeat` is. Raises Refusal."""
        return self._start_from(id, token, lambda folder: [fork_run(folder, step, token, change)])[0]

    def tune(self, id: str, step: int | None, wanted: Experiment, pairs: Pairs | None, token: str, label: str = "") -> Run:
        """Creates a run that trains them on with other pairs, see incoming.py. Allowed as a fork is. Raises Refusal."""
        return self._start_from(id, token, lambda folder: [tune_run(folder, step, wanted, pairs, token, label=clean_label(label))])[0]

    def _start_from(self, id: str, token: str, make: Callable[[Folder], list[tuple[Run, dict[str, bytes]]]]) -> list[Run]:
        contents = dict(self._read_saved_now(id, token, make))
        return self._starter.start([*contents], token, contents)

    def open_zip(self, name: str, data: bytes, token: str) -> Run:
        """Opens a downloaded run as the caller's, see incoming.py. Raises Refusal."""
        return self._starter.add_copy(*open_zip(name, data, owner_of(token)), token)

    def copy(self, id: str, token: str) -> Run:
        """Copies the run as it is now for the caller, see starter.py. Allowed as a fork is. Raises Refusal when nothing is saved yet."""
        return self._starter.add_copy(*self._read_saved_now(id, token, lambda folder: copy_run(folder, token)), token)

    def mark_seen(self, id: str, token: str = "") -> None:
        """Records a view of this run, by the token's holder if known. A run that was cut off resumes."""
        self.get(id).mark_seen(token)
        self._cut_off.request(id)

    def list_unshipped(self) -> list[Run]:
        """Lists all runs but the shipped ones."""
        return [run for run in self._admission.all() if not run.shipped]

    def share(self, token: str) -> DiskShare:
        """Returns the caller's disk usage, and which run is evicted first."""
        return self._housekeeper.retention.share(self._admission.all(), token)

    def update(self, run: Run, since: int = 0) -> tuple[bytes, int]:
        """Returns (JSON of the changes since version `since`, see tables.build_increment; the version for the next request)."""
        return self.updates.get(run, since)

    @property
    def cluster(self) -> dict[str, Any]:
        """See Engines.state."""
        return self._workers.engines.state

    def count(self) -> dict[str, int]:
        """Returns the counts of Workers.count, of "kept" and "unfinished" runs, and whether the "housekeeper" lives and is "full"."""
        saved_runs = self.list_unshipped()
        counts = {"kept": len(saved_runs), "unfinished": sum(run.unfinished for run in saved_runs)}
        return self._workers.count() | counts | {"housekeeper": int(self._housekeeper.loop.alive), "full": int(self._housekeeper.is_full)}

    def add_task(self, task: Callable[[], object]) -> None:
        """Adds a task to the housekeeping thread, run every few seconds and at the end."""
        self._housekeeper.add_task(task)

    def close(self) -> None:
        """Saves the runs at work, then stops and joins every thread. Idempotent. A live torch thread would abort the interpreter."""
        atexit.unregister(self.close)
        self._cut_off.close()
        self._housekeeper.close()
        self._workers.close()
        self.store.close()

    def _order(self, run: Run, order: str, message: Refusal | None = None) -> None:
        """Has an order carried out: by the job of a run at work, at the end of its step; otherwise at once. Raises Refusal."""
        while not self._workers.order(run, order, message):
            with self._admission.lock:
                if self._workers.busy(run):  # another thread has resumed it
                    continue
                run.obey(order, message)
            return self._save_fields(run, "status", "message")

    def _read_saved_now(self, id: str, token: str, use: Callable[[Folder], Any]) -> Any:
        """Returns `use(folder)` of a run whose sentences the caller may see, saved as it is now; the folder is locked meanwhile."""
        run = self.require_reader(id, token)
        self._workers.save(run)
        self._starter.retry_save(run)
        return self.last_save(run, use)

    def last_save(self, run: Run, use: Callable[[Folder], Any]) -> Any:
        """Returns `use(folder)` of the run's last save, which may be old; the folder is locked meanwhile."""
        return use(Folder(self._shipped / run.id, run.id)) if run.shipped else self.store.read(run, use)

    def _get_owned(self, id: str, token: str) -> Run:
        """Returns the caller's run to be changed, which counts as a view."""
        run = self.require_owner(id, token)
        run.mark_seen()
        return run

    def _set_field(self, run: Run, name: str, value: Any) -> None:
        setattr(run, name, value)
        run.touch()
        self._save_fields(run, name)

    def _save_fields(self, run: Run, *names: str) -> None:
        """Saves changed fields of a run. Raises Refusal when the disk refuses; the change lasts as long as the server."""
        try:
            self.store.write_card(run, *names)
        except OSError as error:
            event(log, "save_failed", logging.WARNING, run=run.id, name=run.name, what=",".join(names), error=reason(error))
            raise Refusal("runs.change_not_saved") from error

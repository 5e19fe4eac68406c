"""All runs of this server: what the page and its routes ask for. Every call that changes something takes the caller's token."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playground.config import LIVE_KNOBS, Experiment, Refusal, check
from playground.model.size import admit, training_bytes
from playground.reading.uploads import Pairs
from playground.runs.corpora import Corpora, sizes
from playground.runs.disk.folder import pack_fork
from playground.runs.disk.store import Store, read_shipped
from playground.runs.limits import Limits
from playground.runs.machine_speed import execution_plan
from playground.runs.names import new_id, new_name, owner_of, owns
from playground.runs.queue.workers import Workers
from playground.runs.run import Run
from playground.runs.updates import Updates

log = logging.getLogger(__name__)
SHIPPED = Path(__file__).parents[2] / "checkpoints"
LABEL = 80  # characters


class Runs:
    """Thread-safe. A visitor's ids are looked up, never joined to a path; a visitor's token is compared by hash, in constant time."""

    def __init__(self, folder: Path | None = None, shipped: Path | None = SHIPPED, limits: Limits | None = None) -> None:
        """Reads the shipped runs and what is kept in `folder` (default_folder() when None), and starts the workers."""
        self.limits = limits or Limits.from_environment()
        self.corpora, self.updates, self.store = Corpora(), Updates(), Store(folder)
        self._lock = threading.RLock()
        self._runs = {run.id: run for run in (*read_shipped(shipped), *self.store.read_all())}
        self._workers = Workers(self.store, self.corpora, self.limits)
        self._trimmed = time.monotonic()
        atexit.register(self.close)

    def create(self, experiment: Experiment, token: str, pairs: Pairs | None = None, credit: str = "", label: str = "") -> Run:
        """A new run, queued. Raises Refusal: too large for the machine, too many unfinished runs, no data for task "own"."""
        return self._create(experiment, token, data=pairs, credit=credit or (pairs.credit if pairs else ""), label=_clean(label))

    def create_all(self, experiments: Sequence[Experiment], token: str, labels: Sequence[str], secret: bool = False) -> list[Run]:
        """New runs for experiments that make their own sentences: all of them, or a Refusal and none."""
        made: list[Run] = []
        try:
            with self._lock:
                self._admit_owner(owner_of(token), len(experiments))
                for experiment, label in zip(experiments, labels, strict=True):
                    made.append(self._create(experiment, token, label=_clean(label), secret=secret))
        except Refusal:
            for run in made:
                self._delete(run)
            raise
        return made

    def get(self, id: str) -> Run:
        """Raises Refusal("runs.unknown")."""
        run = self._runs.get(id)
        if run is None:
            raise Refusal("runs.unknown")
        self._trim()
        return run

    def shipped(self) -> list[Run]:
        """The runs that came with the app, "reverse" first."""
        return sorted((run for run in list(self._runs.values()) if run.shipped), key=lambda run: (run.id != "reverse", run.id))

    def mine(self, token: str) -> list[Run]:
        """The caller's runs, newest first."""
        return sorted((run for run in list(self._runs.values()) if owns(run.owner, token)), key=lambda run: -run.created)

    def pairs(self, own: str) -> Pairs | None:
        """The own data with this id, of any run that was made of them."""
        return next((run.pairs for run in list(self._runs.values()) if own and run.experiment.data.own == own), None)

    def owns(self, id: str, token: str) -> bool:
        return owns(self.get(id).owner, token)

    def pause(self, id: str, token: str) -> None:
        """At the end of the present step. Raises Refusal when the run isn't at work."""
        if not self._workers.ask(self._mine(id, token), "pause"):
            raise Refusal("runs.not_at_work")

    def stop(self, id: str, token: str) -> None:
        """At the end of the present step; what was learnt stays, and the run may be resumed. Raises Refusal when it isn't at work."""
        run = self._mine(id, token)
        with self._lock:
            if run.status == "paused" and not self._workers.busy(run):
                run.say("stopped")
                self.store.note(run)
                return
        if not self._workers.ask(run, "stop"):
            raise Refusal("runs.not_at_work")

    def resume(self, id: str, token: str) -> None:
        """Goes on exactly where the run was saved. Raises Refusal when it can't."""
        self._go_on(self._mine(id, token), "train")

    def step_once(self, id: str, token: str) -> None:
        """One training step; the run is paused after it."""
        self._go_on(self._mine(id, token), "step")

    def delete(self, id: str, token: str) -> None:
        """The run and everything it left on the disk."""
        self._delete(self._mine(id, token))

    def rename(self, id: str, token: str, label: str) -> None:
        """Changes the label: text, at most LABEL characters."""
        run = self._mine(id, token)
        run.label = _clean(label)
        run.touch()
        self.store.note(run, "label")

    def set_live(self, id: str, token: str, knob: str, value: Any) -> None:
        """Changes a live knob from the next step on. Raises Refusal for any other knob, a value outside its range, or an ended run."""
        run = self._mine(id, token)
        if knob not in LIVE_KNOBS:
            raise Refusal("runs.not_live", name=str(knob)[:40], names=", ".join(LIVE_KNOBS))
        value = check(knob, value)
        if not (run.unfinished or run.resumable):
            raise Refusal("runs.ended")
        with self._lock:
            run.live = run.live | {knob: value}
        run.touch()
        if not run.working:
            self.store.note(run, "live")

    def fork(self, id: str, step: int | None, token: str, experiment: Experiment | None = None) -> Run:
        """A new run on the same data that starts from the parameters kept nearest to `step` (run.parent says which), optimiser fresh, and
        with the memory as it was there.

        Anyone may fork any run. Raises Refusal when `experiment` has another model or other data, or nothing is kept yet.
        """
        source = self.get(id)
        actual, parameters = source.parameters_at(step)
        experiment = experiment or source.experiment.with_(memory_mode=source.memory_at(actual))
        fixed = [knob for knob in experiment.difference(source.experiment) if knob not in LIVE_KNOBS]
        other = [knob for knob in fixed if hasattr(experiment.model, knob) or hasattr(experiment.data, knob)]
        if other:
            raise Refusal("runs.fork_differs", names=", ".join(other))
        contents = pack_fork(source.tokenizers, parameters)
        return self._create(experiment, token, contents, parent=(source.id, actual), **_copied(source))

    def remake(self, id: str, token: str) -> Run:
        """The same experiment and data as a new run of the caller's: "make it mine"."""
        source = self.get(id)
        return self._create(source.experiment, token, **_copied(source))

    def seen(self, id: str) -> None:
        """Somebody is looking at this run."""
        self.get(id).seen()

    def update(self, run: Run, since: int = 0) -> tuple[bytes, int]:
        """(JSON of what changed since version `since`, the version to ask from next time); the same bytes for all who ask for the same.

        {"version", "from": row of the history where this increment begins (0: replace what you have), "rows": {column: [...]},
         "validations": {column: [...]} and "events": [[step, knob, value]] (all of them),
         "id", "name", "label", "status", "resumable", "message": {"en", "zh"} | null, "step", "steps", "seconds", "eta", "place",
         "live": {knob: value}, "checkpoint_step", "threads", "device", "replay": [steps], "parameter_steps": [steps],
         "probes": [{"src", "reference", "output", "right", "finished"}]}
        """
        return self.updates.get(run, since)

    def close(self) -> None:
        """Saves what trains, stops and joins every thread. Safe to call twice. A torch thread left alive would abort the interpreter."""
        atexit.unregister(self.close)
        self._workers.close()
        self.store.close()

    def _mine(self, id: str, token: str) -> Run:
        run = self.get(id)
        if not owns(run.owner, token):
            raise Refusal("runs.not_yours")
        return run

    def _create(self, experiment: Experiment, token: str, contents: dict[str, bytes] | None = None, **values: Any) -> Run:
        if not token:
            raise Refusal("runs.no_token")
        if experiment.data.task == "own" and values.get("data") is None:
            raise Refusal("data.no_own_pairs")
        needed = self._admit(experiment, values.get("data"))
        device = self._workers.device()
        way = execution_plan(experiment, device)
        with self._lock:
            self._admit_owner(owner_of(token))
            name = new_name({run.name for run in self._runs.values()})
            run = Run(new_id(), name, experiment, owner_of(token), device=device, **way, **values)
            self._runs[run.id] = run
        try:
            self.store.create(run, contents)
        except Refusal:  # own data that are too large to be kept
            del self._runs[run.id]
            raise
        except OSError as error:
            del self._runs[run.id]
            log.warning("a new run could not be written: %s", error)
            raise Refusal("runs.disk_full") from error
        self._workers.start(run, "train", needed)
        for old in self.store.too_many(list(self._runs.values()), self.limits.runs_kept, self.limits.bytes_kept):
            log.info("run %s (%s) makes room", old.name, old.id)
            self._delete(old)
        return run

    def _admit(self, experiment: Experiment, pairs: Pairs | None) -> int:
        """The bytes a training needs. Raises Refusal when it can never have them."""
        size = sizes(experiment, pairs)
        admit(experiment, *size, self.limits.memory)
        return training_bytes(experiment, *size)

    def _admit_owner(self, owner: str, more: int = 1) -> None:
        unfinished = [run for run in self._runs.values() if run.unfinished]
        mine = [run for run in unfinished if run.owner == owner]
        if len(mine) + more > self.limits.runs_each:
            names = ", ".join(run.name for run in mine) or "–"
            raise Refusal("runs.too_many_yours", most=self.limits.runs_each, count=len(mine), more=more, names=names)
        if len(unfinished) + more > self.limits.runs_unfinished:
            raise Refusal("runs.too_many", most=self.limits.runs_unfinished)

    def _go_on(self, run: Run, order: str) -> None:
        with self._lock:
            if self._workers.ask(run, order):  # it was about to pause
                return
            self._workers.wait(run)
            if not run.resumable:
                raise Refusal("runs.not_resumable")
            if run.status != "paused":
                self._admit_owner(run.owner)
            needed = self._admit(run.experiment, run.pairs)
            run.say("queued")
            self._workers.start(run, order, needed)

    def _delete(self, run: Run) -> None:
        self._workers.ask(run, "drop")
        self._workers.wait(run)
        self._runs.pop(run.id, None)
        self.store.delete(run)

    def _trim(self) -> None:
        """Now and then: the replays and weights of ended runs that nobody has looked at for longest go out of memory."""
        if time.monotonic() - self._trimmed < 10:
            return
        self._trimmed = time.monotonic()
        loaded = [run for run in list(self._runs.values()) if not run.working and run.loaders and run.parts]
        size = 0
        for run in sorted(loaded, key=lambda run: -run.seen_at):
            size += self.store.size(run)
            if size > self.limits.bytes_loaded and not run.watched:
                run.release()


def _copied(run: Run) -> dict[str, Any]:
    """What every copy of a run has from it."""
    return {"data": run.pairs, "credit": run.credit, "secret": run.secret}


def _clean(label: str) -> str:
    """Text that can be stored and shown: no control characters, no half characters, not too long."""
    text = str(label).encode("utf-8", "replace").decode()
    return "".join(c if c.isprintable() else " " for c in text)[:LABEL].strip()

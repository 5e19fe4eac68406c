"""The server side of remote training: the trainings of a process, called one at a time from another. Each is recorded into a local run,
whose increments are sent to the client: the records since the last call, as plain values, arrays and bytes."""

import math
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from playground.config import Refusal
from playground.runs.corpora import Corpora
from playground.runs.disk.folder import SentFolder
from playground.runs.engines import Failed, Lost, RecordedTraining
from playground.runs.history import Columns, History, Probe
from playground.runs.limits import machine_cores
from playground.runs.memory import trim_heap
from playground.runs.queue.parallel import Helpers, ParallelMap
from playground.runs.recording import Recording, copy_parameters
from playground.runs.replay import Completion, Frame, Parameters, Replay, ReplayPlan
from playground.runs.rounded import RoundedParameters
from playground.runs.run import Run, Snapshot
from playground.runs.runtime import REAL, Runtime
from playground.training.bleu import BeamGain
from playground.training.loop import Diverged, Training

Arrays = Mapping[str, np.ndarray]


def to_arrays(parameters: Parameters) -> Arrays:
    """Converts to arrays, which are sent by value: a tensor would be sent as a file shared by both processes."""
    return {name: tensor.numpy() for name, tensor in parameters.items()}


def to_tensors(values: Arrays) -> Parameters:
    """Converts back to tensors."""
    return {name: torch.from_numpy(array) for name, array in values.items()}


@dataclass(frozen=True)
class Picture:
    """A replay frame: its completions, and the parameters to save, if any."""

    step: int
    completions: tuple[Completion, ...]
    parameters: Arrays | None


@dataclass(frozen=True)
class Increment:
    """New rows of the history, new probes and parameters if there is a new snapshot, and new replay frames."""

    step: int
    seconds: float
    message: Refusal | None
    steps: Sequence[tuple[float, ...]]
    validations: Sequence[tuple[float, ...]]
    diagnostics: Sequence[Mapping[str, float]]
    events: Sequence[tuple[int, str, Any]]
    probes: tuple[Probe, ...]
    beam: BeamGain | None
    snapshot: tuple[int, Arrays] | None
    pictures: Sequence[Picture]
    best: tuple[int, Arrays] | None  # a new best step, if the run keeps it


class Cursor:
    """The position up to which a run's records have been sent."""

    def __init__(self, run: Run) -> None:
        self._run, history = run, run.history
        self._rows, self._validations, self._events = len(history.steps), len(history.validations), len(history.events)
        self._diagnostics, self._diagnostic_rows = history.diagnostics, len(history.diagnostics or ())
        self._snapshot, self._message, self._best = run.snapshot, run.message, run.replay.best

    def increment(self, pictures: Sequence[Picture]) -> Increment:
        """Returns the records since the last increment, with these frames."""
        run, history = self._run, self._run.history
        steps, self._rows = _since(history.steps, self._rows), len(history.steps)
        validations, self._validations = _since(history.validations, self._validations), len(history.validations)
        if history.diagnostics is not self._diagnostics:  # restarted with other columns
            self._diagnostics, self._diagnostic_rows = history.diagnostics, 0
        diagnostics = [dict(zip(self._diagnostics.names, row, strict=True)) for row in _since(self._diagnostics, self._diagnostic_rows)]
        self._diagnostic_rows = len(self._diagnostics or ())
        events, self._events = history.events[self._events :], len(history.events)
        has_snapshot, has_message = run.snapshot is not self._snapshot, run.message is not self._message
        best, self._best = run.replay.best if run.replay.best is not self._best else None, run.replay.best
        self._snapshot, self._message = run.snapshot, run.message
        return Increment(
            run.step, run.seconds, run.message if has_message else None, steps, validations, diagnostics, events,
            run.probes if has_snapshot else (), history.beam,
            (run.snapshot.step, to_arrays(run.snapshot.parameters)) if has_snapshot else None, pictures,
            best and (best[0], to_arrays(best[1])),
        )  # fmt: skip


def _since(table: Columns | None, start: int) -> list[tuple[float, ...]]:
    return list(zip(*table.rows(start).values(), strict=True)) if table else []


def apply_increment(increment: Increment, run: Run) -> None:
    """Applies an increment to the run, as a local recording would."""
    history, replay = run.history, run.replay
    for row in increment.steps:
        history.steps.append(*row)
    for row in increment.validations:
        history.validations.append(*row)
    for row in increment.diagnostics:
        history.add_diagnostics(int(row["step"]), {name: number for name, number in row.items() if name != "step"})
    history.events += increment.events
    history.probes = increment.probes or history.probes
    history.beam = increment.beam
    run.step, run.seconds = increment.step, increment.seconds
    run.message = increment.message or run.message
    for picture in increment.pictures:
        if picture.parameters:
            replay.save_parameters(picture.step, to_tensors(picture.parameters))
        replay.capture(picture.step, partial(tuple, picture.completions))
    if increment.best:
        replay.best = increment.best[0], to_tensors(increment.best[1])
    if increment.snapshot:
        step, values = increment.snapshot
        run.parts["snapshot"] = Snapshot(run.version + 1, step, to_tensors(values), run.probes)
        run.touch()


@dataclass(frozen=True)
class Start:
    """The request to start or resume a training: the save's files, and the state that a recording needs: the history without the rows of
    the steps, the replay without its frames."""

    files: Mapping[str, bytes]  # Folder.sent
    settings: Mapping[str, Any]  # of the run: device, threads, precision
    replay_bytes: int
    history: History
    plan: ReplayPlan
    frames: tuple[int, ...]  # steps
    rounded: tuple[int, Arrays] | None  # the newest saved parameters and their step: the next ones are rounded from them


@dataclass(frozen=True)
class Prepared:
    """The reply to Start: the progress, the replay's plan, and the data that the client needs."""

    step: int
    seconds: float
    plan: ReplayPlan
    longest_target: int
    tokenizers: tuple[bytes, bytes]


@dataclass(frozen=True)
class CallSettings:
    """Settings that may change between two calls."""

    live: Mapping[str, Any]  # the live knobs
    watched: bool
    cores: int  # available to the call


class RemoteRecording(Recording):
    """A recording that sends its frames instead of storing them, completed: the client is the page, which has visitors to answer."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.pictures: list[Picture] = []

    def _capture_frame(self, look: bool) -> None:
        run, model, replay = self.run, self.training.model, self.run.replay
        completions = self.show() if look else ()
        parameters = copy_parameters(model) if run.step in replay.plan.parameter_steps else None
        rounded = replay.save_parameters(run.step, parameters) if parameters else None
        if rounded is not None:
            completions = self._completer.at(run.step, rounded, model.config, replay.plan.attention)
            rounded.before, replay.parameters_by_step = None, {run.step: rounded}  # all that the next one is rounded from
        elif not completions:
            completions = self._newest = self._completer.complete(model, self._newest, run.step, replay.plan.attention)
        replay.frames = (*(frame for frame in replay.frames if frame.step < run.step), Frame(run.step, ()))
        self.pictures.append(Picture(run.step, completions, parameters and to_arrays(parameters)))
        self._captured = True


class HostedTraining(RecordedTraining):
    """A training called by a Host: `begin` first, then Trainer methods, each after `apply_settings`."""

    def __init__(self, corpora: Corpora, runtime: Runtime = REAL) -> None:
        self._corpora, self._runtime = corpora, runtime
        self._cursor: Cursor | None = None  # None before `begin`

    def begin(self, start: Start) -> Prepared:
        """Loads the saved model and builds its corpus, which may take long."""
        folder = SentFolder(start.files)
        run = folder.run
        run.runtime = self._runtime
        corpus = self._corpora.get(run.experiment, run.pairs)
        for name, value in start.settings.items():
            setattr(run, name, value)
        training = Training(run.experiment, corpus, run.device, run.precision)
        if folder.has("weights.safetensors"):
            folder.restore(training)
        replay = Replay(start.plan)
        replay.frames = tuple(Frame(step, ()) for step in start.frames)
        if start.rounded:
            step, values = start.rounded
            replay.parameters_by_step[step] = RoundedParameters({})
            replay.parameters_by_step[step].read = to_tensors(values)
        run.hold(history=start.history, replay=replay, snapshot=None, pairs=None)
        self._run, self._cursor = run, Cursor(run)
        self._recording = RemoteRecording(run, training, start.replay_bytes, clock=self._runtime.monotonic)
        self._steps = self._recording.steps()
        src, tgt = corpus.src_tokenizer, corpus.tgt_tokenizer
        return Prepared(run.step, run.seconds, run.replay.plan, run.longest_target, (src.to_bytes(), tgt.to_bytes()))

    def apply_settings(self, settings: CallSettings, parallel_map: ParallelMap) -> None:
        """Applies the settings to the next call."""
        if self._cursor is not None:
            self._run.live, self._recording.training.parallel_map = dict(settings.live), parallel_map
            self._run.seen_at = self._runtime.monotonic() if settings.watched else -math.inf

    def advance(self, seconds: float, one_step: bool) -> bool:
        """Trains for about `seconds`, at least one step. Returns False at the end of the run."""
        end = self._runtime.monotonic() + seconds
        while next(self._steps, None) is not None:
            if one_step or self._runtime.monotonic() >= end:
                return True
        return False

    def parameters(self) -> Arrays:
        return to_arrays(super().parameters())

    def take_increment(self) -> Increment | None:
        """Returns the increment since the last call; None before `begin`."""
        if self._cursor is None:
            return None
        pictures, self._recording.pictures = self._recording.pictures, []
        return self._cursor.increment(pictures)


CORPORA_BYTES = 40_000_000  # cached corpora not in use: no share of the page's memory budget, which can't evict them
PORTABLE_ERRORS = (Diverged, Refusal, MemoryError, Lost)  # errors that are sent as they are; others may not unpickle


@dataclass(frozen=True)
class Answer:
    """A call's return value or error, and the run's increment in any case."""

    value: Any = None
    error: BaseException | None = None
    increment: Increment | None = None


class Host:
    """Trainings by the id of their run."""

    def __init__(self, runtime: Runtime = REAL) -> None:
        self._runtime = runtime
        self._corpora, self._helpers = Corpora(CORPORA_BYTES), Helpers(machine_cores() - 1)
        self._trainings: dict[str, HostedTraining] = {}

    def answer(self, id: str, name: str, settings: CallSettings, *arguments: Any) -> Answer:
        """Calls the named method of the run's training. The first is "begin", the last "close"; an unknown training is Lost."""
        torch.set_num_threads(1)
        if name == "begin":
            self._trainings[id] = HostedTraining(self._corpora, self._runtime)
        elif name == "close":
            if self._trainings.pop(id, None):
                trim_heap()  # memory of its steps, which another training may not reuse
            return Answer()
        training, value, error = self._trainings.get(id), None, None
        if training is None:
            return Answer(error=Lost())
        try:
            training.apply_settings(settings, self._helpers.parallel_map(settings.cores))
            value = getattr(training, name)(*arguments)
        except BaseException as raised:  # any error is this run's alone; the process has others
            error = raised if isinstance(raised, PORTABLE_ERRORS) else Failed(type(raised).__name__, traceback.format_exc())
        return Answer(value, error, training.take_increment())

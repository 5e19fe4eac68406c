"""The server side of remote training: the trainings of a process, called one at a time from another. Each is recorded into a local run,
whose increments are sent to the client."""

from __future__ import annotations

import math
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from playground.config import Refusal
from playground.runs.cache import trim_heap
from playground.runs.corpora import Corpora
from playground.runs.disk.folder import SentFolder
from playground.runs.engines.increment import Arrays, Cursor, Increment, Picture, to_arrays, to_tensors
from playground.runs.engines.trainer import Failed, Lost, RecordedTraining
from playground.runs.history import History
from playground.runs.limits import machine_cores
from playground.runs.queue.parallel import Helpers, ParallelMap
from playground.runs.recording import Recording, copy_parameters
from playground.runs.replay import Frame, Replay, ReplayPlan
from playground.runs.rounded import RoundedParameters
from playground.runs.runtime import REAL, Runtime
from playground.training.loop import Diverged, Training


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

"""The server side of remote training: the trainings of a process, called one at a time from another."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any

import torch

from playground.config import Refusal
from playground.runs.cache import trim_heap
from playground.runs.corpora import Corpora
from playground.runs.engines.hosted import CallSettings, HostedTraining
from playground.runs.engines.increment import Increment
from playground.runs.engines.trainer import Failed, Lost
from playground.runs.limits import machine_cores
from playground.runs.queue.parallel import Helpers
from playground.runs.runtime import REAL, Runtime
from playground.training.loop import Diverged

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

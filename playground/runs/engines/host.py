"""The far side: whichever process it is in which models are trained for somebody elsewhere, who asks one thing after the other."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any

import torch

from playground.config import Refusal
from playground.runs.corpora import Corpora
from playground.runs.engines.hosted import HostedTraining, Wishes
from playground.runs.engines.increment import Increment
from playground.runs.engines.trainer import Failed, Lost
from playground.runs.heap import give_back
from playground.runs.limits import machine_cores
from playground.runs.queue.parallel import Helpers
from playground.runs.runtime import REAL, Runtime
from playground.training.loop import Diverged

CORPORA_BYTES = 40_000_000  # of those that nobody trains on at present: no share of the page's memory, which can't have them given up
KNOWN_EVERYWHERE = (Diverged, Refusal, MemoryError, Lost)  # errors that are told as they are; others may be of any kind


@dataclass(frozen=True)
class Answer:
    """What a call returned, or the error that it raised; in any case what is new in the run."""

    value: Any = None
    error: BaseException | None = None
    increment: Increment | None = None


class Host:
    """Trainings by the id of their run."""

    def __init__(self, runtime: Runtime = REAL) -> None:
        self._runtime = runtime
        self._corpora, self._helpers = Corpora(CORPORA_BYTES), Helpers(machine_cores() - 1)
        self._trainings: dict[str, HostedTraining] = {}

    def answer(self, id: str, name: str, wishes: Wishes, *arguments: Any) -> Answer:
        """Calls the method of this name of the run's training. The first is "begin", the last "close"; one that isn't here is Lost."""
        torch.set_num_threads(1)
        if name == "begin":
            self._trainings[id] = HostedTraining(self._corpora, self._runtime)
        elif name == "close":
            if self._trainings.pop(id, None):
                give_back()  # what its steps took, which the next one's may not need
            return Answer()
        training, value, error = self._trainings.get(id), None, None
        if training is None:
            return Answer(error=Lost())
        try:
            training.obey(wishes, self._helpers.parallel_map(wishes.cores))
            value = getattr(training, name)(*arguments)
        except BaseException as raised:  # whatever it is, it is this run's, and there are others here
            error = raised if isinstance(raised, KNOWN_EVERYWHERE) else Failed(type(raised).__name__, traceback.format_exc())
        return Answer(value, error, training.news())

"""What the job of a run asks of the engine that trains it, wherever that is.

Whoever knows executors: `prepare` submits, `advance` has it go on and brings whatever happened since the call before (see increment.Cursor)
into the run, which is its status; `cut_off` cancels what doesn't answer, and `close` closes. Pause, stop and delete are the job's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

from playground.runs.disk.folder import Folder
from playground.runs.queue.parallel import ParallelMap
from playground.runs.replay import Parameters

T = TypeVar("T")
ReadSave = Callable[[Callable[[Folder], T]], T]  # what a function makes of a run's last save, while nobody writes there


class Lost(Exception):
    """The model is gone, with the process that it was in. The run goes on from its last save, in a trainer that is prepared again.

    `guilty`: it happened while this model was at work, so it may be its doing.
    """

    def __init__(self, guilty: bool = False) -> None:
        super().__init__(guilty)
        self.guilty = guilty


class Failed(Exception):
    """An error in another process: its `kind`, and what Python says of it there."""

    def __init__(self, kind: str, traceback: str) -> None:
        super().__init__(kind, traceback)
        self.kind, self.traceback = kind, traceback

    def __str__(self) -> str:
        return self.traceback


class Trainer(Protocol):
    """The model of one run, at work. Whatever it finds is in the run when a call returns: whoever calls is the run's only writer, and calls
    one thing after the other. Any call may raise what goes wrong in a model: Diverged, Refusal, and errors of every kind; and Lost."""

    lane: Hashable | None  # trainers with the same lane take turns; None: they need not
    parallel_map: ParallelMap  # a `map` over the cores of the present turn

    def prepare(self, read: ReadSave) -> None:
        """Corpus and model, as the last save left them if there is one. Before anything else."""

    def advance(self, seconds: float, one_step: bool) -> bool:
        """Trains on: one step, or as many as take about so long where asking for each is dear. False when the run is at its end."""

    def show(self) -> None:
        """The run gets a snapshot of the model as it is."""

    def finish(self) -> None:
        """The run ends here: the last validation, the last picture, and the weights it ends with."""

    def parameters(self) -> Parameters:
        """Copies, on the CPU."""

    def state(self) -> bytes:
        """What is needed to go on exactly, beside the parameters."""

    def cut_off(self) -> None:
        """Whoever is in a call that doesn't come back is brought back from it, with Lost, where that can be done. From any thread."""

    def close(self) -> None:
        """Lets go of the model. Safe to call twice, and after whatever went wrong."""


def parts_of(folder: Folder) -> dict[str, Any]:
    """What a run that goes on has to have in memory, as it was saved."""
    return {name: getattr(folder.run, name) for name in ("history", "replay", "snapshot", "pairs")}


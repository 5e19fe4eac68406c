"""The interface between a run's job and the engine that trains it.

In executor terms: `prepare` submits, `advance` continues and applies all events since the last call (see increment.Cursor) to the run,
which is the status; `cut_off` cancels a hung call, `close` closes. Pause, stop and delete belong to the job.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

from playground.runs.disk.folder import Folder
from playground.runs.queue.parallel import ParallelMap
from playground.runs.replay import Parameters

T = TypeVar("T")
ReadSave = Callable[[Callable[[Folder], T]], T]  # applies a function to the run's last save, whose folder is locked meanwhile


class Lost(Exception):
    """The model is lost with its process. The run resumes from its last save, in a trainer that is prepared again.

    `guilty`: the process died during a call for this model, so the model may be the cause.
    """

    def __init__(self, guilty: bool = False) -> None:
        super().__init__(guilty)
        self.guilty = guilty


class Failed(Exception):
    """An error in another process: its `kind` and traceback."""

    def __init__(self, kind: str, traceback: str) -> None:
        super().__init__(kind, traceback)
        self.kind, self.traceback = kind, traceback

    def __str__(self) -> str:
        return self.traceback


class Trainer(Protocol):
    """The model of one run, in training. Records are in the run when a call returns: the caller is the run's only writer, and calls are
    serialised. Any call may raise a model's errors (Diverged, Refusal, any other) and Lost."""

    lane: Hashable | None  # trainers with the same lane take turns; None: independent
    parallel_map: ParallelMap  # a `map` over the present turn's cores

    def prepare(self, read: ReadSave) -> None:
        """Loads corpus and model, from the last save if there is one. Called first."""

    def advance(self, seconds: float, one_step: bool) -> bool:
        """Trains one step, or, where calls are expensive, for about `seconds`. Returns False at the end of the run."""

    def show(self) -> None:
        """Gives the run a snapshot of the present model."""

    def finish(self) -> None:
        """Ends the run: last validation, last frame, and final weights."""

    def parameters(self) -> Parameters:
        """Returns CPU copies."""

    def state(self) -> bytes:
        """Returns the state needed to resume exactly, besides the parameters."""

    def abort(self) -> None:
        """Aborts a hung call where possible; its caller gets Lost. Thread-safe."""

    def close(self) -> None:
        """Releases the model. Idempotent, and safe after any error."""


def parts_of(folder: Folder) -> dict[str, Any]:
    """Returns the saved parts that a resumed run needs in memory."""
    return {name: getattr(folder.run, name) for name in ("history", "replay", "snapshot", "pairs")}


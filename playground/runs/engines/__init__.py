"""Training engines: here the interface between a run's job and the engine that trains it, and the engine of the calling process. Read next:

host (all trainings of a process, and their progress reports) · children with preloaded (processes besides the page's) · choice (the client
of a host, and which engine trains a run, if not one on other machines: playground/ray).

In executor terms: `prepare` submits, `advance` continues and applies all events since the last call (see host.Cursor) to the run,
which is the status; `abort` cancels a hung call, `close` closes. Pause, stop and delete belong to the job.
"""

from collections.abc import Callable, Hashable, Iterator
from typing import Any, Protocol, TypeVar

from playground.runs.corpora import Corpora
from playground.runs.disk.folder import Folder, pack_state
from playground.runs.queue.parallel import ParallelMap
from playground.runs.recording import Recording, copy_parameters
from playground.runs.replay import Parameters
from playground.runs.run import Run
from playground.training.loop import Training

T = TypeVar("T")
PREPARE_FACTOR = 5  # times the timeout for a call that also prepares: it reads data and builds tokenizers
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


class RecordedTraining:
    """A training in this process that has begun: the methods of a Trainer that only pass on to its recording."""

    _recording: Recording
    _steps: Iterator[int]

    def show(self) -> None:
        self._recording.show()

    def finish(self) -> None:
        self._recording.finish()

    def parameters(self) -> Parameters:
        return copy_parameters(self._recording.training.model)

    def state(self) -> bytes:
        return pack_state(self._recording.training)


class InProcess(RecordedTraining):
    """A Trainer in the calling process, which records into the run itself: no data transfer, and a lone run may use all cores."""

    lane = None
    parallel_map: ParallelMap = map

    def __init__(self, run: Run, corpora: Corpora, replay_bytes: int) -> None:
        self.run, self.corpora, self._replay_bytes = run, corpora, replay_bytes
        self._recording: Recording | None = None
        self._steps: Iterator[int] = iter(())

    def prepare(self, read: ReadSave) -> None:
        run = self.run
        corpus = self.corpora.get(run.experiment, read(lambda folder: folder.run.pairs))

        def saved(folder: Folder) -> tuple[Training, dict[str, Any]]:
            training = Training(run.experiment, corpus, run.device, run.precision)
            if folder.has("weights.safetensors"):
                folder.restore(training)
            return training, parts_of(folder)

        training, parts = read(saved)
        run.hold(**parts)
        run.where = {}
        self._recording = Recording(run, training, self._replay_bytes, clock=run.runtime.monotonic)
        self._steps = self._recording.steps()

    def advance(self, seconds: float, one_step: bool) -> bool:
        """Trains one step."""
        self._recording.training.parallel_map = self.parallel_map
        return next(self._steps, None) is not None

    def finish(self) -> None:
        self._recording.training.parallel_map = self.parallel_map
        super().finish()

    def abort(self) -> None:
        """Does nothing: a thread can't be killed."""

    def close(self) -> None:
        self._recording, self._steps = None, iter(())

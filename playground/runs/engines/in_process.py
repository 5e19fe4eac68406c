"""Training in the calling process: no data transfer, and a lone run may use all cores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.runs.corpora import Corpora
from playground.runs.disk.folder import Folder, pack_state
from playground.runs.engines.trainer import ReadSave, parts_of
from playground.runs.queue.parallel import ParallelMap
from playground.runs.recording import Recording, copy_parameters
from playground.runs.replay import Parameters
from playground.runs.run import Run
from playground.training.loop import Training


class InProcess:
    """A Trainer that records into the run itself."""

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

    def show(self) -> None:
        self._recording.show()

    def finish(self) -> None:
        self._recording.training.parallel_map = self.parallel_map
        self._recording.finish()

    def parameters(self) -> Parameters:
        return copy_parameters(self._recording.training.model)

    def state(self) -> bytes:
        return pack_state(self._recording.training)

    def abort(self) -> None:
        """Does nothing: a thread can't be killed."""

    def close(self) -> None:
        self._recording, self._steps = None, iter(())

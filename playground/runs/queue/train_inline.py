"""Trains one run synchronously, without threads: for the command line and the shipped checkpoints.

Shares the recording with the workers, so the runs are the same.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from playground.config import Experiment, Refusal
from playground.model.costs import admit
from playground.reading.uploads import Pairs
from playground.runs.corpora import Corpora, sizes
from playground.runs.disk.folder import pack_run
from playground.runs.disk.store import first_files
from playground.runs.limits import Limits, machine_cores
from playground.runs.machine_speed import execution_plan
from playground.runs.names import new_id, new_name
from playground.runs.queue.parallel import Helpers
from playground.runs.recording import Recording
from playground.runs.replay import BUDGET_BYTES, MAX_FRAMES, MAX_SAVED
from playground.runs.run import Run
from playground.training.loop import Diverged, Training


def new_run(experiment: Experiment, pairs: Pairs | None = None, limits: Limits | None = None) -> Run:
    """Creates a run without an owner, on this machine. Raises Refusal when it doesn't fit into memory or has no data."""
    limits = limits or Limits.from_environment()
    if experiment.data.task == "own" and pairs is None:
        raise Refusal("data.no_own_pairs")
    admit(experiment, *sizes(experiment, pairs), limits.memory)
    device, credit = limits.devices[0], pairs.credit if pairs else ""
    return Run(new_id(), new_name(()), experiment, device=device, **execution_plan(experiment, device), data=pairs, credit=credit)


def train(
    run: Run, corpora: Corpora, replay_bytes: int = BUDGET_BYTES, frames: int = MAX_FRAMES, max_saved: int = MAX_SAVED
) -> Iterator[int]:
    """Prepares the run and trains it to its end, on as many cores as it can use; yields after every step. Sets torch's threads for this
    thread to one."""
    torch.set_num_threads(1)
    run.seen_at = float("-inf")  # unwatched: no frames but the replay's
    run.set_status("preparing")
    training = Training(run.experiment, corpora.get(run.experiment, run.pairs), run.device, run.precision)
    recording = Recording(run, training, replay_bytes, frames, max_saved=max_saved)
    run.set_status("training")
    status, message, cores = "done", None, min(run.threads, machine_cores())
    with Helpers(cores - 1) as helpers:
        training.parallel_map = helpers.parallel_map(cores)
        try:
            yield from recording.steps()
            message = run.message
        except Diverged as error:
            status, message = "diverged", Refusal("runs.diverged", step=error.step)
        recording.finish()
    run.checkpoint_step = run.step
    run.set_status(status, message)


def contents(run: Run) -> dict[str, bytes]:
    """Returns an ended run's files."""
    return first_files(run) | pack_run(run, run.snapshot.parameters)

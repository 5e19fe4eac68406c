"""Trains runs synchronously, without threads: for the command line, and the shipped checkpoints, a table of name -> knobs.

Shares the recording with the workers, so the runs are the same.
"""

import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import torch

from playground.config import Experiment, Refusal
from playground.model.costs import admit
from playground.reading.pairs import Pairs
from playground.runs.corpora import Corpora, sizes
from playground.runs.disk.folder import Folder, pack_run, pack_state
from playground.runs.disk.store import first_files, write_run
from playground.runs.engines import parts_of
from playground.runs.identity import new_id, new_name
from playground.runs.limits import Limits, machine_cores
from playground.runs.machine_speed import execution_plan
from playground.runs.orders import allows, next_status
from playground.runs.queue.parallel import Helpers
from playground.runs.queue.saving import SAVE_SHARE
from playground.runs.recording import Recording, copy_parameters
from playground.runs.replay import BUDGET_BYTES, MAX_FRAMES, MAX_SAVED, MIN_FRAMES, Frame, Parameters
from playground.runs.run import Run
from playground.training.loop import Diverged, Training


def new_run(
    experiment: Experiment, pairs: Pairs | None = None, limits: Limits | None = None, parent: tuple[str, int] | None = None
) -> Run:
    """Creates a run without an owner, on this machine. Raises Refusal when it doesn't fit into memory or has no data."""
    limits = limits or Limits.from_environment()
    if experiment.data.task == "own" and pairs is None:
        raise Refusal("data.no_own_pairs")
    admit(experiment, *sizes(experiment, pairs), limits.memory)
    device, credit = limits.devices[0], pairs.credit if pairs else ""
    plan = execution_plan(experiment, device)
    return Run(new_id(), new_name(()), experiment, device=device, **plan, data=pairs, credit=credit, parent=parent)


def open_saved(path: Path, changes: Collection[str] = ()) -> Folder:
    """Opens the folder of a run whose training is to go on, see `train`. Raises Refusal when it has ended, can't be read, doesn't fit into
    memory, or where `changes` names settings that it shall have: it keeps its own."""
    if changes:
        raise Refusal("runs.keeps_its_settings", names=", ".join(changes))
    saved, limits = Folder(path), Limits.from_environment()
    next_status(saved.run.status, "train")
    admit(saved.experiment, *sizes(saved.experiment, saved.run.pairs), limits.memory)
    if saved.run.device not in limits.devices:
        saved.run.device = limits.devices[0]
    return saved


def train(
    run: Run, corpora: Corpora, replay_bytes: int = BUDGET_BYTES, frames: int = MAX_FRAMES, max_saved: int = MAX_SAVED,
    saved: Folder | None = None, out: Path | None = None, start: Parameters | None = None,
) -> Iterator[int]:  # fmt: skip
    """Prepares the run and trains it to its end, on as many cores as it can use; yields after every step, where `run.obey("stop")` ends it.
    Sets torch's threads for this thread to one.

    A new run begins with the parameters `start`, if given.

    A run of `saved` goes on from there, bit for bit as if it had never been interrupted. `out` keeps the run in a folder, which is
    replaced on the way too, so that it can go on after the process has died.
    """
    torch.set_num_threads(1)
    run.seen_at = float("-inf")  # unwatched: no frames but the replay's
    run.set_status("preparing")
    training = Training(run.experiment, corpora.get(run.experiment, run.pairs), run.device, run.precision)
    if start:
        training.load_parameters(start)
    if saved:
        if saved.has("weights.safetensors"):
            saved.restore(training)
        run.hold(**parts_of(saved))
    recording = Recording(run, training, replay_bytes, frames, max_saved=max_saved)
    run.set_status("training")
    status, message, cores = "done", None, min(run.threads, machine_cores())
    with Helpers(cores - 1) as helpers:
        training.parallel_map = helpers.parallel_map(cores)
        try:
            clock, due = run.runtime.monotonic, run.runtime.monotonic() + SAVE_SECONDS
            for step in recording.steps():
                if out and (began := clock()) >= due:
                    with suppress(OSError):  # a full disk, perhaps only for now
                        _keep(out, run, training, copy_parameters(training.model))
                    due = clock() + max(SAVE_SECONDS, (clock() - began) / SAVE_SHARE)
                yield step
                if not run.unfinished:
                    break
            status, message = run.status if run.status == "stopped" else status, run.message
        except Diverged as error:
            status, message = "diverged", Refusal("runs.diverged", step=error.step)
        recording.finish()
    run.checkpoint_step = run.step
    run.set_status(status, message)
    if out:
        _keep(out, run, training, run.snapshot.parameters)


def _keep(out: Path, run: Run, training: Training, parameters: Parameters) -> None:
    """Writes the run's folder, unless it is about to diverge; with the state of the training if that may go on. Raises OSError."""
    if run.unfinished and not all(bool(tensor.isfinite().all()) for tensor in parameters.values()):
        return
    run.checkpoint_step = run.step
    state = {"state.safetensors": pack_state(training)} if allows(run.status, "train") else {}
    write_run(out, run, first_files(run) | pack_run(run, parameters) | state)


def contents(run: Run) -> dict[str, bytes]:
    """Returns an ended run's files."""
    return first_files(run) | pack_run(run, run.snapshot.parameters)


def check_free(folder: Path) -> None:
    """Raises Refusal unless the folder is empty or holds a run, of no later version of this program."""
    try:
        Folder(folder)
    except Refusal as refusal:
        if refusal.key == "runs.newer_format":
            raise
    if folder.exists() and not (folder / "run.json").exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refusal("runs.folder_taken", folder=str(folder))


SAVE_SECONDS = Limits.save_seconds  # between two saves of a run at work
MAX_TOTAL_BYTES = 19_000_000  # bytes of all checkpoints
REPLAY_BYTES = 64_000_000  # during training: enough for the parameters of every frame
SHORT = {"steps": 90, "learning_rate": 0.05, "batch_size": 80}
SMALL = {
    "d_model": 32, "d_ff": 128, "encoder_layers": 1, "decoder_layers": 1, "steps": 400, "learning_rate": 0.02, "batch_size": 80,
}  # fmt: skip

CHECKPOINTS = {
    "reverse": {"task": "reverse", "seed": 1, **SHORT},
    "sort": {"task": "sort", "seed": 1, **SMALL},
    "numbers_de": {"task": "numbers_de", "seed": 1, **SMALL},
    "numbers_zh": {"task": "numbers_zh", "seed": 1, **SMALL},
    "one_to_many": {"task": "one_to_many", "seed": 1, **SMALL},
    "german_english": {"task": "german_english", "seed": 1},  # what the home page shows is what its controls train
}


def checkpoint_experiment(name: str) -> Experiment:
    """Returns the experiment of the checkpoint `name`. Raises KeyError."""
    return Experiment().with_(**CHECKPOINTS[name])


def make_checkpoints(folder: Path, names: tuple[str, ...] = tuple(CHECKPOINTS)) -> Iterator[Run]:
    """Trains these checkpoints on the CPU into `folder`; yields each when done."""
    for name in names:
        run = new_run(checkpoint_experiment(name), limits=Limits())
        run.name = name
        run.created = 0.0  # reproducible files
        for _ in train(run, Corpora(), REPLAY_BYTES, MIN_FRAMES, MIN_FRAMES):
            pass
        _drop_longest_attention(run)
        run.id = name
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as room:
            write_run(Path(room) / name, run, contents(run))
            shutil.rmtree(folder / name, ignore_errors=True)
            (Path(room) / name).rename(folder / name)
        yield run


def _drop_longest_attention(run: Run) -> None:
    """Drops the longest probes' attention from the replay to save space: the parameters of every frame can reproduce it."""
    replay = run.replay
    limits = [limit for _, limit in replay.plan.lengths]
    attention = tuple(limit < max(limits) for limit in limits)
    replay.frames = tuple(
        Frame(frame.step, tuple(
            completion if has_attention else replace(completion, encoder=None, decoder=None, cross=None)
            for completion, has_attention in zip(frame.completions, attention, strict=True)
        )) for frame in replay.frames
    )  # fmt: skip
    replay.plan = replace(replay.plan, attention=attention)

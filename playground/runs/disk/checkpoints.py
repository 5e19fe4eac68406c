"""The shipped runs: one table of name -> knobs, each trained from a fixed seed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from playground.config import Experiment
from playground.runs.corpora import Corpora
from playground.runs.disk.store import write_run
from playground.runs.limits import Limits
from playground.runs.queue import train_inline
from playground.runs.replay import MIN_FRAMES, Frame
from playground.runs.run import Run

MAX_TOTAL_BYTES = 12_000_000  # bytes of all checkpoints
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
    "german_english": {"task": "german_english", "seed": 1, **SMALL},
}


def experiment(name: str) -> Experiment:
    """Returns the experiment of the checkpoint `name`. Raises KeyError."""
    return Experiment().with_(**CHECKPOINTS[name])


def make(folder: Path, names: tuple[str, ...] = tuple(CHECKPOINTS)) -> Iterator[Run]:
    """Trains these checkpoints on the CPU into `folder`; yields each when done."""
    for name in names:
        run = train_inline.new_run(experiment(name), limits=Limits())
        run.name = name
        run.created = 0.0  # reproducible files
        for _ in train_inline.train(run, Corpora(), REPLAY_BYTES, MIN_FRAMES, MIN_FRAMES):
            pass
        leave_out_longest(run)
        run.id = name
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as room:
            write_run(Path(room) / name, run, train_inline.contents(run))
            shutil.rmtree(folder / name, ignore_errors=True)
            (Path(room) / name).rename(folder / name)
        yield run


def leave_out_longest(run: Run) -> None:
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

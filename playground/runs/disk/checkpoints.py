"""The runs that ship with the app: one table of name -> knobs, each trained from a fixed seed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from playground.config import Experiment
from playground.runs.capture import complete
from playground.runs.corpora import Corpora
from playground.runs.disk.rounded import pack_rounded, unpack_rounded
from playground.runs.disk.store import write_run
from playground.runs.limits import Limits
from playground.runs.queue import train_inline
from playground.runs.replay import MIN_FRAMES, Frame
from playground.runs.run import Run
from playground.variants import build

ALTOGETHER = 12_000_000  # bytes of all of them
REPLAY_BYTES = 64_000_000  # while they are trained: enough for the parameters of every frame
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
    """What the checkpoint `name` is trained on and how. Raises KeyError."""
    return Experiment().with_(**CHECKPOINTS[name])


def make(folder: Path, names: tuple[str, ...] = tuple(CHECKPOINTS)) -> Iterator[Run]:
    """Trains these checkpoints anew, on the CPU, into `folder`; yields each as it is done."""
    for name in names:
        run = train_inline.new_run(experiment(name), limits=Limits())
        run.name = name
        run.created = 0.0  # the same command makes the same files
        for _ in train_inline.train(run, Corpora(), REPLAY_BYTES, MIN_FRAMES):
            pass
        round_parameters(run)
        run.id = name
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as room:
            write_run(Path(room) / name, run, train_inline.contents(run))
            shutil.rmtree(folder / name, ignore_errors=True)
            (Path(room) / name).rename(folder / name)
        yield run


def round_parameters(run: Run) -> None:
    """Rounds what the run's replay has kept to a byte per number and pictures its frames anew from that, so that a frame and the
    parameters of its step say the same. The longest probe's attention, which the parameters give as well, is left out to save room."""
    replay, sizes = run.replay, [tokenizer.size for tokenizer in run.tokenizers]
    replay.rounded = pack_rounded(replay.kept)
    replay.kept = unpack_rounded(sorted(replay.kept), replay.rounded, list(run.snapshot.parameters))
    limits = [limit for _, limit in replay.plan.lengths]
    pictured = tuple(limit < max(limits) for limit in limits)
    model, frames = build(run.experiment.model, *sizes).eval(), []
    for frame in replay.frames:
        model.load_state_dict(replay.parameters(frame.step)[1], strict=False)
        frames.append(Frame(frame.step, complete(model, _probes(run), [done.ids for done in frame.completions], limits, pictured)))
    replay.plan, replay.frames = replace(replay.plan, attention=pictured), tuple(frames)


def _probes(run: Run) -> list[list[int]]:
    return [run.tokenizers[0].encode(source) for source, _ in run.replay.plan.probes]

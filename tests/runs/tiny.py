"""The smallest experiments, how to wait for a condition, and runs of a server without threads (`world`): what the tests of runs share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from playground.config import Experiment, Refusal
from playground.model.costs import training_bytes
from playground.reading.filtering import Pair
from playground.reading.pairs import Pairs
from playground.runs.corpora import Corpora, sizes
from playground.runs.limits import Limits
from playground.runs.queue import train_inline
from playground.runs.recording import Recording
from playground.runs.replay import Replay
from playground.runs.rounded import pack_rounded
from playground.runs.run import Run
from playground.training.loop import Training

if TYPE_CHECKING:
    from tests.simulation.world import World

LONG = 100_000  # steps of a run that is not to end
TINY = {
    "d_model": 8, "n_heads": 2, "encoder_layers": 1, "decoder_layers": 1, "d_ff": 8, "train_size": 100, "validation_size": 10, "steps": 12,
    "threads": 1, "eval_every": 4, "dropout": 0.1, "batch_size": 8, "optimiser": "adam", "learning_rate": 0.01, "schedule": "constant",
    "warmup": 0,
}  # fmt: skip
LIMITS = Limits(cores=2, turn_seconds=0.005, replay_bytes=4_000_000)
CORPORA = Corpora()  # shared by all tests: a corpus never changes
ME, YOU = "my token", "your token"
PAIRS = Pairs(tuple(Pair(f"word{n} again", f"wort{n} noch", n + 1) for n in range(40)), {}, 40, "tsv", ("own.tsv",), "CC BY, somebody")


def tiny(**knobs) -> Experiment:
    return Experiment().with_(**{**TINY, **knobs})


def limits(**values) -> Limits:
    return replace(LIMITS, **values)


def needed(experiment: Experiment) -> int:
    return training_bytes(experiment, *sizes(experiment))


@cache
def alone(experiment: Experiment) -> tuple[Run, Training]:
    """The same experiment trained by itself, in this thread, from the first step to the last."""
    torch.set_num_threads(1)
    run = Run("solitary-twin-of-a-run", "solitary-twin", experiment)
    run.seen_at = float("-inf")
    recording = Recording(run, Training(experiment, CORPORA.get(experiment)), LIMITS.replay_bytes)
    for _ in recording.steps():
        pass
    recording.finish()
    run.status, run.checkpoint_step = "done", run.step
    return run, recording.training


def train_here(experiment: Experiment, pairs: Pairs | None = None, **options: int) -> Run:
    """A run of the command line's, trained to its end in this thread."""
    run = train_inline.new_run(experiment, pairs, LIMITS)
    for _ in train_inline.train(run, CORPORA, **options):
        pass
    return run


def curve(run: Run) -> list[list[float]]:
    """What must be the same bit for bit; speeds are the machine's."""
    return [run.history.steps.column(name) for name in ("step", "loss", "learning_rate", "grad_norm")]


def same_parameters(one, other) -> bool:
    return one.keys() == other.keys() and all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def same_replay(one: Run, other: Run) -> bool:
    """Frames and parameters, number for number."""
    arrays = ("probabilities", "top_ids", "top_probabilities", "encoder", "decoder", "cross")
    for a, b in zip(one.replay.frames, other.replay.frames, strict=True):
        for c, d in zip(a.completions, b.completions, strict=True):
            if (a.step, c.ids) != (b.step, d.ids) or not all(np.array_equal(getattr(c, name), getattr(d, name)) for name in arrays):
                return False
    return one.replay.parameter_steps == other.replay.parameter_steps and same_parameters(*map(_stored, (one.replay, other.replay)))


def _stored(replay: Replay) -> dict[str, torch.Tensor]:
    """Returns the parameters of all steps, rounded ones as they are encoded: to decode a step decodes all before it."""
    exact = {f"{step}.{name}": tensor for step, tensors in filter(None, (replay.best, replay.last)) for name, tensor in tensors.items()}
    return exact | pack_rounded(tuple(replay.parameters_by_step.values()))


def ended_as_if_alone(run: Run, experiment: Experiment) -> None:
    """Without a word, and with all that its solitary twin has recorded."""
    twin, _ = alone(experiment)
    assert (run.status, run.message, curve(run)) == ("done", None, curve(twin))
    assert run.history.validations.rows() == twin.history.validations.rows()
    assert same_replay(run, twin)


def wait(condition: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "this never came true"
        time.sleep(0.002)


def done(run: Run) -> Run:
    wait(lambda: not run.working)
    return run


def at_step(run: Run, step: int) -> Run:
    wait(lambda: run.step >= step or not run.working)
    assert run.working, run.message
    return run


def refused(key: str) -> pytest.RaisesExc:
    """What happens in here is refused for this reason."""
    return pytest.raises(Refusal, check=lambda refusal: refusal.key == key)


def begun(world: World, owner: str = ME, step: int = 3, order: str | None = None, **knobs) -> Run:
    """A new run that has come to this step, or the first after it, and has carried out the order since."""
    run = world.runs.create(tiny(**{"steps": LONG, **knobs}), owner)
    world.until(lambda: run.step >= step)
    return ordered(world, run, order, owner) if order else run


def ordered(world: World, run: Run, order: str, owner: str = ME) -> Run:
    getattr(world.runs, order)(run.id, owner)
    return at_rest(world, run)


def at_rest(world: World, run: Run) -> Run:
    world.until(lambda: not run.working and not world.runs._workers.busy(run))
    return run


def ended(world: World, owner: str = ME, **knobs) -> Run:
    return at_rest(world, world.runs.create(tiny(**knobs), owner))

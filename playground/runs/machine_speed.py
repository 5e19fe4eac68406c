"""Pace: how fast this machine is, measured once, and what follows from it: how long a training will take, and in which precision.

Products of matrices in bfloat16 are several times faster than in float32 where the processor has instructions for them, and a hundred times
slower where it hasn't. What a narrow model gains on the products it loses on converting.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from playground.config import Experiment
from playground.data.corpus import Corpus, build_corpus
from playground.training.loop import Training
from playground.training.work import step_work

log = logging.getLogger(__name__)
WIDE = 256  # d_model from which on products are most of a step
WORTH = 3.0  # times as fast as float32 must bfloat16 products be: the rest of a step gains nothing
SAMPLE_SECONDS = 0.004  # seconds that a product must take to be timed well
ROWS = (16, 1024)  # of the product: from the fewest, which takes no time even where bfloat16 is emulated, to the most
TIMED = 8  # steps, of which the fastest counts
TINY = {
    "d_model": 8,
    "d_ff": 8,
    "n_heads": 1,
    "threads": 1,
    "train_size": 200,
    "validation_size": 10,
}  # a step of it is all calls and no arithmetic
_measuring = threading.Lock()


@dataclass(frozen=True)
class MachineSpeed:
    """Seconds of a step: so many for the calls that each layer makes, and so many for each operation. On one core that has nothing else to
    do: measured is the processor's time, for it is measured once, and what others do at that moment is no property of the machine."""

    layer: float
    operation: float

    def step(self, layers: int, operations: float) -> float:
        return self.layer * layers + self.operation * operations


def measured() -> MachineSpeed:
    """Trains two models for a few steps: half a second, once in a process; whoever else asks meanwhile waits."""
    with _measuring:
        return _measured()


@cache
def _measured() -> MachineSpeed:
    torch.set_num_threads(1)  # of this thread, whose time is measured
    small, usual = Experiment().with_(**TINY), Experiment().with_(threads=1, train_size=200, validation_size=10)
    corpora = [(experiment, build_corpus(experiment.data)) for experiment in (small, usual)]
    seconds = [_step_seconds(*one) for one in corpora]
    work = [step_work(*one).operations for one in corpora]
    operation = max(seconds[1] - seconds[0], 0.1 * seconds[1]) / (work[1] - work[0])
    return MachineSpeed(seconds[0] / layers(small), operation)


def layers(experiment: Experiment) -> int:
    """A decoder layer makes about half as many calls again as an encoder layer."""
    return 2 * experiment.model.encoder_layers + 3 * experiment.model.decoder_layers


def _step_seconds(experiment: Experiment, corpus: Corpus) -> float:
    steps, found = Training(experiment, corpus).steps(), []
    next(steps)
    for _ in range(TIMED):
        started = time.thread_time()
        next(steps)
        found.append(time.thread_time() - started)
    return min(found)


def execution_plan(experiment: Experiment, device: str) -> dict[str, Any]:
    """How a run is computed there, as its record says it: into how many `threads` its batches are cut (as the experiment says, whatever the
    machine has; whole on a GPU), and in which `precision`."""
    training = experiment.training
    threads = training.threads if device == "cpu" else 1
    return {"threads": threads, "precision": precision(training.precision, experiment.model.d_model, device)}


def precision(wanted: str, d_model: int, device: str) -> str:
    """ "float32" or "bfloat16": what is wanted, or, when that is "auto", what is faster on this machine at this width. "float32" where that
    can't be measured."""
    if wanted != "auto":
        return wanted
    if d_model < WIDE:
        return "float32"
    try:
        with _measuring:
            ratio = product_rate(WIDE, torch.bfloat16, device) / product_rate(WIDE, torch.float32, device)
    except Exception as error:
        log.warning("products on %s could not be measured: %r", device, error)
        return "float32"
    return "bfloat16" if ratio > WORTH else "float32"


@cache
def product_rate(width: int, dtype: torch.dtype, device: str) -> float:
    """Operations per second of a product of matrices of this width, on one thread; measured once."""
    weight = torch.ones(width, width, dtype=dtype, device=device)
    rows, most = ROWS
    while True:
        x = torch.ones(rows, width, dtype=dtype, device=device)
        took = min(_timed(x, weight) for _ in range(3))
        if took >= SAMPLE_SECONDS or rows >= most:
            return 2 * rows * width * width / took
        rows *= 2


def _timed(x: torch.Tensor, weight: torch.Tensor) -> float:
    _wait(x)
    started = time.perf_counter()
    x @ weight
    _wait(x)
    return max(time.perf_counter() - started, 1e-9)


def _wait(x: torch.Tensor) -> None:
    """Until a GPU has done what it was asked."""
    if x.is_cuda:
        torch.cuda.synchronize(x.device)

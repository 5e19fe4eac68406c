"""Pace: how fast this machine is, measured once, and what follows from it: how long a training will take, and in which precision.

Products of matrices in bfloat16 are several times faster than in float32 where the processor has instructions for them, and a hundred times
slower where it hasn't. What a narrow model gains on the products it loses on converting.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from playground.config import Experiment
from playground.data.corpus import build_corpus
from playground.training.loop import Training
from playground.training.work import Work, step_work

log = logging.getLogger(__name__)
WIDE = 256  # d_model from which on products are most of a step
WORTH = 3.0  # times as fast as float32 must bfloat16 products be: the rest of a step gains nothing
BFLOAT16 = 0.5  # of what products in bfloat16 gain by themselves, a step does: measured at d_model 256
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
SMALL = {"threads": 1, "train_size": 200, "validation_size": 10}
# Of the usual model's step much goes into elements, of this one's into products.
PRODUCTS = {**SMALL, "d_model": 192, "d_ff": 768, "batch_size": 16, "precision": "float32"}
# A GPU computes so little in less time than the processor takes to lay out a batch for it: there are more layers as well, a larger batch,
# and a wider model.
ON_GPU = (
    TINY,
    {**TINY, "encoder_layers": 6, "decoder_layers": 6},
    {**SMALL, "train_size": 1000, "batch_size": 1000},
    {**PRODUCTS, "d_model": 512, "d_ff": 2048, "batch_size": 200},
)
_measuring = threading.Lock()


@dataclass(frozen=True)
class MachineSpeed:
    """Seconds of a step: so many for the calls that each layer makes, for each operation of the products, and for each element that goes
    through memory. On one core that has nothing else to do: measured is the processor's time, for it is measured once, and what others do
    at that moment is no property of the machine. On a GPU it is the clock's, and so many `once` for what the processor does meanwhile."""

    layer: float
    operation: float
    element: float = 0.0
    once: float = 0.0

    def step(self, layers: int, work: Work, faster: float = 1.0) -> float:
        """`faster`: how many times as fast as in float32 products are."""
        return self.once + self.layer * layers + self.operation * work.operations / faster + self.element * work.elements


def measured(device: str) -> MachineSpeed:
    """Trains a few models for a few steps: a second or more, once in a process; whoever else asks meanwhile waits."""
    with _measuring:
        return _measured(device)


@cache
def _measured(device: str) -> MachineSpeed:
    torch.set_num_threads(1)  # of this thread, whose time is measured
    on_cpu = device == "cpu"
    experiments = [Experiment().with_(**knobs) for knobs in ((TINY, SMALL, PRODUCTS) if on_cpu else ON_GPU)]
    corpora = [build_corpus(experiment.data) for experiment in experiments]
    work = [step_work(*one) for one in zip(experiments, corpora, strict=True)]
    trainings = [Training(*one, device) for one in zip(experiments, corpora, strict=True)]
    seconds = _step_seconds(trainings, time.thread_time if on_cpu else time.perf_counter)
    return solved([(layers(experiment), one) for experiment, one in zip(experiments, work, strict=True)], seconds)


def solved(counted: list[tuple[int, Work]], seconds: list[float]) -> MachineSpeed:
    """The speed at which these steps, of so many layers and so much work, take so many seconds; nothing takes less than no time. Of three,
    nothing is done `once`."""
    rows = torch.tensor([(count, work.operations, work.elements, 1.0)[: len(counted)] for count, work in counted], dtype=torch.float64)
    scale = rows.amax(dim=0)
    found = torch.linalg.lstsq(rows / scale, torch.tensor(seconds, dtype=torch.float64)[:, None]).solution[:, 0] / scale
    return MachineSpeed(*found.clamp(min=0).tolist())


def products_faster(experiment: Experiment, device: str = "cpu") -> float:
    """How many times as fast as in float32 the products of its training are there, conversions included."""
    if precision(experiment.training.precision, experiment.model.d_model, device) == "float32":
        return 1.0
    with _measuring:
        return BFLOAT16 * product_rate(WIDE, torch.bfloat16, device) / product_rate(WIDE, torch.float32, device)


def layers(experiment: Experiment) -> int:
    """A decoder layer makes about half as many calls again as an encoder layer."""
    return 2 * experiment.model.encoder_layers + 3 * experiment.model.decoder_layers


def _step_seconds(trainings: list[Training], clock: Callable[[], float] = time.thread_time) -> list[float]:
    """Of one step of each, which ends with a number of its own: the fastest of some. They take turns, so that a busy moment is none of one
    alone."""
    every = [training.steps() for training in trainings]
    for steps in every:
        next(steps)
    found = [math.inf] * len(every)
    for _ in range(TIMED):
        for at, steps in enumerate(every):
            started = clock()
            next(steps)
            found[at] = min(found[at], clock() - started)
    return found


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
    """Seconds: of this thread's processor time, or of the clock on a GPU, which the processor only waits for."""
    clock = time.perf_counter if x.is_cuda else time.thread_time
    _wait(x)
    started = clock()
    x @ weight
    _wait(x)
    return max(clock() - started, 1e-9)


def _wait(x: torch.Tensor) -> None:
    """Until a GPU has done what it was asked."""
    if x.is_cuda:
        torch.cuda.synchronize(x.device)

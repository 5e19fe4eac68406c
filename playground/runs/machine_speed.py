"""Warms up a process, and measures this machine's speed once, to forecast how long a training takes and to choose its precision; the work
of a training step is known by formula.

The first training step of a process imports and initialises for a second, which no visitor should wait for.

Matrix products in bfloat16 are two to eight times faster than in float32 on processors with the instructions, and a hundred times slower
without. A narrow model loses on conversions what it gains on products.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import torch

from playground.config import Experiment
from playground.data.batches import batches, part_sizes
from playground.data.corpus import Corpus, Item, build_corpus
from playground.model.costs import LOGITS, flops, is_chunked, parameter_count, row_floats, takes_chunks, update_operations
from playground.runs.memory import freeze_objects, keep_free_pages
from playground.training.loop import Training

log = logging.getLogger(__name__)
WIDTH = 256  # of the products that are measured
# d_model, and speed-up of products in bfloat16, from which on a whole step gains. On a CPU only wide linear maps are converted.
GAINS_FROM = {"cpu": (128, 1.5), "gpu": (256, 3.0)}
CONVERSION = 0.12  # seconds for every second of products in float32: measured at d_model 128 to 512
SAMPLE_SECONDS = 0.004  # minimum duration of a product that is timed
ROWS = (16, 1024)  # of the product: from the minimum, which is fast even where bfloat16 is emulated, to the maximum
ROUNDS = 5
TIMED_STEPS = 8  # steps, of which the fastest counts
SMALL = {"threads": 1, "train_size": 200, "validation_size": 10}
TINY = {**SMALL, "d_model": 8, "d_ff": 8, "n_heads": 1}  # its step is all call overhead and no arithmetic
# The usual model's step is dominated by element-wise operations, this one's by products.
PRODUCTS = {**SMALL, "d_model": 192, "d_ff": 768, "batch_size": 16, "precision": "float32"}
# On a GPU batch preparation would dominate such small steps: hence models with more layers, a larger batch, and more width.
ON_GPU = (
    TINY,
    {**TINY, "encoder_layers": 6, "decoder_layers": 6},
    {**SMALL, "train_size": 1000, "batch_size": 1000},
    {**PRODUCTS, "d_model": 512, "d_ff": 2048, "batch_size": 200},
)
_measuring, _warming_up = threading.Lock(), threading.Lock()
_ready: set[str] = set()  # devices that are warmed up
BATCHES, MAX_PAIRS = 4, 512  # batches that are sampled, and pairs of each: enough to estimate a mean
# The fraction of the logits' floats that goes through memory like everything else: with all at once, and in chunks. Measured.
AT_ONCE, CHUNKED = 0.8, 0.3
BACKWARD = 2  # a backward pass takes two products for each of the forward pass


@dataclass(frozen=True)
class Work:
    """Means over a few steps: `operations` (multiplications and additions), `elements` written to memory and read again (what the backward
    pass needs, and all parameters), `tokens` without padding, `cells` of the rectangles including padding."""

    operations: float
    elements: float
    tokens: float
    cells: float

    @property
    def padding(self) -> float:
        """The fraction of the cells that is padding."""
        return 1 - self.tokens / self.cells


def estimate_work(experiment: Experiment, corpus: Corpus, sizes: tuple[int, int] | None = None) -> Work:
    """Estimates the work of a step; the corpus may be a small one of the same kind, with vocabularies of other `sizes`."""
    config, (src_vocab, vocab) = experiment.training, sizes or (corpus.src_tokenizer.size, corpus.tgt_tokenizer.size)
    size = min(config.batch_size, MAX_PAIRS) if config.batch_unit == "sentences" else min(config.batch_size, MAX_PAIRS * 2 * corpus.longest)
    scale = config.batch_size / size
    parts = 1 if experiment.model.alteration.needs_whole_batch else config.threads
    operations = elements = tokens = cells = 0.0
    for items in islice(batches(_long_enough(corpus.train, size), size, config.batch_unit, seed=1), BATCHES):
        for rows, s, t, real in part_sizes(items, parts, experiment.packs):
            operations += (1 + BACKWARD) * rows * sum(flops(experiment.model, vocab, s, t).values())
            chunked = takes_chunks(experiment) and is_chunked(scale * rows * t, vocab)
            elements += rows * row_floats(experiment.model, (s + t) / 2)
            elements += rows * (s + t) / 2 * vocab * LOGITS * (CHUNKED if chunked else AT_ONCE)
            tokens += real
            cells += rows * (s + t)
    of_one = scale / BATCHES
    learned = parameter_count(experiment.model, src_vocab, vocab)
    update = update_operations(experiment, src_vocab, vocab)
    return Work(operations * of_one + update, elements * of_one + learned, tokens * of_one, cells * of_one)


def _long_enough(items: Sequence[Item], size: int) -> list[Item]:
    """Returns the items, repeated if needed to fill a batch."""
    some = list(items[:size])
    return some * -(-size // len(some)) if size > len(some) else list(items)


@dataclass(frozen=True)
class MachineSpeed:
    """Seconds per layer (call overhead), per operation of the products, and per element moved through memory, on one otherwise idle core:
    processor time, since it is measured once and must not depend on the load. On a GPU it is wall-clock time, and `once` is the processor's
    fixed part of a step."""

    layer: float
    operation: float
    element: float = 0.0
    once: float = 0.0

    def step(self, count_layers: int, work: Work, faster: float = 1.0) -> float:
        """Returns a step's seconds. `faster` is the speed-up of products over float32."""
        return self.once + self.layer * count_layers + self.operation * work.operations / faster + self.element * work.elements


def measure_speed(device: str) -> MachineSpeed:
    """Measures by training a few models for a few steps: a second or more, once per process; concurrent callers wait."""
    with _measuring:
        return _measure_speed(device)


@cache
def _measure_speed(device: str) -> MachineSpeed:
    torch.set_num_threads(1)  # for this thread, whose time is measured
    on_cpu = device == "cpu"
    experiments = [Experiment().with_(**knobs) for knobs in ((TINY, SMALL, PRODUCTS) if on_cpu else ON_GPU)]
    corpora = [build_corpus(experiment.data) for experiment in experiments]
    work = [estimate_work(*arguments) for arguments in zip(experiments, corpora, strict=True)]
    trainings = [Training(*arguments, device) for arguments in zip(experiments, corpora, strict=True)]
    seconds = _time_steps(trainings, time.thread_time if on_cpu else time.perf_counter)
    return solve_speed(list(zip(map(count_layers, experiments), work, strict=True)), seconds)


def solve_speed(counted: list[tuple[int, Work]], seconds: list[float]) -> MachineSpeed:
    """Fits the speed to the measured seconds of these (layers, work) by least squares, without negative terms. With three measurements
    `once` is 0."""
    rows = torch.tensor([(count, work.operations, work.elements, 1.0)[: len(counted)] for count, work in counted], dtype=torch.float64)
    scale = rows.amax(dim=0)
    solution = torch.linalg.lstsq(rows / scale, torch.tensor(seconds, dtype=torch.float64)[:, None]).solution[:, 0] / scale
    return MachineSpeed(*solution.clamp(min=0).tolist())


def product_speedup(experiment: Experiment, device: str = "cpu") -> float:
    """Returns the speed-up of the training's products over float32, conversions included."""
    if precision(experiment.training.precision, experiment.model.d_model, device) == "float32":
        return 1.0
    return 1 / (1 / _measure_ratio(device) + CONVERSION)


@cache
def _measure_ratio(device: str) -> float:
    """Measures how many times as fast as in float32 products are in bfloat16: the fastest of both, which alternate, so that the choice of a
    precision depends on the machine and not on its load."""
    with _measuring:
        rounds = [[measure_rate(WIDTH, dtype, device) for dtype in (torch.bfloat16, torch.float32)] for _ in range(ROUNDS)]
    narrow, wide = map(max, zip(*rounds, strict=True))
    return narrow / wide


def count_layers(experiment: Experiment) -> int:
    """Returns the number of layers in units of call overhead: a decoder layer makes half as many calls again as an encoder layer."""
    model = experiment.model
    encoder, decoder = (4, 4) if model.alteration.decoder_only else (2, 3)  # one that reads both sides is called for each
    return encoder * model.encoder_layers + decoder * model.decoder_layers


def _time_steps(trainings: list[Training], clock: Callable[[], float] = time.thread_time) -> list[float]:
    """Returns the seconds of each training's fastest step, synchronised. They alternate, so that a load spike affects all alike."""
    generators = [training.steps() for training in trainings]
    for steps in generators:
        next(steps)
    fastest = [math.inf] * len(generators)
    for _ in range(TIMED_STEPS):
        for at, steps in enumerate(generators):
            started = clock()
            next(steps)
            fastest[at] = min(fastest[at], clock() - started)
    return fastest


def execution_plan(experiment: Experiment, device: str) -> dict[str, Any]:
    """Returns a run's recorded execution settings: into how many `threads` its batches are split (the experiment's number, independent of
    the machine; 1 on a GPU), and the `precision`."""
    training = experiment.training
    threads = training.threads if device == "cpu" else 1
    return {"threads": threads, "precision": precision(training.precision, experiment.model.d_model, device)}


def precision(wanted: str, d_model: int, device: str) -> str:
    """Returns "float32" or "bfloat16" as `wanted`, or for "auto" the faster one on this machine at this width; "float32" if measuring
    fails."""
    if wanted != "auto":
        return wanted
    width, speedup = GAINS_FROM["cpu" if device == "cpu" else "gpu"]
    if d_model < width:
        return "float32"
    try:
        return "bfloat16" if _measure_ratio(device) >= speedup else "float32"
    except Exception as error:
        log.warning("products on %s could not be measured: %r", device, error)
        return "float32"


def measure_rate(width: int, dtype: torch.dtype, device: str) -> float:
    """Measures operations per second of a matrix product of this width on one thread."""
    weight = torch.ones(width, width, dtype=dtype, device=device)
    rows, most = ROWS
    while True:
        x = torch.ones(rows, width, dtype=dtype, device=device)
        took = min(_time_product(x, weight) for _ in range(3))
        if took >= SAMPLE_SECONDS or rows >= most:
            return 2 * rows * width * width / took
        rows *= 2


def _time_product(x: torch.Tensor, weight: torch.Tensor) -> float:
    """Returns the product's seconds: this thread's processor time, or wall-clock time on a GPU, for which the processor only waits."""
    clock = time.perf_counter if x.is_cuda else time.thread_time
    _synchronise(x)
    started = clock()
    x @ weight
    _synchronise(x)
    return max(clock() - started, 1e-9)


def _synchronise(x: torch.Tensor) -> None:
    """Synchronises with a GPU."""
    if x.is_cuda:
        torch.cuda.synchronize(x.device)


def warm_up(device: str = "cpu") -> None:
    """Trains and validates the smallest model on the device, once per process, in the calling thread. Errors are only logged: the first
    training is slower then, or reports the same error. From then on the process keeps freed pages, and what it has loaded is exempt from
    garbage collection."""
    torch.set_num_threads(1)
    keep_free_pages()
    with _warming_up:
        if device not in _ready:
            try:
                _train_smallest(device)
                freeze_objects()
                _ready.add(device)
            except Exception:
                log.exception("the warm-up failed")


def warm_up_and_measure(device: str) -> None:
    """Warms up and measures the machine's speed, for the server's forecasts. Runs in a thread that the interpreter joins at exit, unlike
    the calling one: torch aborts an interpreter that is finalised during its work, and on a loaded machine this may outlast the runs."""
    torch.set_num_threads(1)
    with ThreadPoolExecutor(1, "warm-up") as waited_for:
        waited_for.submit(lambda: (warm_up(device), measure_speed(device))).result()


def build_smallest(device: str = "cpu") -> Training:
    """Builds a training of the smallest model with two steps."""
    small = Experiment().with_(**TINY, steps=2)
    return Training(small, build_corpus(small.data), device)


def _train_smallest(device: str) -> None:
    training = build_smallest(device)
    for _ in training.steps():
        training.validate()

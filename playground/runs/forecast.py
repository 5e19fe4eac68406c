"""How long a training takes: a forecast before it begins, with the factor that each choice adds; the remaining time while it trains; and
the number of steps that fits a time limit."""

import logging
import math
import statistics
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from playground.config import SLACK, DataConfig, Experiment, Refusal, default, limits
from playground.data.corpus import Corpus, build_corpus
from playground.reading.pairs import Pairs
from playground.runs.corpora import vocabularies
from playground.runs.limits import machine_cores, machine_devices
from playground.runs.machine_speed import MachineSpeed, Work, count_layers, estimate_work, measure_speed, product_speedup
from playground.words import duration, say, short

log = logging.getLogger(__name__)
Sampler = Callable[[DataConfig, bool], Corpus]
SAMPLE = 300  # pairs sampled for the sentence lengths
WITHIN = 25  # percent by which a step's processor time differed from its forecast, at d_model 32 to 256 and with 50 to 8,000 words
NOTABLE = 0.05  # a choice that changes the time by less is not mentioned
MAX_STRETCHES = 20  # moving window: an old speed predicts little of the next steps
MIN_STRETCHES = 2  # minimum for a standard deviation
# Fractions of the time left at each replanning: soon after the start, often enough that no plan made under load ends before the next one,
# and again near the end, so that load can distort only the last 64th of the schedule.
REPLANNING_MOMENTS = (63 / 64, 31 / 32, *(left / 16 for left in range(15, 0, -1)), 1 / 32, 1 / 64)


@dataclass(frozen=True)
class Forecast:
    """The whole training on this machine's first `device` (of a CPU, one core), without validations and frames. `choices` are (knob that
    differs from the default, factor by which it lengthens the training)."""

    device: str
    work: Work  # of one step
    step_seconds: float
    seconds: float
    choices: tuple[tuple[str, float], ...]


def forecast(experiment: Experiment, pairs: Pairs | None = None) -> Forecast:
    """Forecasts a training. Raises Refusal without enough data, or when this machine's speed can't be measured."""
    device, sample = machine_devices()[0], _make_sampler(pairs)
    work, step = _estimate_step(experiment, pairs, device, sample)
    total_seconds = step * experiment.training.steps
    factors = []
    for name in experiment.difference():
        if name in ("own", "task"):
            continue
        other = experiment.with_(**{name: default(name)})
        factor = total_seconds / (_estimate_step(other, pairs, device, sample)[1] * other.training.steps)
        if abs(factor - 1) >= NOTABLE:
            factors.append((name, factor))
    return Forecast(device, work, step, total_seconds, tuple(sorted(factors, key=lambda choice: -abs(choice[1] - 1))))


def duration_of(experiment: Experiment, training_forecast: Forecast) -> tuple[float, bool]:
    """Returns the training's seconds, and whether its time limit ends it rather than its steps."""
    limit_seconds = 60 * experiment.training.minutes or math.inf
    return min(training_forecast.seconds, limit_seconds), limit_seconds < training_forecast.seconds


def estimate(experiment: Experiment, pairs: Pairs, passes: float, language: str) -> str:
    """Describes the steps, the `passes` over uploaded pairs and the duration here, or why it can't be estimated, in a sentence."""
    try:
        training_forecast = forecast(experiment, pairs)
    except Refusal as refusal:  # this machine's speed can't be measured
        return refusal.say(language)
    (seconds, timed), steps = duration_of(experiment, training_forecast), f"{experiment.training.steps:,}"
    key = "sentences.estimate_timed" if timed else "sentences.estimate" if training_forecast.device == "cpu" else "sentences.estimate_gpu"
    return say(language, key, steps=steps, passes=short(passes), time=duration(seconds, language), within=WITHIN)


def fitting_steps(experiment: Experiment, pairs: Pairs | None = None) -> int:
    """Returns an upper bound for the steps that fit into the experiment's `minutes` on its cores here: SLACK times the forecast, since
    training replans them (TimedSteps) and never exceeds it. Raises Refusal like `forecast`."""
    device = machine_devices()[0]
    cores = min(experiment.training.threads, machine_cores()) if device == "cpu" else 1
    seconds = _estimate_step(experiment, pairs, device, _make_sampler(pairs))[1] / cores
    knob = limits("steps")
    return int(min(max(SLACK * 60 * experiment.training.minutes / seconds, knob.low), knob.high))


def tokens_per_step(experiment: Experiment, pairs: Pairs | None = None) -> float:
    """Returns the mean number of tokens in a training step, source and target without padding. Raises Refusal without data."""
    return _estimate_work(experiment, pairs, _make_sampler(pairs)).tokens


def _make_sampler(pairs: Pairs | None) -> Sampler:
    """Returns a cached function (data, whether the tokenizer is joint) -> a small corpus, of pairs at even distances: many files begin with
    their shortest sentences."""
    if pairs is None:
        return _build_small
    sample = replace(pairs, pairs=pairs.pairs[:: -(-len(pairs.pairs) // SAMPLE)], given=(0, 0), groups=())
    return lru_cache(lambda data, joint: build_corpus(data, sample, joint))


def _estimate_step(experiment: Experiment, pairs: Pairs | None, device: str, sample: Sampler) -> tuple[Work, float]:
    """Returns (work, seconds) of one step."""
    work = _estimate_work(experiment, pairs, sample)
    return work, _get_speed(device).step(count_layers(experiment), work, product_speedup(experiment, device))


def _estimate_work(experiment: Experiment, pairs: Pairs | None, sample: Sampler) -> Work:
    data = replace(experiment.data, train_size=SAMPLE, validation_size=10, data_seed=1)
    corpus = sample(data, experiment.model.share_embeddings == "all")
    return estimate_work(experiment, corpus, _estimate_vocabularies(corpus, data, pairs) if pairs else None)


def _get_speed(device: str) -> MachineSpeed:
    try:
        return measure_speed(device)
    except Exception as error:
        log.warning("this machine's speed could not be measured: %r", error)
        raise Refusal("runs.not_measured") from error


@lru_cache(maxsize=64)
def _build_small(data: DataConfig, joint: bool) -> Corpus:
    return build_corpus(data, None, joint)


def _estimate_vocabularies(corpus: Corpus, data: DataConfig, pairs: Pairs) -> tuple[int, int]:
    """Estimates the vocabulary sizes of all sentences; the corpus is a sample."""
    if pairs.tokenizers:
        return corpus.src_tokenizer.size, corpus.tgt_tokenizer.size
    units = [pairs.units.get(tokenizer.kind, (0, 0))[side] for side, tokenizer in enumerate((corpus.src_tokenizer, corpus.tgt_tokenizer))]
    return vocabularies(data, units, corpus.src_tokenizer is corpus.tgt_tokenizer)


class Pace:
    """The remaining time of a training with its uncertainty, from its speed so far; times are the caller's, in seconds."""

    def __init__(self, now: float, step: int) -> None:
        self._last = (now, step)
        self._stretches: deque[tuple[float, int]] = deque(maxlen=MAX_STRETCHES)  # (seconds, steps)

    def record(self, now: float, step: int) -> None:
        """Ends a stretch, unless no step was completed in it."""
        start, before = self._last
        if step > before:
            self._stretches.append((now - start, step - before))
            self._last = (now, step)

    def estimate_left(self, steps: int) -> tuple[float, float] | None:
        """Returns (lower, upper) seconds for `steps` more: the mean speed, plus or minus one standard deviation over the stretches. None
        while there are too few."""
        if len(self._stretches) < MIN_STRETCHES:
            return None
        seconds, done = map(sum, zip(*self._stretches, strict=True))
        mean, spread = seconds / done, statistics.stdev(seconds / count for seconds, count in self._stretches)
        return steps * max(mean - spread, 0.0), steps * (mean + spread)


class TimedSteps:
    """Replans the number of steps of a run of `minutes` that is at `step` after `seconds` of training, with at most `most` steps.

    The learning rate schedule goes by steps, so it ends with the time under any load. Each new plan is an event of the run's history: with
    these events the run can be repeated anywhere, however long it takes there.
    """

    def __init__(self, minutes: float, most: int, step: int, seconds: float) -> None:
        self._total_seconds, self._most, self._start = 60 * minutes, most, (step, seconds)
        self._replanning_moments = [moment for moment in REPLANNING_MOMENTS if moment < self._fraction_left(seconds)]

    def plan(self, step: int, seconds: float) -> int | None:
        """Returns the new last step when a replanning is due; otherwise None."""
        left = self._fraction_left(seconds)
        before, then = self._start
        if not self._replanning_moments or left > self._replanning_moments[0] or step == before:
            return None
        self._replanning_moments = [moment for moment in self._replanning_moments if moment < left]
        each = max(seconds - then, 1e-9) / (step - before)
        return min(self._most, step + max(int(left * self._total_seconds / each), 1))

    def _fraction_left(self, seconds: float) -> float:
        return 1 - seconds / self._total_seconds

"""Forecast before a training: its work, its duration here, and the factor that each choice adds."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from playground.config import SLACK, DataConfig, Experiment, Refusal, default, limits
from playground.data.corpus import Corpus, build_corpus
from playground.reading.pairs import Pairs
from playground.runs.corpora import vocabularies
from playground.runs.limits import machine_cores, machine_devices
from playground.runs.machine_speed import MachineSpeed, count_layers, measure_speed, product_speedup
from playground.training.work import Work, step_work
from playground.words import say
from playground.words.amounts import duration, short

log = logging.getLogger(__name__)
Sampler = Callable[[DataConfig, bool], Corpus]
SAMPLE = 300  # pairs sampled for the sentence lengths
WITHIN = 25  # percent by which a step's processor time differed from its forecast, at d_model 32 to 256 and with 50 to 8,000 words
NOTABLE = 0.05  # a choice that changes the time by less is not mentioned


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
    training replans them (timed_steps.py) and never exceeds it. Raises Refusal like `forecast`."""
    device = machine_devices()[0]
    cores = min(experiment.training.threads, machine_cores()) if device == "cpu" else 1
    seconds = _estimate_step(experiment, pairs, device, _make_sampler(pairs))[1] / cores
    knob = limits("steps")
    return int(min(max(SLACK * 60 * experiment.training.minutes / seconds, knob.low), knob.high))


def tokens_per_step(experiment: Experiment, pairs: Pairs | None = None) -> float:
    """Returns the mean number of tokens in a training step, source and target without padding. Raises Refusal without data."""
    return _estimate_work(experiment, pairs, _make_sampler(pairs)).tokens


def _make_sampler(pairs: Pairs | None) -> Sampler:
    """Returns a cached function (data, whether the tokenizer is joint) -> a small corpus."""
    return lru_cache(lambda data, joint: build_corpus(data, _sample_pairs(pairs), joint)) if pairs else _build_small


def _estimate_step(experiment: Experiment, pairs: Pairs | None, device: str, sample: Sampler) -> tuple[Work, float]:
    """Returns (work, seconds) of one step."""
    work = _estimate_work(experiment, pairs, sample)
    return work, _get_speed(device).step(count_layers(experiment), work, product_speedup(experiment, device))


def _estimate_work(experiment: Experiment, pairs: Pairs | None, sample: Sampler) -> Work:
    data = replace(experiment.data, train_size=SAMPLE, validation_size=10, data_seed=1)
    corpus = sample(data, experiment.model.share_embeddings == "all")
    return step_work(experiment, corpus, _estimate_vocabularies(corpus, data, pairs) if pairs else None)


def _get_speed(device: str) -> MachineSpeed:
    try:
        return measure_speed(device)
    except Exception as error:
        log.warning("this machine's speed could not be measured: %r", error)
        raise Refusal("runs.not_measured") from error


@lru_cache(maxsize=64)
def _build_small(data: DataConfig, joint: bool) -> Corpus:
    return build_corpus(data, None, joint)


def _sample_pairs(pairs: Pairs) -> Pairs:
    """Samples pairs evenly: many files begin with their shortest sentences."""
    return replace(pairs, pairs=pairs.pairs[:: -(-len(pairs.pairs) // SAMPLE)], given=(0, 0), groups=())


def _estimate_vocabularies(corpus: Corpus, data: DataConfig, pairs: Pairs) -> tuple[int, int]:
    """Estimates the vocabulary sizes of all sentences; the corpus is a sample."""
    units = [pairs.units.get(tokenizer.kind, (0, 0))[side] for side, tokenizer in enumerate((corpus.src_tokenizer, corpus.tgt_tokenizer))]
    return vocabularies(data, units, corpus.src_tokenizer is corpus.tgt_tokenizer)

"""Controlled experiments: a question that only training answers. Arms that differ in one thing, with the same seed, data and steps, each a
run like any other; and a verdict computed from what became of them.

A verdict goes by the means over the seeds. It is weak when there are fewer than three of them, and when the difference that it goes by is
smaller than two standard deviations.

An experiment says no sentence itself: like every lab (see lab.py), it has words of its own, and `name_<arm>` for each arm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from playground.config import Experiment
from playground.data.corpus import Corpus
from playground.lessons.lab import Dots, Lab, Lines, Margin, Outcome, TextTable, Value
from playground.model.transformer import Transformer
from playground.runs.corpora import Corpora
from playground.runs.model_cache import ModelCache
from playground.runs.queue import train_inline
from playground.runs.run import Run
from playground.words import known, say
from playground.words.amounts import percentage

# A model that learns to turn letters round in two or three seconds, unless something is wrong with it.
SMALL = dict(
    d_model=32, n_heads=4, d_ff=64, encoder_layers=1, decoder_layers=1, steps=150, batch_size=64, packing=False, threads=1,
    validation_size=100, eval_every=10, precision="float32",
)  # fmt: skip
NATS = ("loss", "train")  # what is no share
VALIDATED = ("exact", "tokens", "loss")  # numbers of the last validation
CLOSE = 0.05  # arms that are nearer to each other make no difference
SEEDS = 5  # the most that a verdict is asked of
ENOUGH_SEEDS = 3  # with fewer, a verdict is weak
REACH = 30  # hundredths that a number is moved by, to see whether the verdict hangs on it
DEVIATIONS = 2  # standard deviations between two seeds of one arm that a difference has to be larger than


@dataclass(frozen=True)
class Result:
    """One arm with one seed, as far as it is. `curve` has a row for each validation; shares are 0 to 1, losses nats."""

    arm: str
    seed: int
    run: Run
    curve: Mapping[str, Sequence[float]]
    numbers: Mapping[str, float]  # "exact", "tokens", "loss" of the last validation, "train" of the last step, and what else was measured
    profiles: Mapping[str, Sequence[float]] = field(default_factory=dict)  # what was measured at the end as a row of numbers

    @property
    def sampled(self) -> bool:
        """Whether the last validation asked only some of the held-out sentences, as it does while a model knows little."""
        pairs, every = (self.curve.get(name, ())[-1:] for name in ("pairs", "all_pairs"))
        return pairs != every


Results = Mapping[str, Sequence[Result]]  # of each arm, one for each seed
Measured = Mapping[str, float | Sequence[float]]
Measure = Callable[[Transformer, Corpus], Measured]


def best(results: Results) -> str:
    """The arm with the highest exact match, when no other comes near it; else "same"."""
    first, second, *_ = sorted(results, key=lambda arm: -mean(results[arm], "exact"))
    return first if above(results[first], results[second], "exact", CLOSE) else "same"


def above(one: Sequence[Result], other: Sequence[Result], measure: str, by: float) -> bool:
    """Whether one arm is above another by more than this, and by more than two standard deviations between the seeds of one arm."""
    return mean(one, measure) - mean(other, measure) > max(by, DEVIATIONS * spread((one, other), measure))


def mean(found: Sequence[Result], measure: str) -> float:
    return float(np.mean([result.numbers[measure] for result in found]))


def spread(arms: Iterable[Sequence[Result]], measure: str) -> float:
    """How far apart the seeds of one arm end: the sample standard deviation (n − 1), pooled over the arms; 0 for one seed."""
    variances = [np.var([result.numbers[measure] for result in found], ddof=1) for found in arms if len(found) > 1]
    return float(np.sqrt(np.mean(variances))) if variances else 0.0


def averaged(results: Results) -> Results:
    """Every arm as one result, the mean over its seeds."""
    return {arm: [replace(found[0], numbers={name: mean(found, name) for name in found[0].numbers})] for arm, found in results.items()}


def margin(judge: Callable[[Results], str], means: Results) -> Margin | None:
    """How far the answer to these means is from another one, to the hundredth; None where one number changes nothing up to REACH."""
    answer = judge(means)
    for hundredths in range(1, REACH + 1):
        for change in (hundredths / 100, -hundredths / 100):
            for arm, (result,) in means.items():
                for name, value in result.numbers.items():
                    moved = value + change if name in NATS else min(max(value + change, 0.0), 1.0)
                    other = judge({**means, arm: [replace(result, numbers={**result.numbers, name: moved})]})
                    if other != answer:
                        return Margin(change, arm, name, other)
    return None


def untouched(run: Run) -> bool:
    """Whether a run began at step 0 and kept the settings it began with."""
    return run.parent is None and not run.history.events


def is_complete(run: Run) -> bool:
    """Whether a run is a whole arm: it went to its end, untouched."""
    return run.status == "done" and untouched(run)


@dataclass(frozen=True)
class ControlledExperiment(Lab):
    """One question. `arms` are the knobs in which each differs from the `base`; `judge` says which guess the results bear out."""

    arms: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    base: Mapping[str, Any] = field(default_factory=dict)
    judge: Callable[[Results], str] = best
    judged: str = "exact"  # the number that the judge goes by
    decisive: tuple[str, ...] = ()  # arms without which it can't tell, where others matter less: a class has these first
    nearest: Callable[[Results], str] | None = None  # what the judge would say without its tolerance: a guess that is right as well
    measures: tuple[str, ...] = ("exact_match",)  # what is drawn over the steps where no loss decides: columns of the validations
    early: int | None = None  # a step whose exact match is judged as well
    more: Measure | None = None  # what else is measured at the end
    minutes: int = 6
    expects: str | None = None  # what `benchmarks labs` found for at least four of five seeds; "" where it found no answer, None unasked
    is_mystery: bool = False  # its seed is the question itself: seeds can't be put together, and one looks before one guesses

    def say(self, language: str, key: str, **values: Any) -> str:
        """Its own words, or those that all experiments have."""
        return say(language, f"{self.area if known(language, f'{self.area}.{key}') else 'experiment'}.{key}", **values)

    def knows(self, language: str, key: str) -> bool:
        return known(language, f"{self.area}.{key}") or known(language, f"experiment.{key}")

    def experiment(self, arm: str, seed: int) -> Experiment:
        return Experiment().with_(**{**SMALL, **self.base, **self.arms_of(seed)[arm], "seed": seed})

    def arms_of(self, seed: int) -> Mapping[str, Mapping[str, Any]]:
        """The arms; for a mystery, the seed says which."""
        return self.arms

    def recognise(self, run: Run) -> tuple[str, int] | None:
        """(arm, seed) of a run of this experiment; None for any other."""
        seed = run.experiment.training.seed
        return next(((arm, seed) for arm in self.arms_of(seed) if self.experiment(arm, seed) == run.experiment), None)

    def label(self, language: str, arm: str, seed: int) -> str:
        """What the run of an arm is called."""
        return f"{self.say(language, 'title')} · {self.say(language, f'name_{arm}')} · {seed}"

    def result(self, arm: str, seed: int, run: Run, measured: Measured = MappingProxyType({})) -> Result:
        """What became of an arm, with what else was measured at its end."""
        curve, last, step = run.history.validations.rows(), run.history.validations.last(), run.history.steps.last()
        numbers = {"exact": last["exact_match"], "tokens": last["token_accuracy"], "loss": last["loss"]} if last else {}
        numbers |= {"train": step["loss"]} if step else {}
        if last and self.early:
            early = min(self.early, run.steps)
            reached = [share for step, share in zip(curve["step"], curve["exact_match"], strict=True) if step >= early]
            numbers |= {"early": reached[0]} if reached else {}  # no number before it is there
        found = {name: value for name, value in measured.items() if isinstance(value, int | float)}
        return Result(arm, seed, run, curve, numbers | found, {name: row for name, row in measured.items() if name not in found})

    def measured(self, run: Run, corpora: Corpora, models: ModelCache) -> Measured:
        """What else this experiment measures of a run that has ended."""
        return self.more(models.get(run, None).model, corpora.get(run.experiment, run.pairs)) if self.more else {}

    def train(self, seed: int) -> Iterator[Result]:
        """Trains every arm here and now, one after the other."""
        corpora, models = Corpora(), ModelCache()
        for arm in self.arms_of(seed):
            run = train_inline.new_run(self.experiment(arm, seed))
            for _ in train_inline.train(run, corpora, replay_bytes=0):
                pass
            yield self.result(arm, seed, run, self.measured(run, corpora, models))

    def outcome(self, seed: int = 1, **asked: Any) -> Outcome:
        """Trains and judges. Raises Refusal for settings, of which there are none."""
        self.settings(asked)
        return self.verdict([[result] for result in self.train(seed)])

    def verdict(self, results: Sequence[Sequence[Result]]) -> Outcome:
        """What the results of all arms, each with the same seeds, say. `numbers["weak"]` is why that is weak: too few "seeds", or
        too large a "spread" between them; else ""."""
        arms = {found[0].arm: found for found in results}
        means = averaged(arms)
        answer = self.judge(means)
        varies = spread(arms.values(), self.judged) * (1 if self.judged in NATS else 100)
        fewest = min(map(len, results))  # a class has as many of an arm as were dealt
        weak = "seeds" if fewest < ENOUGH_SEEDS else "spread" if self.judge(arms) != answer else ""
        numbers: dict[str, Value] = {"seeds": fewest, "spread": varies, "weak": "" if self.is_mystery else weak}
        for arm, found in arms.items():
            for name in found[0].numbers:
                numbers[f"{arm}_{name}"] = round(mean(found, name) * (1 if name in NATS else 100), 4)
        also = (near,) if self.nearest and (near := self.nearest(means)) != answer else ()
        return Outcome(answer, numbers, self.exhibits(results), None if self.is_mystery else margin(self.judge, means), also)

    def leaves_open(self, outcome: Outcome) -> bool:
        """Whether no guess is wrong: seeds find no answer, or the one that came out may be chance."""
        return self.expects == "" or outcome.answer == "open" or outcome.numbers["weak"] == "spread"

    def exhibits(self, results: Sequence[Sequence[Result]]) -> tuple[Lines | Dots | TextTable, ...]:
        """What is to be seen of the arms, also while they train; a number that decides and has no curve, once all have it."""
        measured = all(self.judged in result.numbers for found in results for result in found)
        decides = (self.decides(results),) if measured and self.judged not in VALIDATED else ()
        return (*decides, self.course(results), self.ends(results))

    def decides(self, results: Sequence[Sequence[Result]]) -> Dots:
        """The number that the judge goes by, of each arm and seed."""
        values = {found[0].arm: tuple(100 * result.numbers[self.judged] for result in found) for found in results}
        return Dots(f"decides_{self.judged}", values)

    def course(self, results: Sequence[Sequence[Result]]) -> Lines:
        """The loss, where it decides, else what is right in percent, over the steps: a line for each arm and measure, the mean over its
        seeds, with the lowest and the highest of them."""
        is_loss = self.judged == "loss"
        measures, times = (("loss",), 1) if is_loss else (self.measures, 100)
        shortest = min(len(result.curve["step"]) for found in results for result in found)
        x = np.asarray(results[0][0].curve["step"][:shortest])
        every = {
            found[0].arm if len(measures) == 1 else f"{found[0].arm}_{measure}": times
            * np.array([result.curve[measure][:shortest] for result in found])
            for found in results
            for measure in measures
        }
        lines = {name: rows.mean(axis=0) for name, rows in every.items()}
        bands = {name: (rows.min(axis=0), rows.max(axis=0)) for name, rows in every.items() if len(rows) > 1}
        said = {"step": int(x[-1]), "seeds": len(results[0])}
        return Lines("course_loss" if is_loss else "course", x, lines, percent=not is_loss, said=said, bands=bands)

    def ends(self, results: Sequence[Sequence[Result]]) -> TextTable:
        """How every arm ended, or where it stands while some still train: one row for each arm and seed."""
        names = tuple(dict.fromkeys(name for found in results for result in found for name in result.numbers))
        rows = [
            (result.arm, str(result.seed), *(_shown(name, result.numbers.get(name), result.sampled) for name in names))
            for found in results
            for result in found
        ]
        name = "ends" if all(result.run.status == "done" for found in results for result in found) else "so_far"
        return TextTable(name, ("arm", "seed", *names), tuple(rows), {"count": results[0][0].run.experiment.data.validation_size})


def _shown(name: str, value: float | None, sampled: bool) -> str:
    if value is None or value != value:
        return "–"
    about = "≈ " if sampled and name in VALIDATED else ""
    return about + (f"{value:.3f}" if name in NATS else f"{percentage(value)} %")

"""Controlled experiments: arms that differ in one setting, with the same seed, data and steps, each an ordinary run; and a verdict computed
from them.

A verdict compares means over the seeds. It is weak with fewer than three seeds, or when the decisive difference is smaller than two
standard deviations.

An experiment's messages are in its own area, like those of every lab (see lab.py), with `name_<arm>` for each arm.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from playground.config import Experiment
from playground.data.corpus import Corpus
from playground.knobs import shown_setting
from playground.lessons.lab import Dots, Lab, Lines, Margin, Outcome, TextTable, Value
from playground.model.transformer import Transformer
from playground.runs.corpora import Corpora, ModelCache
from playground.runs.queue import train_inline
from playground.runs.run import Run
from playground.training.metrics import build_eval_set, validate
from playground.words import known, listed, percentage

# A model that learns to reverse letters within two or three seconds, unless it is broken.
SMALL = dict(
    d_model=32, n_heads=4, d_ff=64, encoder_layers=1, decoder_layers=1, steps=150, batch_size=64, packing=False, threads=1,
    validation_size=100, eval_every=10, precision="float32",
)  # fmt: skip
STATED = ("task", "encoder_layers", "decoder_layers", "d_model", "n_heads", "dropout", "steps", "batch_size", "optimiser")  # to the reader
NATS = ("loss", "train")  # losses; all other numbers are fractions
VALIDATED = ("exact", "tokens", "loss")  # numbers of the last validation
CLOSE = 0.05  # a smaller difference between arms is none
CLEAR = 0.2  # loss of exact match from which a part is needed
HARDER = 100  # number of longer sentences tested
SEEDS = 5  # maximum number of seeds of a verdict
ENOUGH_SEEDS = 3  # with fewer, a verdict is weak
REACH = 30  # maximum change in hundredths when searching for the margin
DEVIATIONS = 2  # a difference must exceed this many standard deviations between seeds


@dataclass(frozen=True)
class Result:
    """One arm with one seed, possibly unfinished. `curve` has a row for each validation; fractions are 0 to 1, losses in nats."""

    arm: str
    seed: int
    run: Run
    curve: Mapping[str, Sequence[float]]
    numbers: Mapping[str, float]  # "exact", "tokens", "loss" of the last validation, "train" of the last step, and further measures
    profiles: Mapping[str, Sequence[float]] = field(default_factory=dict)  # rows of numbers measured at the end

    @property
    def sampled(self) -> bool:
        """Whether the last validation used only a sample of the held-out sentences, as it does early in training."""
        pairs, every = (self.curve.get(name, ())[-1:] for name in ("pairs", "all_pairs"))
        return pairs != every


Results = Mapping[str, Sequence[Result]]  # per arm, one for each seed
Arms = Sequence[Sequence[Result]]  # the same without names, in the order of the arms
Measured = Mapping[str, float | Sequence[float]]
Measure = Callable[[Transformer, Corpus], Measured]


def best(results: Results) -> str:
    """Returns the arm with the highest exact match by a clear distance; else "same"."""
    first, second, *_ = sorted(results, key=lambda arm: -mean(results[arm], "exact"))
    return first if above(results[first], results[second], "exact", CLOSE) else "same"


def above(results: Sequence[Result], other_results: Sequence[Result], measure: str, by: float) -> bool:
    """Whether one arm exceeds another by more than `by` and two standard deviations between seeds."""
    return mean(results, measure) - mean(other_results, measure) > max(by, DEVIATIONS * spread((results, other_results), measure))


def falls(results: Sequence[Result], first: str, second: str, by: float) -> bool:
    """Whether the second of two numbers of the same models is lower by more than `by` and two standard deviations between seeds."""
    gaps = [result.numbers[first] - result.numbers[second] for result in results]
    return np.mean(gaps) > max(by, DEVIATIONS * np.std(gaps, ddof=1) if len(gaps) > 1 else 0)


def mean(results: Sequence[Result], measure: str) -> float:
    return float(np.mean([result.numbers[measure] for result in results]))


def spread(arms: Iterable[Sequence[Result]], measure: str) -> float:
    """Returns the sample standard deviation (n - 1) between seeds, pooled over the arms; 0 for one seed."""
    variances = [np.var([result.numbers[measure] for result in results], ddof=1) for results in arms if len(results) > 1]
    return float(np.sqrt(np.mean(variances))) if variances else 0.0


def averaged(results: Results) -> Results:
    """Returns every arm as one result, the mean over its seeds."""
    means = {arm: {name: mean(seeds, name) for name in seeds[0].numbers} for arm, seeds in results.items()}
    return {arm: [replace(seeds[0], numbers=means[arm])] for arm, seeds in results.items()}


def margin(judge: Callable[[Results], str], means: Results) -> Margin | None:
    """Returns the smallest change of a single number, in hundredths, that changes the answer; None up to REACH."""
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


def is_measured(results: Arms) -> bool:
    """Whether all arms have their extra measurements of the end."""
    return all(result.profiles for arm_results in results for result in arm_results)


def measure_harder(model: Transformer, corpus: Corpus) -> Mapping[str, float]:
    """Measures exact match on longer sentences, or those of the harder kind."""
    return {"harder": validate(model, build_eval_set(corpus, corpus.harder[:HARDER])).exact_match}


def untouched(run: Run) -> bool:
    """Whether a run began at step 0 and its settings never changed."""
    return run.parent is None and not run.history.events


def is_complete(run: Run) -> bool:
    """Whether a run is a complete arm: finished and untouched."""
    return run.status == "done" and untouched(run)


@dataclass(frozen=True)
class ControlledExperiment(Lab):
    """One question. `arms` are the knobs that differ from `base`; `judge` returns the guess that the results support, and `benchmarks labs`
    checks that it is the expected one for at least four of five seeds."""

    arms: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    base: Mapping[str, Any] = field(default_factory=dict)
    judge: Callable[[Results], str] = best
    judged: str = "exact"  # the number that the judge compares
    decisive: tuple[str, ...] = ()  # arms that the answer depends on: assigned first in a class
    nearest: Callable[[Results], str] | None = None  # the judge without its tolerance: its guess is correct too
    measures: tuple[str, ...] = ("exact_match",)  # validation columns to plot unless a loss decides
    early: int | None = None  # an earlier step whose exact match is judged too
    more: Measure | None = None  # extra measurement at the end
    shows: Callable[[Arms], tuple[Lines | Dots | TextTable, ...]] | None = None  # its own exhibits
    shows_first: bool = False  # own exhibits come before the curves
    minutes: int = 6
    kind: str = "ablation"
    family: str = ""  # an area with texts common to several experiments
    is_mystery: bool = False  # the seed selects the question: seeds can't be combined, and exhibits come before the guess

    def find_key(self, language: str, key: str) -> str:
        """Returns the key of its own text, or else of one common to its family or all experiments."""
        keys = [f"{area}.{key}" for area in (self.area, self.family, "experiment")]
        return next((own for own in keys if known(language, own)), super().find_key(language, key))

    def say(self, language: str, key: str, **values: Value) -> str:
        """Returns a text, `about` with the settings that all arms share."""
        return super().say(language, key, **values | ({"settings": self.name_settings(language)} if key == "about" else {}))

    def name_settings(self, language: str) -> str:
        """Names the main settings, without 0, in which no arm differs: "d_model 32, Optimiser Muon"."""
        first, *rest = [self.experiment(arm, 1).flat() for arm in self.arms_of(1)]
        shared = (name for name in STATED if first[name] and all(flat[name] == first[name] for flat in rest))
        return listed(language, (shown_setting(name, first[name], language) for name in shared))

    def experiment(self, arm: str, seed: int) -> Experiment:
        return Experiment().with_(**{**SMALL, **self.base, **self.arms_of(seed)[arm], "seed": seed})

    def arms_of(self, seed: int) -> Mapping[str, Mapping[str, Any]]:
        """Returns the arms; those of a mystery depend on the seed."""
        return self.arms

    @property
    def aside(self) -> tuple[str, ...]:
        return ("course_loss" if self.judged == "loss" else "course", "so_far", "ends")

    def list_curves(self, arms: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Returns (arm, validation column) of each curve by its name."""
        columns = ("loss",) if self.judged == "loss" else self.measures
        return {arm if len(columns) == 1 else f"{arm}_{column}": (arm, column) for arm in arms for column in columns}

    def axes(self) -> Lines:
        """Returns the curves of all arms before their first step."""
        arms = self.arms_of(1)
        steps = max(self.experiment(arm, 1).training.steps for arm in arms)
        lines, caption = dict.fromkeys(self.list_curves(arms), np.full(2, np.nan)), {"step": steps, "seeds": 1}
        return Lines(self.aside[0], np.array([0, steps]), lines, percent=self.judged != "loss", caption=caption, ends=(0, steps))

    def recognise(self, run: Run) -> tuple[str, int] | None:
        """Returns (arm, seed) of a run of this experiment; None for any other run."""
        seed = run.experiment.training.seed
        return next(((arm, seed) for arm in self.arms_of(seed) if self.experiment(arm, seed) == run.experiment), None)

    def label(self, language: str, arm: str, seed: int) -> str:
        """Names the run of an arm: what tells it from others comes first, as the end may be cut. In a bug lab arm and title may agree."""
        title, name = (self.say(language, key) for key in ("title", f"name_{arm}"))
        return " · ".join([str(seed), name, *([title] if name.casefold() != title.casefold() else [])])

    def result(self, arm: str, seed: int, run: Run, measured: Measured = MappingProxyType({})) -> Result:
        """Makes the result of a run, with the extra measurements of its end."""
        curve, last, step = run.history.validations.rows(), run.history.validations.last(), run.history.steps.last()
        numbers = {"exact": last["exact_match"], "tokens": last["token_accuracy"], "loss": last["loss"]} if last else {}
        numbers |= {"train": step["loss"]} if step else {}
        if last and self.early:
            early = min(self.early, run.steps)
            reached = [share for step, share in zip(curve["step"], curve["exact_match"], strict=True) if step >= early]
            numbers |= {"early": reached[0]} if reached else {}  # no number before that validation
        scalars = {name: value for name, value in measured.items() if isinstance(value, int | float)}
        return Result(arm, seed, run, curve, numbers | scalars, {name: row for name, row in measured.items() if name not in scalars})

    def measured(self, run: Run, corpora: Corpora, models: ModelCache) -> Measured:
        """Returns the extra measurements of a finished run."""
        return self.more(models.get(run, None).model, corpora.get(run.experiment, run.pairs)) if self.more else {}

    def train(self, seed: int) -> Iterator[Result]:
        """Trains the arms one after the other, in this process."""
        corpora, models = Corpora(), ModelCache()
        for arm in self.arms_of(seed):
            run = train_inline.new_run(self.experiment(arm, seed))
            for _ in train_inline.train(run, corpora, replay_bytes=0):
                pass
            yield self.result(arm, seed, run, self.measured(run, corpora, models))

    def outcome(self, seed: int = 1, **choices: Any) -> Outcome:
        """Trains and judges. Raises Refusal for any choice: experiments have no controls."""
        self.settings(choices)
        return self.verdict([[result] for result in self.train(seed)])

    def verdict(self, results: Arms) -> Outcome:
        """Judges all arms, each with the same seeds. `numbers["weak"]` is the reason for a weak verdict: too few "seeds", or too large a
        "spread" between them; else ""."""
        arms = {arm_results[0].arm: arm_results for arm_results in results}
        means = averaged(arms)
        answer = self.judge(means)
        varies = spread(arms.values(), self.judged) * (1 if self.judged in NATS else 100)
        fewest = min(map(len, results))  # a class has as many as were assigned
        weak = "seeds" if fewest < ENOUGH_SEEDS else "spread" if self.judge(arms) != answer else ""
        numbers: dict[str, Value] = {"seeds": fewest, "spread": varies, "weak": "" if self.is_mystery else weak}
        for arm, arm_results in arms.items():
            for name in arm_results[0].numbers:
                numbers[f"{arm}_{name}"] = round(mean(arm_results, name) * (1 if name in NATS else 100), 9)  # texts round it
        also = (near,) if self.nearest and (near := self.nearest(means)) != answer else ()
        return Outcome(answer, numbers, self.exhibits(results), None if self.is_mystery else margin(self.judge, means), also)

    def leaves_open(self, outcome: Outcome) -> bool:
        """Whether no guess counts as wrong: seeds find no answer, or it may be chance."""
        return self.expects == "" or outcome.answer == "open" or outcome.numbers["weak"] == "spread"

    def exhibits(self, results: Arms) -> tuple[Lines | Dots | TextTable, ...]:
        """Returns plots and tables, also during training; a decisive number without a curve only once all arms have it."""
        measured = all(self.judged in result.numbers for arm_results in results for result in arm_results)
        decides = (self.decides(results),) if measured and self.judged not in VALIDATED else ()
        common, own = (*decides, self.course(results), self.ends(results)), self.shows(results) if self.shows else ()
        return (*own, *common) if self.shows_first else (*common, *own)

    def decides(self, results: Arms) -> Dots:
        """Plots the decisive number of each arm and seed."""
        values = {arm_results[0].arm: tuple(100 * result.numbers[self.judged] for result in arm_results) for arm_results in results}
        return Dots(f"decides_{self.judged}", values)

    def course(self, results: Arms) -> Lines:
        """Plots the loss, where it decides, else percentages correct, over the steps: per arm and measure the mean over seeds, with the
        range between the lowest and the highest."""
        axes, times, by_arm = self.axes(), 1 if self.judged == "loss" else 100, {arm_results[0].arm: arm_results for arm_results in results}
        shortest = min(len(result.curve["step"]) for arm_results in results for result in arm_results)
        x = np.asarray(results[0][0].curve["step"][:shortest])
        every = {
            name: times * np.array([result.curve[column][:shortest] for result in by_arm[arm]])
            for name, (arm, column) in self.list_curves(by_arm).items()
        }
        lines = {name: rows.mean(axis=0) for name, rows in every.items()}
        bands = {name: (rows.min(axis=0), rows.max(axis=0)) for name, rows in every.items() if len(rows) > 1}
        return replace(axes, x=x, lines=lines, caption={"step": int(x[-1]), "seeds": len(results[0])}, bands=bands)

    def ends(self, results: Arms) -> TextTable:
        """Tabulates the last numbers of each arm and seed, also during training."""
        names = tuple(dict.fromkeys(name for arm_results in results for result in arm_results for name in result.numbers))
        rows = [
            (result.arm, str(result.seed), *(_format_number(name, result.numbers.get(name), result.sampled) for name in names))
            for arm_results in results
            for result in arm_results
        ]
        name = "ends" if all(result.run.status == "done" for arm_results in results for result in arm_results) else "so_far"
        return TextTable(name, ("arm", "seed", *names), tuple(rows), {"count": results[0][0].run.experiment.data.validation_size})


def _format_number(name: str, value: float | None, sampled: bool) -> str:
    if value is None or value != value:
        return "–"
    about = "≈ " if sampled and name in VALIDATED else ""
    return about + (f"{value:.3f}" if name in NATS else f"{percentage(value)} %")

"""One evaluation of a run at a step: loss, token accuracy and exact match on all of a split, the same for every panel; the time slices of a
long query, between which short queries of other visitors run and a caller sees progress; and learning curves of several runs: validations
by step, seconds or tokens, where they can be compared, and their spread over seeds."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import NamedTuple, TypeVar

import numpy as np

from playground.config import Refusal
from playground.data.corpus import Corpus, Item
from playground.features.shared.queries.reader import Reader
from playground.inspection.interventions import Change
from playground.model.costs import parameter_count
from playground.model.transformer import Transformer
from playground.runs.corpora import Corpora
from playground.runs.history import decimate
from playground.runs.run import Run
from playground.training.metrics import Tally, Validation, build_eval_set, tally
from playground.variants import variant_of

SLICE = 50  # inputs of a time slice
BUDGET_S = 0.3  # seconds after which no further slice begins
OPERATIONS = 2e10  # of a busy core in about a second, decoding token by token
Input, Answer = TypeVar("Input"), TypeVar("Answer")
MAX_SENTENCES = 250  # of a slice
ROWS = 500  # of a curve, enough for a figure


def affordable(run: Run, tokens: float, most: int, least: int) -> int:
    """Returns how many sentences of `tokens` tokens (source and target) are read and written in about a second: from `least` to `most`.

    By formula, two operations for each parameter and token, so it depends on the run, not on the load of the machine, and the same link
    shows the same numbers.
    """
    parameters = parameter_count(run.experiment.model, *(tokenizer.size for tokenizer in run.tokenizers))
    return max(least, min(most, int(OPERATIONS / (2 * parameters * max(tokens, 1)))))


def in_slices(
    reader: Reader, run: Run, step: int | None, key: tuple, inputs: Sequence[Input],
    work: Callable[[Transformer, Sequence[Input]], Answer], size: int = SLICE,
) -> tuple[int, list[Answer]]:  # fmt: skip
    """Returns (the step of the parameters, `work(model, slice)` for the first slices of `inputs`, of `size` each). Raises Refusal.

    These are the slices cached under `key`, and as many more as begin within `BUDGET_S`, but one at least: repeated calls get them all,
    and a caller that stops calling has cancelled the rest. While a run trains, its parameters change from slice to slice: then only the
    first is computed, so that all numbers belong to one step. Raises ValueError without inputs.
    """
    if not inputs:
        raise ValueError("there are no inputs")
    clock, worked = run.runtime.monotonic, []
    end = clock() + BUDGET_S
    steps, answers = [], []

    def ask(start: int) -> tuple[int, Answer]:
        part = inputs[start : start + size]

        def work_slice(model: Transformer, actual: int) -> tuple[int, Answer]:
            worked.append(start)
            return actual, work(model, part)

        return reader.work(run, step, (*key, start, size, len(inputs)), work_slice)

    for start in range(0, 1 if run.working else len(inputs), size):
        actual, answer = ask(start)
        if steps and actual != steps[0]:
            break  # the run was resumed
        steps.append(actual)
        answers.append(answer)
        if worked and clock() > end:
            break
    return steps[0], answers


@dataclass(frozen=True)
class Evaluated:
    """Scores of the parameters of `step` on the first `validation.pairs` of the `of` sentences of a split."""

    step: int
    validation: Validation
    of: int

    @property
    def whole(self) -> bool:
        """Tests whether all sentences were scored; else the numbers are those of a sample and must be labelled so."""
        return self.validation.pairs == self.of


def evaluate(reader: Reader, corpora: Corpora, run: Run, step: int | None, split: str = "heldout") -> Evaluated:
    """Returns training's own validation at this step if it covered all held-out sentences; else evaluates as far as the time budget goes,
    and a repeated call continues (see `in_slices`). Raises Refusal."""
    known = recorded(run, run.parameters_at(step)[0]) if split == "heldout" else None
    if known:
        return known
    corpus = corpora.get(run.experiment, run.pairs)
    return evaluate_on(reader, run, step, split, corpus, getattr(corpus, split))


def evaluate_on(reader: Reader, run: Run, step: int | None, name: str, corpus: Corpus, items: Sequence[Item]) -> Evaluated:
    """Evaluates these items, whose right answers the corpus knows; `name` identifies them in the cache."""
    size = slice_size(run, items)
    actual, tallies = in_slices(reader, run, step, ("evaluate", name), items, lambda model, part: tally_of(model, corpus, part), size)
    return Evaluated(actual, total(tallies).validation, len(items))


def evaluate_change(reader: Reader, corpora: Corpora, run: Run, step: int | None, change: Change) -> tuple[Evaluated, Evaluated]:
    """Evaluates before and after a change, on the same held-out sentences. An edit belongs to one sentence and is left out."""
    change = replace(change, edit=None).within(run.experiment.model)
    if not change:
        before = evaluate(reader, corpora, run, step)
        return before, before
    corpus = corpora.get(run.experiment, run.pairs)

    def work(model: Transformer, part: Sequence[Item]) -> tuple[Tally, Tally]:
        return tally_of(model, corpus, part), tally_of(change.apply(model), corpus, part)

    size = slice_size(run, corpus.heldout)
    actual, pairs = in_slices(reader, run, step, ("evaluate", change), corpus.heldout, work, size)
    before, after = (Evaluated(actual, total(tallies).validation, len(corpus.heldout)) for tallies in zip(*pairs, strict=True))
    return (recorded(run, actual) or before) if before.whole else before, after


def recorded(run: Run, step: int) -> Evaluated | None:
    """Returns the newest validation of this very step over all held-out sentences; None without one."""
    rows = zip(*run.history.validations.rows().values(), strict=True)
    complete = [row for row in rows if row[0] == step and row[-2] == row[-1]]
    if not complete:
        return None
    _, *numbers, pairs, every = complete[-1]
    return Evaluated(step, Validation(*numbers, int(pairs)), int(every))


def tally_of(model: Transformer, corpus: Corpus, items: Sequence[Item]) -> Tally:
    """Measures these sentences as training does."""
    variant = variant_of(model.config)
    return tally(model, build_eval_set(corpus, tuple(items), change=variant.batch), written=not variant.argmax_is_greedy(model))


def total(tallies: Iterable[Tally]) -> Tally:
    return reduce(add, tallies)


def slice_size(run: Run, items: Sequence[Item]) -> int:
    """Returns the sentences of a time slice."""
    return affordable(run, sum(len(item.src_ids) + len(item.tgt_ids) for item in items) / len(items), MAX_SENTENCES, SLICE)


# ---- learning curves ----


class LearningCurve(NamedTuple):
    """The validations of a run as columns; empty before the first."""

    steps: list[float]
    seconds: list[float]
    tokens: list[float]  # source and target tokens of training so far
    exact_match: list[float]
    validation_loss: list[float]
    sampled: list[bool]  # measured on some of the held-out sentences only

    def at(self, over: str) -> list[float]:
        """Returns the column of the horizontal axis: "steps", "seconds" or "tokens"."""
        return getattr(self, over)

    def newest(self, over: str, limit: float) -> int | None:
        """Returns the row of the newest validation that is not beyond `limit`; None where all are."""
        rows = int(np.searchsorted(self.at(over), limit, side="right"))
        return rows - 1 if rows else None


class Band(NamedTuple):
    """Mean and range over runs that differ in their seed, at the validations that all runs have."""

    places: list[float]
    mean: list[float]
    low: list[float]
    high: list[float]


def learning_curve(run: Run, tokens_per_step: float = math.nan) -> LearningCurve:
    """Reads the learning curve of a run; empty when its files can't be read. Tokens are steps times `tokens_per_step`."""
    try:
        rows = decimate(run.history.validations.rows(), ROWS)
        sampled = [pairs < every for pairs, every in zip(rows["pairs"], rows["all_pairs"], strict=True)]
        tokens = [step * tokens_per_step for step in rows["step"]]
        return LearningCurve(rows["step"], seconds_at(run, rows["step"]), tokens, rows["exact_match"], rows["loss"], sampled)
    except Refusal:  # damaged on the disk
        return LearningCurve([], [], [], [], [], [])


def cut_after(curve: LearningCurve, step: float) -> LearningCurve:
    """Cuts the curve off after a step."""
    rows = int(np.searchsorted(curve.steps, step, side="right"))
    return LearningCurve(*(column[:rows] for column in curve))


def band(curves: Sequence[LearningCurve], column: str, over: str) -> Band:
    """Averages `column` at the steps that all `curves` have, with its extremes; `places` are the means of `over`."""
    common = sorted(set.intersection(*(set(curve.steps) for curve in curves)))
    rows = [[curve.steps.index(step) for step in common] for curve in curves]

    def table(name: str) -> np.ndarray:  # (curves, steps)
        return np.array([[getattr(curve, name)[at] for at in chosen] for curve, chosen in zip(curves, rows, strict=True)])

    values = table(column)
    return Band(*(part.tolist() for part in (table(over).mean(axis=0), values.mean(axis=0), values.min(axis=0), values.max(axis=0))))


def seconds_at(run: Run, steps: Sequence[float]) -> list[float]:
    """Returns the seconds of training after each of `steps`: the run's time, shared among its steps by their recorded speeds. The steps
    that a fork has from its parent are counted at the same rate."""
    recorded = run.history.steps.rows()
    if not recorded["step"]:
        return [0.0] * len(steps)
    speeds = np.array(recorded["tokens_per_second"])
    costs = 1 / np.where(np.isfinite(speeds) & (speeds > 0), speeds, np.nan)
    costs = np.nan_to_num(costs, nan=np.nanmean(costs) if np.isfinite(costs).any() else 1.0)
    own = costs[np.array(recorded["step"]) > run.first_step].sum()
    passed = np.array([0, *np.cumsum(costs)]) * (run.seconds / own if own else 0.0)
    return np.interp(steps, [recorded["step"][0] - 1, *recorded["step"]], passed).tolist()


def common_end(curves: Sequence[LearningCurve], over: str) -> float | None:
    """Returns the last place that all curves have reached; None where one has no validation."""
    return min((curve.at(over)[-1] for curve in curves), default=None) if all(curve.steps for curve in curves) else None

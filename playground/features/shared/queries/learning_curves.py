"""Learning curves of several runs: validations by step, seconds or tokens, where they can be compared, and their spread over seeds."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from playground.config import Refusal
from playground.runs.history import decimate
from playground.runs.run import Run

ROWS = 500  # of a curve, enough for a figure


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

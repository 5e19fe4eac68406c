"""How several runs learnt: their validations by step, by seconds and by tokens, where they can be compared, and what seeds make of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from playground.config import Refusal
from playground.runs.history import decimate
from playground.runs.run import Run

ROWS = 500  # of a curve; a picture shows no more


class LearningCurve(NamedTuple):
    """The validations of a run, a value of each column for each; empty before the first."""

    steps: list[float]
    seconds: list[float]
    tokens: list[float]  # source and target, read in training up to there
    exact_match: list[float]
    validation_loss: list[float]
    sampled: list[bool]  # measured on some of the held-out sentences only

    def at(self, over: str) -> list[float]:
        """The column to draw the others over: "steps", "seconds" or "tokens"."""
        return getattr(self, over)

    def newest(self, over: str, limit: float) -> int | None:
        """The row of the newest validation that is not beyond `limit`; None where all are."""
        rows = int(np.searchsorted(self.at(over), limit, side="right"))
        return rows - 1 if rows else None


class Band(NamedTuple):
    """A value of each validation of several runs that differ in their seed: where all of them have one."""

    places: list[float]
    mean: list[float]
    low: list[float]  # the least of them
    high: list[float]


def learning_curve(run: Run, tokens_per_step: float = math.nan) -> LearningCurve:
    """Of what is known now; empty for a run whose files can't be read. Tokens are counted with so many for each step."""
    try:
        rows = decimate(run.history.validations.rows(), ROWS)
        sampled = [pairs < every for pairs, every in zip(rows["pairs"], rows["all_pairs"], strict=True)]
        tokens = [step * tokens_per_step for step in rows["step"]]
        return LearningCurve(rows["step"], seconds_at(run, rows["step"]), tokens, rows["exact_match"], rows["loss"], sampled)
    except Refusal:  # damaged on the disk
        return LearningCurve([], [], [], [], [], [])


def until(curve: LearningCurve, step: float) -> LearningCurve:
    """The curve up to a step."""
    rows = int(np.searchsorted(curve.steps, step, side="right"))
    return LearningCurve(*(column[:rows] for column in curve))


def band(curves: Sequence[LearningCurve], column: str, over: str) -> Band:
    """The mean and the ends of `column` at the steps that every one of `curves` has; their places are the means of theirs."""
    common = sorted(set.intersection(*(set(curve.steps) for curve in curves)))
    rows = [[curve.steps.index(step) for step in common] for curve in curves]

    def table(name: str) -> np.ndarray:  # (curves, steps)
        return np.array([[getattr(curve, name)[at] for at in found] for curve, found in zip(curves, rows, strict=True)])

    values = table(column)
    return Band(*(part.tolist() for part in (table(over).mean(axis=0), values.mean(axis=0), values.min(axis=0), values.max(axis=0))))


def seconds_at(run: Run, steps: Sequence[float]) -> list[float]:
    """The seconds of training after each of `steps`: the time of the run, shared among its steps by their recorded speeds. The steps that
    a fork has from its parent are counted at the same rate."""
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
    """The last place that every one of them has reached; None where one has no validation."""
    return min((curve.at(over)[-1] for curve in curves), default=None) if all(curve.steps for curve in curves) else None

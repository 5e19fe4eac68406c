"""One evaluation for a run and a step, the trainer's own; and curves of several runs with their means and intervals."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from playground.config import Refusal
from playground.features.board.class_board import T_95, compare_pairs, pool_values
from playground.features.shared.queries import validation
from playground.features.shared.queries.validation import LearningCurve, band, common_end, evaluate, evaluate_change, learning_curve
from playground.inspection.interventions import Change, WeightEdit
from playground.runs.history import History
from playground.training.metrics import build_eval_set, validate
from tests.runs.tiny import CORPORA

KNOBS = {"task": "reverse", "steps": 60, "dropout": 0.0, "n_heads": 2, "d_model": 16, "validation_size": 40, "eval_every": 7}
OFF = Change.parse("c1.1_e1.2")


def test_what_training_measured_of_all_is_not_measured_again(reader, run, unmeasured, monkeypatch):
    table = unmeasured.history.validations
    table.append(7, 2.0, 0.3, 0.0, 10, 40)
    assert validation.recorded(unmeasured, 7) is None
    table.append(7, 1.9, 0.4, 0.1, 40, 40)
    assert validation.recorded(unmeasured, 7).validation.exact_match == 0.1
    assert validation.recorded(unmeasured, 8) is None
    monkeypatch.setattr(validation, "tally_of", None)
    result, last = evaluate(reader, CORPORA, run, None), run.history.validations.last()
    assert (result.whole, result.step) == (True, last["step"])
    assert vars(result.validation) == {name: last[name] for name in ("loss", "token_accuracy", "exact_match", "pairs")}


@pytest.mark.trust
@pytest.mark.parametrize(("step", "split"), [(None, "heldout"), (0, "heldout"), (3, "harder")])
def test_what_it_did_not_measure_is_measured_in_the_same_way(reader, unmeasured, step, split):
    result = evaluate(reader, CORPORA, unmeasured, step, split)
    (model, actual), corpus = reader.model_at(unmeasured, step), CORPORA.get(unmeasured.experiment)
    expected = validate(model, build_eval_set(corpus, getattr(corpus, split)))
    assert (result.step, result.whole, result.of) == (actual, True, 40)
    assert vars(result.validation) == vars(expected) | {"loss": pytest.approx(expected.loss)}


def test_the_parts_of_an_evaluation_add_up_and_a_run_at_work_is_asked_a_sample(reader, unmeasured, model, monkeypatch):
    corpus = CORPORA.get(unmeasured.experiment)
    whole = validate(model, build_eval_set(corpus, corpus.heldout))
    monkeypatch.setattr(validation, "BUDGET_S", -1)
    with monkeypatch.context() as slow:
        slow.setattr(validation, "slice_size", lambda *_: 15)
        result = [evaluate(reader, CORPORA, unmeasured, None) for _ in range(4)]
    assert [(one.validation.pairs, one.whole) for one in result] == [(15, False), (30, False), (40, True), (40, True)]
    summed = {name: pytest.approx(getattr(whole, name)) for name in ("loss", "token_accuracy")}
    assert vars(result[-1].validation) == vars(whole) | summed
    monkeypatch.setattr(validation, "MAX_SENTENCES", 25)
    monkeypatch.setattr(validation, "SLICE", 4)
    unmeasured.status = "training"
    sample = evaluate(reader, CORPORA, unmeasured, None)
    assert (sample.validation.pairs, sample.of, sample.whole) == (25, 40, False)
    before, after = evaluate_change(reader, CORPORA, unmeasured, None, OFF)
    assert before.validation.pairs == after.validation.pairs == 25


@pytest.mark.trust
@pytest.mark.parametrize("memory", ["mean", "cut"])
def test_before_and_after_a_change_are_the_trainers_own(reader, run, model, memory):
    change = Change(OFF.off, memory, WeightEdit(0, 0, 0, 0))
    before, after = evaluate_change(reader, CORPORA, run, None, change)
    corpus = CORPORA.get(run.experiment)
    expected = validate(Change(OFF.off, memory).apply(model), build_eval_set(corpus, corpus.heldout))
    assert before == evaluate(reader, CORPORA, run, None)
    assert (after.validation, after.whole) == (expected, True), "an edit is about one sentence"
    assert evaluate_change(reader, CORPORA, run, None, Change(edit=change.edit)) == (before, before)


def made(speeds: list[float], seconds: float, first: int = 1, first_step: int = 0) -> SimpleNamespace:
    history = History()
    for step, speed in enumerate(speeds, first):
        history.steps.append(step, 1.0, 0.1, 1.0, speed)
    return SimpleNamespace(history=history, seconds=seconds, first_step=first_step)


@pytest.mark.parametrize(("speeds", "seconds", "first", "steps", "expected"), [
    ([100, 100, 50, 50], 6, 0, [0, 1, 2, 3, 4], [0, 1, 2, 4, 6]),  # half of the steps at half the speed: two thirds of the time
    ([100, math.nan, 100], 3, 0, [1, 2, 3], [1, 2, 3]),  # what is not known counts as the mean
    ([math.nan], 3, 0, [1], [3]),
    ([10] * 4, 4, 2, [0, 2, 4], [0, 4, 8]),  # a fork's parent took as long for as many
    ([10] * 2, 0, 2, [1, 2], [0, 0]),  # it has not begun
])  # fmt: skip
def test_seconds_are_the_runs_own_shared_by_speed(speeds, seconds, first, steps, expected):
    assert validation.seconds_at(made(speeds, seconds, first_step=first), steps) == pytest.approx(expected)


def test_a_curve_is_what_the_history_says_or_empty_and_runs_are_compared_where_the_shortest_has_come_to():
    class Damaged:
        @property
        def history(self):
            raise Refusal("runs.not_a_run", what="history.json")

    run = made([10] * 4, seconds=8)
    run.history.validations.append(2, 1.5, 0.5, 0.25, 10, 20)
    run.history.validations.append(4, 0.5, 0.75, 0.5, 20, 20)
    curve = learning_curve(run, tokens_per_step=30)
    assert curve == LearningCurve([2, 4], [4, 8], [60, 120], [0.25, 0.5], [1.5, 0.5], [True, False])
    assert (curve.at("seconds"), curve.at("tokens")) == ([4, 8], [60, 120])
    assert learning_curve(Damaged()) == LearningCurve([], [], [], [], [], [])
    short = LearningCurve([10, 20], [3, 4], [300, 600], [0.3, 0.6], [2, 1], [False] * 2)
    long = LearningCurve([15, 20, 30], [1, 2, 6], [450, 600, 900], [0.1, 0.2, 0.9], [3, 2, 1], [False] * 3)
    assert (common_end([short, long], "steps"), [curve.newest("steps", 19) for curve in (short, long)]) == (20, [0, 0])
    assert common_end([short, long], "seconds") == 4
    assert short.newest("seconds", 2) is None  # its first is later than that
    assert common_end([short, LearningCurve([], [], [], [], [], [])], "steps") is None
    alike = LearningCurve([10, 20, 30], [1, 2, 6], [300, 600, 900], [0.1, 0.2, 0.9], [3, 2, 1], [False] * 3)
    result = band([alike, short], "exact_match", "seconds")  # where all have been measured
    assert (result.places, result.mean) == ([2, 3], pytest.approx([0.2, 0.4]))
    assert (result.low, result.high) == ([0.1, 0.2], [0.3, 0.6])


def test_the_interval_is_that_of_the_textbook():
    """Five values with the mean 3 and the standard deviation √2.5: 3 ± 2.776 · √(2.5 / 5)."""
    result = pool_values([1, 2, 3, 4, 5])
    assert (result.count, result.mean) == (5, 3)
    assert (result.low, result.high) == pytest.approx((3 - 1.963, 3 + 1.963), abs=1e-3)
    assert (pool_values([0.5])[2:], pool_values([])) == ((None, None), None)
    assert pool_values([0.0, 1.0], (0.0, 1.0))[1:] == (0.5, 0.0, 1.0), "a share stays a share"
    assert (compare_pairs([3, 1], [2, 1, 0]), compare_pairs([], [1])) == ((6, 4, 1), (0, 0, 0)), "every value meets every other"
    angles = np.linspace(0, np.pi / 2, 100_001)
    for freedom, t in enumerate(T_95, 1):  # with t = √n·tan θ Student's density is cos θ to the power of n − 1, up to a factor
        area = np.cumsum(np.cos(angles) ** (freedom - 1))
        assert area[np.searchsorted(angles, np.arctan(t / np.sqrt(freedom)))] / area[-1] == pytest.approx(0.95, abs=2e-4)

"""One evaluation for a run and a step: the trainer's own, of all held-out sentences, the same for whoever asks."""

from copy import copy

import pytest

from playground.inspection.interventions import Change, Edit
from playground.queries import time_slices, validation
from playground.queries.validation import evaluate, evaluate_change, recorded
from playground.runs.history import History
from playground.training.metrics import build_eval_set, validate
from tests.runs.tiny import CORPORA, alone, tiny

KNOBS = {"task": "reverse", "steps": 60, "dropout": 0.0, "n_heads": 2, "d_model": 16, "validation_size": 40, "eval_every": 7}
OFF = Change.parse("c1.1_e1.2")


@pytest.fixture(scope="module")
def run():
    return alone(tiny(**KNOBS))[0]


@pytest.fixture
def unmeasured(run):
    """The same run as if nobody had measured anything."""
    result = copy(run)
    result.parts = run.parts | {"history": History()}
    return result


def test_what_training_measured_of_all_is_not_measured_again(reader, run, monkeypatch):
    monkeypatch.setattr(validation, "tally_of", None)
    result, last = evaluate(reader, CORPORA, run, None), run.history.validations.last()
    assert result.whole
    assert result.step == last["step"] == 60
    assert vars(result.validation) == {name: last[name] for name in ("loss", "token_accuracy", "exact_match", "pairs")}


@pytest.mark.trust
@pytest.mark.parametrize("step", [None, 0, 3])
@pytest.mark.parametrize("split", ["heldout", "harder"])
def test_what_it_did_not_measure_is_measured_in_the_same_way(reader, unmeasured, step, split):
    result = evaluate(reader, CORPORA, unmeasured, step, split)
    (model, actual), corpus = reader.model_at(unmeasured, step), CORPORA.get(unmeasured.experiment)
    expected = validate(model, build_eval_set(corpus, getattr(corpus, split)))
    assert (result.step, result.whole, result.of) == (actual, True, 40)
    assert result.validation.loss == pytest.approx(expected.loss)
    assert (result.validation.token_accuracy, result.validation.exact_match) == (expected.token_accuracy, expected.exact_match)


def test_the_parts_of_an_evaluation_add_up(reader, unmeasured, monkeypatch):
    corpus = CORPORA.get(unmeasured.experiment)
    whole = validate(reader.model_at(unmeasured, None)[0], build_eval_set(corpus, corpus.heldout))
    monkeypatch.setattr(validation, "slice_size", lambda *_: 15)
    monkeypatch.setattr(time_slices, "BUDGET_S", -1)
    result = [evaluate(reader, CORPORA, unmeasured, None) for _ in range(4)]
    assert [one.validation.pairs for one in result] == [15, 30, 40, 40]
    assert [one.whole for one in result] == [False, False, True, True]
    assert result[-1].validation.loss == pytest.approx(whole.loss)
    assert result[-1].validation.token_accuracy == pytest.approx(whole.token_accuracy)
    assert result[-1].validation.exact_match == whole.exact_match


def test_a_brief_validation_is_no_evaluation(unmeasured):
    table = unmeasured.history.validations
    table.append(7, 2.0, 0.3, 0.0, 10, 40)
    assert recorded(unmeasured, 7) is None
    table.append(7, 1.9, 0.4, 0.1, 40, 40)
    assert recorded(unmeasured, 7).validation.exact_match == 0.1
    assert recorded(unmeasured, 8) is None


def test_a_run_at_work_is_asked_a_sample_and_says_so(reader, unmeasured, monkeypatch):
    monkeypatch.setattr(validation, "SENTENCES", 25)
    monkeypatch.setattr(validation, "SLICE", 4)
    unmeasured.status = "training"
    result = evaluate(reader, CORPORA, unmeasured, None)
    assert (result.validation.pairs, result.of, result.whole) == (25, 40, False)
    before, after = evaluate_change(reader, CORPORA, unmeasured, None, OFF)
    assert before.validation.pairs == after.validation.pairs == 25


@pytest.mark.trust
@pytest.mark.parametrize("memory", ["mean", "cut"])
def test_before_and_after_a_change_are_the_trainers_own(reader, run, memory):
    change = Change(OFF.off, memory, Edit(0, 0, 0, 0))
    before, after = evaluate_change(reader, CORPORA, run, None, change)
    corpus, model = CORPORA.get(run.experiment), reader.model_at(run, None)[0]
    expected = validate(Change(OFF.off, memory).apply(model), build_eval_set(corpus, corpus.heldout))
    assert before == evaluate(reader, CORPORA, run, None)
    assert after.validation == expected, "an edit is about one sentence"
    assert after.whole
    without = evaluate_change(reader, CORPORA, run, None, Change(edit=change.edit))
    assert without == (before, before)

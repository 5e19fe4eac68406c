"""One evaluation for a run and a step: the trainer's own, of all held-out sentences, the same for whoever asks."""

import pytest

from playground.features.shared.queries import validation
from playground.features.shared.queries.validation import evaluate, evaluate_change, recorded
from playground.inspection.interventions import Change, Edit
from playground.training.metrics import build_eval_set, validate
from tests.runs.tiny import CORPORA

KNOBS = {"task": "reverse", "steps": 60, "dropout": 0.0, "n_heads": 2, "d_model": 16, "validation_size": 40, "eval_every": 7}
OFF = Change.parse("c1.1_e1.2")


def test_what_training_measured_of_all_is_not_measured_again(reader, run, unmeasured, monkeypatch):
    table = unmeasured.history.validations
    table.append(7, 2.0, 0.3, 0.0, 10, 40)
    assert recorded(unmeasured, 7) is None
    table.append(7, 1.9, 0.4, 0.1, 40, 40)
    assert recorded(unmeasured, 7).validation.exact_match == 0.1
    assert recorded(unmeasured, 8) is None
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
    change = Change(OFF.off, memory, Edit(0, 0, 0, 0))
    before, after = evaluate_change(reader, CORPORA, run, None, change)
    corpus = CORPORA.get(run.experiment)
    expected = validate(Change(OFF.off, memory).apply(model), build_eval_set(corpus, corpus.heldout))
    assert before == evaluate(reader, CORPORA, run, None)
    assert (after.validation, after.whole) == (expected, True), "an edit is about one sentence"
    assert evaluate_change(reader, CORPORA, run, None, Change(edit=change.edit)) == (before, before)

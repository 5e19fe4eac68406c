"""Before and after come from the same parameters; scores are the trainer's own; and a question costs no more than it may."""

from copy import copy

import numpy as np
import pytest

from playground.config import Refusal
from playground.decoding import greedy, trace
from playground.features.interventions import query as interventions
from playground.features.shared.queries.validation import evaluate
from playground.inspection.interventions import Change, Edit, heads
from playground.training.metrics import build_eval_set, validate
from tests.runs.tiny import CORPORA

KNOBS = {"task": "reverse", "steps": 60, "dropout": 0.0, "n_heads": 2, "d_model": 16, "validation_size": 40}
OFF = Change.parse("c1.1_e1.2")


@pytest.fixture
def text(reader, run):
    return max((source for source, _ in reader.examples(run)), key=len)


def ids_of(look):
    return tuple(piece.id for piece in look.targets)


@pytest.mark.parametrize("edit", [None, Edit(0, 1, 1, 2, 1.0)])
def test_every_side_is_what_its_model_writes(reader, run, text, model, edit):
    result = interventions.compare_outputs(reader, run, None, text, Change(OFF.off, None, edit))
    ids, off, changed = run.tokenizers[0].encode(text), OFF.apply(model), Change(OFF.off, None, edit).apply(model)
    fed = ids_of(result.before)
    for look, subject in ((result.before, model), (result.unedited, off), (result.after, changed)):
        (expected,) = greedy(subject, [ids], 60)
        assert ids_of(look) == expected.ids
        assert np.array_equal(look.cross, trace(subject, ids, expected.ids).cross)
    assert tuple(piece.id for piece in result.fed) == fed
    for likely, subject in ((result.likely_before, model), (result.likely_after, changed)):
        assert likely == tuple(trace(subject, ids, fed).probabilities[range(len(fed)), fed].tolist())
    assert (result.step is None) == (edit is None)
    if edit:
        assert ids_of(result.after)[:1] == ids_of(result.unedited)[:1], "before the edited step nothing changes"
        assert result.after.cross[0, 1, 1].tolist() == [0, 0, 1, *[0] * (len(ids) - 2)]
        displayed = [piece.id for piece in result.step.tokens]
        assert result.step.edited == tuple(trace(changed, ids, ids_of(result.after)).probabilities[1, displayed].tolist())
        assert result.step.without == tuple(trace(off, ids, ids_of(result.unedited)).probabilities[1, displayed].tolist())
        assert list(result.step.without[:5]) == sorted(result.step.without, reverse=True)[:5]
        assert len(set(displayed)) == len(displayed) <= 10


def test_the_right_answer_can_be_fed_and_an_edit_of_what_is_not_there_is_none(reader, run, text):
    result = interventions.compare_outputs(reader, run, None, text, OFF, reference=True)
    assert "".join(piece.text for piece in result.fed) == f"{text[::-1]}<eos>"
    unknown = interventions.compare_outputs(reader, run, None, "A-1", OFF, reference=True)
    assert tuple(piece.id for piece in unknown.fed) == ids_of(unknown.before), "where nobody knows it, what was written"
    assert interventions.compare_outputs(reader, run, None, text, Change(edit=Edit(0, 0, 1, 99))).change == Change()
    late = interventions.compare_outputs(reader, run, None, text, Change(edit=Edit(0, 0, 200, 0)))
    assert (late.step, ids_of(late.after)) == (None, ids_of(late.before))


def worth(reader, run, step=None):
    result = interventions.measure_importance(reader, CORPORA, run, step)
    while len(result.without) < result.heads:
        before, result = result, interventions.measure_importance(reader, CORPORA, run, step)
        assert len(result.without) > len(before.without)
    return result


def test_each_head_is_worth_what_is_lost_without_it(reader, run, model):
    first, result = interventions.measure_importance(reader, CORPORA, copy(run), None), worth(reader, run)
    corpus = CORPORA.get(run.experiment)
    questions, few = (build_eval_set(corpus, corpus.heldout[:count]) for count in (None, interventions.FEW))
    assert list(result.without) == list(heads(model.config)) == list(first.estimate.without)
    assert result.whole == evaluate(reader, CORPORA, run, None)
    assert (result.whole.validation.exact_match, result.whole.whole) == (validate(model, questions).exact_match, True)
    assert (first.without, first.estimate.whole.validation.pairs, first.estimate.whole.of) == ({}, few.pairs, questions.pairs)
    for head, switched in result.without.items():
        changed, estimate = Change(frozenset({head})).apply(model), first.estimate.without[head]
        for measured, expected in ((switched, validate(changed, questions)), (estimate, validate(changed, few))):
            assert vars(measured) == vars(expected) | {"loss": pytest.approx(expected.loss, abs=1e-6)}
    assert any(each != result.whole.validation for each in result.without.values())


def test_heads_are_measured_layer_by_layer_and_not_while_parameters_change(reader, run, monkeypatch):
    monkeypatch.setattr(interventions, "BUDGET_S", -1)  # every moment is over at once
    every, requests = heads(run.experiment.model), []
    monkeypatch.setattr(interventions, "_measure_each", lambda *of, each=interventions._measure_each: requests.append(of[-1]) or each(*of))
    first = interventions.measure_importance(reader, CORPORA, run, None)
    assert (first.without, tuple(first.estimate.without), first.heads) == ({}, every, 6)
    requests.clear()
    assert tuple(interventions.measure_importance(reader, CORPORA, run, None).without) == every[:2]
    assert requests == [every[:2]], "of the whole model everything is known from its training"
    assert tuple(worth(reader, run).without) == every
    assert requests == [every[:2], every[2:4], every[4:]], "what is known is not measured again"
    monkeypatch.setattr(run, "status", "training")
    with pytest.raises(Refusal, match="replay"):
        interventions.measure_importance(reader, CORPORA, run, None)
    assert worth(reader, run, run.step).whole

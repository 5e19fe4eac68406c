"""Before and after come from the same parameters and are both shown; scores are the trainer's own; a question costs no more than it may."""

from copy import copy

import numpy as np
import pytest

from playground.config import Refusal
from playground.decoding import greedy, trace
from playground.features.interventions import query as interventions
from playground.features.shared.queries.validation import evaluate, evaluate_change
from playground.inspection.interventions import Change, WeightEdit, heads, mark_changes
from playground.training.metrics import build_eval_set, validate
from playground.words import say
from tests.runs.tiny import CORPORA
from tests.ui.looking import block, complete, ids

KNOBS = {"task": "reverse", "steps": 60, "dropout": 0.0, "n_heads": 2, "d_model": 16, "validation_size": 40}
OFF = Change.parse("c1.1_e1.2")


@pytest.fixture
def text(reader, run):
    return max((source for source, _ in reader.examples(run)), key=len)


def ids_of(look):
    return tuple(piece.id for piece in look.targets)


@pytest.mark.parametrize("edit", [None, WeightEdit(0, 1, 1, 2, 1.0)])
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
    assert interventions.compare_outputs(reader, run, None, text, Change(edit=WeightEdit(0, 0, 1, 99))).change == Change()
    late = interventions.compare_outputs(reader, run, None, text, Change(edit=WeightEdit(0, 0, 200, 0)))
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


HELLO = {"run": "reverse", "text": "hello"}
ROW = HELLO | {"change": "row", "layer": "2", "head": "3", "q": "1"}
THERE = "c2.3_q1_"  # the same place in the text of an edit


def line(panel: dict, name: str) -> dict:
    return next(line for line in block(panel, "compare")["lines"] if line["name"] == name)


def written(panel: dict, name: str) -> str:
    return "".join(token["text"] for token in line(panel, name)["tokens"])


def test_what_is_changed_never_hides_what_was_before_and_differences_are_marked(site):
    base = site.panel("interventions", **HELLO)
    assert block(base, "in-force")["text"] == say("en", "interventions.nothing")
    assert written(base, "before") == written(base, "after") == "olleh<eos>"
    assert not any(token["mark"] for name in ("before", "after") for token in line(base, name)["tokens"])
    drawn = [head["id"] for part in block(base, "heads")["parts"] for layer in part["layers"] for head in layer["heads"]]
    assert drawn == list(map(str, heads(site.runs.get("reverse").experiment.model)))
    panel = site.panel("interventions", **HELLO, off="c1.3")
    outcome = interventions.compare_outputs(site.reader, site.runs.get("reverse"), None, "hello", Change.parse("c1.3"))
    assert written(panel, "before") == written(base, "before")
    assert written(panel, "after") == "".join(piece.text for piece in outcome.after.targets) != written(panel, "before")
    assert (block(panel, "heads")["off"], "cross-attention 1.3" in block(panel, "in-force")["text"]) == (["c1.3"], True)
    marked = mark_changes(*([piece.id for piece in look.targets] for look in (outcome.before, outcome.after)))
    assert any(map(any, marked))
    for name, mark, side in zip(("before", "after"), ("gone", "new"), marked, strict=True):
        assert [token["mark"] == mark for token in line(panel, name)["tokens"]] == side
    picture = block(panel, "likely-pairs")["figure"]
    for drawn, likely in zip(picture["data"][1:3], (outcome.likely_before, outcome.likely_after), strict=True):
        assert drawn["x"] == pytest.approx(likely, abs=1e-4)
    assert picture["layout"]["meta"]["tokens"] == ["<bos>→o", "o→l", "l→l", "l→e", "e→h", "h→<eos>"]
    for squeeze in ("mean", "cut"):
        panel = site.panel("interventions", **HELLO, squeeze=squeeze)
        assert ("squeezed" in ids(panel), block(panel, "memory")["value"]) == (True, squeeze)
        assert written(panel, "before") == "olleh<eos>" != written(panel, "after")


def test_the_score_stands_in_both_columns(site):
    panel = complete(site, "score", run="reverse", off="c1.3")
    asked = site.runs.get("reverse"), None, Change.parse("c1.3")
    before, after = (evaluated.validation for evaluated in evaluate_change(site.reader, site.runs.corpora, *asked))
    exact, tokens = block(panel, "score")["rows"]
    assert exact[1:3] == [f"{100 * share.exact_match:.1f}" for share in (before, after)]
    assert tokens[1:3] == [f"{100 * share.token_accuracy:.1f}" for share in (before, after)]


def test_a_row_is_edited_where_its_cells_are_shown_and_the_edit_stays_there(site):
    panel = site.panel("interventions", **ROW | {"text": "attention"}, cells=THERE + "k0-1", k="0")
    change = Change(edit=WeightEdit(1, 2, 1, 0, 1.0))
    outcome = interventions.compare_outputs(site.reader, site.runs.get("reverse"), None, "attention", change)
    cells = block(panel, "row-cells")
    assert [cell["after"] for cell in cells["cells"]] == [1] + [0] * 9
    assert [cell["before"] for cell in cells["cells"]] == pytest.approx(outcome.before.cross[1, 2, 1].tolist())
    assert (cells["cells"][0]["state"], [act["on"] for act in cells["acts"]]) == ("given", [True, False, False])
    assert (written(panel, "before"), written(panel, "after")) == ("noitnetta<eos>", "".join(piece.text for piece in outcome.after.targets))
    _, without, edited = block(panel, "row-top")["figure"]["data"]
    assert without["x"] == pytest.approx(outcome.step.without, abs=1e-4)
    assert edited["x"] == pytest.approx(outcome.step.edited, abs=1e-4)
    chosen = block(site.panel("interventions", **ROW, cells=THERE + "k0-0.5_x3", k="2"), "row-cells")
    assert [act["cells"] for act in chosen["acts"]] == [f"{THERE}{edit}" for edit in ("k2-1", "k0-0.5_x2_x3", "k0-0.5_x3")]
    assert [cell["state"] for cell in chosen["cells"]] == ["given", "", "", "masked", "", ""]
    made, other = (site.panel("interventions", **ROW | {"q": q}, cells=THERE + "k0-1", k="1") for q in ("1", "3"))
    assert [written(other, name) for name in ("before", "after")] == [written(made, name) for name in ("before", "after")]
    cells = block(other, "row-cells")
    assert (cells["place"], cells["acts"][0]["cells"]) == ({"layer": 2, "head": 3, "q": 3}, "c2.3_q3_k1-1")
    assert {cell["state"] for cell in cells["cells"]} == {""}
    assert block(other, "row-there")["to"] == {"layer": 2, "head": 3, "q": 1}
    assert block(other, "row-top") == block(made, "row-top"), "what the edit does is shown in its own step"


def test_patches_are_drawn_as_measured_and_what_cannot_be_patched_is_said(site):
    patch = HELLO | {"change": "patch", "corrupted": "hexlo"}
    panel, run = site.panel("interventions", **patch), site.runs.get("reverse")
    result = interventions.patch_sentence(site.reader, run, None, "hello", "hexlo", None)
    assert (result.at, [piece.text for piece in result.answers[2]], list(result.answers)) == (2, ["l", "x"], [2])
    assert [piece.text for piece in result.fed] == ["<bos>", "o", "l"]
    for name, values in result.patching.restored.items():
        if not name.endswith("sublayers"):
            assert np.allclose(block(panel, f"patch-{name}")["figure"]["data"][0]["z"], values, atol=1e-4)
    assert result.patching.restored["source"][:, 2] == pytest.approx(1, abs=0.05), "the letter stays in its place"
    assert result.patching.restored["target"][-1].round(6).tolist() == [0, 0, 1]
    assert "head" in block(panel, "patch-caption")["text"]
    assert block(panel, "patch-there")["to"]["tab"] == "attention"
    heads = {}, {"layer": "2", "head": "3"}
    plain, pinned = (block(site.panel("interventions", **patch, **at), "patch-cross")["figure"]["layout"] for at in heads)
    assert [plain["meta"][name] for name in ("fields", "down", "at")] == [["layer", "head"], [1, 2], [1, 2, 3, 4]]
    assert [any(shape["visible"] for shape in each["shapes"]) for each in (plain, pinned)] == [False, True], "a clicked head is ringed"
    for corrupted, key in (("hell", "patch_length"), ("hello", "patch_same")):
        refused = site.panel("interventions", **patch | {"corrupted": corrupted})
        assert block(refused, "patch-reason")["text"] == say("en", f"interventions.{key}", clean=5, corrupted=4)
        assert block(refused, "corrupted")["value"] == corrupted, "there it can be changed"
    chosen = site.panel("interventions", **HELLO, change="patch")
    assert len(block(chosen, "corrupted")["value"]) == 5

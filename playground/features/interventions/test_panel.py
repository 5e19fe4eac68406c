"""The panel of changes: before and after are both there, whatever is asked, and say what the models say."""

import pytest

from playground.features.interventions import query as interventions
from playground.features.shared.queries.validation import evaluate_change
from playground.inspection.interventions import Change, Edit, heads, mark_changes
from playground.words import say
from tests.ui.looking import block, complete, ids

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
    assert picture["layout"]["meta"]["tokens"] == ["<bos> → o", "o → l", "l → l", "l → e", "e → h", "h → <eos>"]
    for squeeze in ("mean", "cut"):
        panel = site.panel("interventions", **HELLO, squeeze=squeeze)
        assert ("squeezed" in ids(panel), block(panel, "memory")["value"]) == (True, squeeze)
        assert written(panel, "before") == "olleh<eos>" != written(panel, "after")


def test_the_score_stands_in_both_columns(site):
    panel = complete(site, "score", run="reverse", off="c1.3")
    asked = site.runs.get("reverse"), None, Change.parse("c1.3")
    before, after = (evaluated.validation for evaluated in evaluate_change(site.reader, site.runs.corpora, *asked))
    exact, tokens = block(panel, "score")["rows"]
    assert exact[1:3] == [f"{100 * share.exact_match:.1f}\N{NO-BREAK SPACE}%" for share in (before, after)]
    assert tokens[1:3] == [f"{100 * share.token_accuracy:.1f}\N{NO-BREAK SPACE}%" for share in (before, after)]


def test_a_row_is_edited_where_its_cells_are_shown_and_the_edit_stays_there(site):
    panel = site.panel("interventions", **ROW | {"text": "attention"}, cells=THERE + "k0-1", k="0")
    outcome = interventions.compare_outputs(site.reader, site.runs.get("reverse"), None, "attention", Change(edit=Edit(1, 2, 1, 0, 1.0)))
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

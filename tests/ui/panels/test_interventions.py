"""The panel of changes: before and after are both there, whatever is asked, and say what the models say."""

from __future__ import annotations

import pytest

from playground.inspection import differences
from playground.inspection.interventions import Change, Edit, HeadId, heads
from playground.queries import interventions
from playground.queries.validation import evaluate_change
from playground.words import LANGUAGES, say
from tests.ui.test_routes import blocks_of

HELLO = {"run": "reverse", "text": "hello"}
ROW = HELLO | {"change": "row", "layer": "2", "head": "3", "q": "1"}
THERE = "c2.3_q1_"  # the same place in the text of an edit


def block(panel: dict, id: str) -> dict:
    return next(block for block in blocks_of(panel["blocks"]) if block["id"] == id)


def ids(panel: dict) -> set[str]:
    return {block["id"] for block in blocks_of(panel["blocks"])}


def line(panel: dict, name: str) -> dict:
    return next(line for line in block(panel, "compare")["lines"] if line["name"] == name)


def written(panel: dict, name: str) -> str:
    return "".join(token["text"] for token in line(panel, name)["tokens"])


def test_nothing_is_changed_at_first(site):
    panel = site.panel("interventions", **HELLO)
    assert block(panel, "in-force")["text"] == say("en", "interventions.nothing")
    assert written(panel, "before") == written(panel, "after") == "olleh<eos>"
    assert written(panel, "reference") == "olleh"
    assert not any(token["mark"] for name in ("before", "after") for token in line(panel, name)["tokens"])
    config = site.runs.get("reverse").experiment.model
    shown = [head["id"] for part in block(panel, "heads")["parts"] for layer in part["layers"] for head in layer["heads"]]
    assert shown == list(map(str, heads(config)))


def test_a_head_that_is_off_never_hides_what_was_before(site):
    """The base result stays, the other stands beside it, and both have a name."""
    base = site.panel("interventions", **HELLO)
    panel = site.panel("interventions", **HELLO, off="c1.3")
    run, change = site.runs.get("reverse"), Change(frozenset({HeadId("cross", 0, 2)}))
    found = interventions.outcome(site.reader, run, None, "hello", change)
    assert written(panel, "before") == written(base, "before")
    assert written(panel, "after") == "".join(piece.text for piece in found.after.asked) != written(panel, "before")
    assert [line(panel, name)["label"] for name in ("before", "after")] == [
        say("en", f"interventions.{name}") for name in ("before", "after")
    ]
    assert block(panel, "heads")["off"] == ["c1.3"]
    assert "cross-attention 1.3" in block(panel, "in-force")["text"]
    marked = differences.marks(*([piece.id for piece in look.asked] for look in (found.before, found.after)))
    for name, mark, side in zip(("before", "after"), ("gone", "new"), marked, strict=True):
        assert [token["mark"] == mark for token in line(panel, name)["tokens"]] == side
    assert any(map(any, marked))
    picture = block(panel, "likely-pairs")["figure"]
    _, before, after = picture["data"]
    assert before["x"] == pytest.approx(found.likely_before, abs=1e-4)
    assert after["x"] == pytest.approx(found.likely_after, abs=1e-4)
    assert picture["layout"]["meta"]["tokens"] == ["<bos> → o", "o → l", "l → l", "l → e", "e → h", "h → <eos>"]
    assert picture["layout"]["meta"]["table"]["head"][0] == say("en", "figures.lens_columns")


def test_the_score_stands_in_both_columns(site):
    panel = scored(site, run="reverse", off="c1.3")
    asked = site.runs.get("reverse"), None, Change.parse("c1.3")
    before, after = (found.validation for found in evaluate_change(site.reader, site.runs.corpora, *asked))
    exact, tokens = block(panel, "score")["rows"]
    assert exact[1:3] == [f"{100 * share.exact_match:.1f}\N{NO-BREAK SPACE}%" for share in (before, after)]
    assert tokens[1:3] == [f"{100 * share.token_accuracy:.1f}\N{NO-BREAK SPACE}%" for share in (before, after)]
    lost = 100 * (before.exact_match - after.exact_match)
    assert exact[3] == f"−{lost:.1f}"
    assert f"costs {lost:.0f} points" in block(panel, "score-said")["text"]
    assert before.pairs == 500
    assert "500" in block(panel, "score")["title"]
    assert "score-said" not in ids(site.panel("score", run="reverse"))


def test_every_head_has_a_bar_in_its_place_and_the_caption_counts_them(site):
    panel = measured(site, run="reverse")
    run = site.runs.get("reverse")
    found = interventions.importance(site.reader, site.runs.corpora, run, None)
    lost = {head: 100 * (found.whole.validation.exact_match - one.exact_match) for head, one in found.without.items()}
    for part in ("encoder", "decoder", "cross"):
        picture = block(panel, f"importance-{part}")["figure"]
        mine = [head for head in heads(run.experiment.model) if head.part == part]
        assert picture["layout"]["meta"]["tokens"] == [f"{head.layer + 1}.{head.head + 1}" for head in mine]
        assert picture["data"][0]["x"] == pytest.approx([lost[head] for head in mine], abs=1e-3)
    said = block(panel, "importance-said")["text"]
    worst = max(lost, key=lambda head: lost[head])
    head = say(
        "en", "interventions.head_long", part=say("en", f"interventions.part_{worst.part}"), layer=worst.layer + 1, head=worst.head + 1
    )
    free = sum(points == 0 for points in lost.values())
    assert say("en", "interventions.costs_most", head=head, points=f"{lost[worst]:.0f}") in said
    assert say("en", "interventions.costs_nothing" if free else "interventions.all_cost", count=free, heads=len(lost)) in said
    assert "all 500 held-out sentences" in said


def scored(site, **asked) -> dict:
    """The answer once all held-out sentences are asked."""
    while (panel := site.panel("score", **asked)).get("more"):
        progress = block(panel, "score-progress")
        assert 0 <= progress["done"] < progress["all"] == site.runs.get(asked["run"]).experiment.data.validation_size
    return panel


def measured(site, **asked) -> dict:
    """The answer once every head is measured; until then, it says how many are."""
    while (panel := site.panel("importance", **asked)).get("more"):
        progress = block(panel, "importance-progress")
        assert 0 <= progress["done"] < progress["all"]
        heldout = site.runs.get(asked["run"]).experiment.data.validation_size
        about = say(asked.get("lang", "en"), "interventions.importance_about", pairs=20, all=heldout)
        assert block(panel, "importance-cross")["caption"] == about
    return panel


@pytest.mark.parametrize(("squeeze", "said"), [("mean", "the mean over"), ("cut", "language model")])
def test_the_memory_can_be_squeezed_or_cut(site, squeeze, said):
    panel = site.panel("interventions", **HELLO, squeeze=squeeze)
    assert said in block(panel, "squeezed")["text"]
    assert block(panel, "memory")["value"] == squeeze
    assert written(panel, "before") == "olleh<eos>" != written(panel, "after")


def test_a_cell_given_all_the_weight_changes_the_token(site):
    panel = site.panel("interventions", **ROW | {"text": "attention"}, cells=THERE + "k0-1", k="0")
    found = interventions.outcome(site.reader, site.runs.get("reverse"), None, "attention", Change(edit=Edit(1, 2, 1, 0, 1.0)))
    cells = block(panel, "row-cells")
    assert [cell["after"] for cell in cells["cells"]] == [1] + [0] * 9
    assert [cell["before"] for cell in cells["cells"]] == pytest.approx(found.before.cross[1, 2, 1].tolist())
    assert cells["cells"][0]["state"] == "given"
    assert [act["on"] for act in cells["acts"]] == [True, False, False]
    assert cells["place"] == {"layer": 2, "head": 3, "q": 1}
    assert written(panel, "before") == "noitnetta<eos>"
    assert written(panel, "after") == "".join(piece.text for piece in found.after.asked)
    said = {"layer": 2, "head": 3, "step": 2, "token": "o", "other": found.after.asked[1].text}
    assert cells["title"] == say("en", "interventions.row_title_other", **said)
    picture = block(panel, "row-top")["figure"]
    assert picture["data"][1]["name"] == say("en", "interventions.row_without")
    assert picture["data"][1]["x"] == pytest.approx(found.step.without, abs=1e-4)
    assert picture["data"][2]["x"] == pytest.approx(found.step.edited, abs=1e-4)


def test_the_chosen_cell_says_what_can_be_done_to_it(site):
    panel = site.panel("interventions", **ROW, cells=THERE + "k0-0.5_x3", k="2")
    cells = block(panel, "row-cells")
    assert [act["cells"] for act in cells["acts"]] == [f"{THERE}{done}" for done in ("k2-1", "k0-0.5_x2_x3", "k0-0.5_x3")]
    assert (cells["slider"]["first"], cells["slider"]["rest"]) == (f"{THERE}k2-", "_x3")
    assert [cell["state"] for cell in cells["cells"]] == ["given", "", "", "masked", "", ""]
    assert cells["cells"][3]["after"] == 0
    assert cells["sum"] == say("en", "interventions.row_sum", sum="1.00")
    assert block(site.panel("interventions", **ROW), "row-cells")["chosen"] is None


def test_an_edit_stays_where_it_was_made(site):
    """Looking at another row moves nothing; it says where the edit is, and the way there."""
    made, other = (site.panel("interventions", **ROW | {"q": q}, cells=THERE + "k0-1", k="1") for q in ("1", "3"))
    assert "row-elsewhere" not in ids(made)
    for name in ("before", "after"):
        assert written(other, name) == written(made, name)
    cells = block(other, "row-cells")
    assert cells["place"] == {"layer": 2, "head": 3, "q": 3}
    assert {cell["state"] for cell in cells["cells"]} == {""}
    assert cells["acts"][0]["cells"] == "c2.3_q3_k1-1"
    assert block(other, "row-elsewhere-said")["text"] == say("en", "interventions.row_elsewhere", step=2, layer=2, head=3)
    assert block(other, "row-there")["to"] == {"layer": 2, "head": 3, "q": 1}
    assert block(other, "row-top") == block(made, "row-top"), "what the edit does is shown in its own step"


def test_why_a_change_shows_nothing_is_said(site):
    said = {
        "interventions.row_off": {"off": "c2.3"},
        "interventions.row_squeezed": {"squeeze": "mean"},
        "interventions.row_nowhere": {"cells": THERE + "x0_x1_x2_x3_x4_x5"},
    }
    for key, more in said.items():
        assert say("en", key) in block(site.panel("interventions", **ROW, **more), "row-notes")["text"]
    late = site.panel("interventions", **ROW, cells="c2.3_q99_k0-1")
    assert say("en", "interventions.row_far", step=100) in block(late, "row-notes")["text"]
    assert "row-notes" not in ids(site.panel("interventions", **ROW, cells=THERE + "k0-1"))


@pytest.mark.sample
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("change", ["heads", "row"])
@pytest.mark.parametrize(
    "more", [{"width": "390"}, {"dark": "1"}, {"target": "reference"}, {"step": "0"}, {"step": "60"}, {"off": "e1.1_d1.1_c1.1"}]
)
def test_in_every_dress(site, language, change, more):
    for run in ("numbers_zh", "sort"):
        panel = site.panel("interventions", run=run, lang=language, change=change, **{"squeeze": "mean", **more})
        assert "error" not in panel
        assert {"compare", "likely-pairs", "in-force"} <= ids(panel)


@pytest.mark.sample
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("more", [{"step": "0"}, {"off": "c1.1", "squeeze": "cut", "cells": "c1.1_q0_x0"}])
def test_what_comes_later_in_every_dress(site, language, more):
    asked = {"run": "german_english", "lang": language, "width": "390", **more}
    for panel in (scored(site, **asked), measured(site, **asked)):
        assert "error" not in panel, panel
        for figure in (block for block in blocks_of(panel["blocks"]) if block["kind"] == "figure"):
            assert figure["caption"]
            assert figure["title"]


@pytest.mark.parametrize("value", ["<script>", "c1.1," * 900, "c9.9_e0.0", "c1.1_" * 5000, "nan", "１", "q1_x1", "c9.9_q1_x1", "x" * 3000])
def test_a_broken_link_changes_nothing(site, value):
    base = site.panel("interventions", **HELLO)
    for name in ("off", "squeeze", "cells"):
        if (name, value[:4]) == ("off", "c1.1") and "," not in value:
            continue  # this one is a head, many times
        panel = site.panel("interventions", **HELLO, **{name: value})
        assert written(panel, "after") == written(base, "after")
        assert block(panel, "heads")["off"] == []


def test_a_link_says_which_choices_it_knows(site):
    answer = site.get("boot", squeeze="flat", change="everything").json()
    assert {"squeeze", "change"} <= set(answer["ignored"])

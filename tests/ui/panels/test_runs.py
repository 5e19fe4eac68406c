"""The place to compare runs: whose are listed, which are laid over each other, what is said of them, and the pin on the training tab."""

from __future__ import annotations

import re
import time

import pytest

from playground.config import Experiment
from playground.figures import theme
from playground.runs.retention import DAY
from playground.ui.assets import PREFIX
from playground.ui.selected_runs import MAX_TICKED, NONE
from playground.words import LANGUAGES, say
from tests.ui.blocks.conforming import faults
from tests.ui.panels.test_evaluation import block, ids
from tests.ui.test_actions import MINE, THEIRS, TINY, wait


@pytest.fixture(scope="module")
def pair(site):
    """Two runs of one visitor: four heads for 6 steps, one head for 4."""
    knobs = TINY | {"task": "reverse", "d_model": 16, "eval_every": 2}
    made = [site.runs.create(Experiment().with_(**knobs, steps=steps).with_(n_heads=heads), MINE) for heads, steps in ((4, 6), (1, 4))]
    for run in made:
        wait(run, "done")
    yield made
    for run in made:
        site.runs.delete(run.id, MINE)


def panel_of(site, token: str, name: str = "runs", **asked: str) -> dict:
    answer = site.http.get(f"{PREFIX}/panel/{name}", params={"run": "reverse"} | asked, headers={"X-Playground-Token": token}).json()
    assert "error" not in answer, answer
    assert not [fault for one in answer["blocks"] for fault in faults(one)]
    return answer


def rows(panel: dict) -> dict[str, dict]:
    return {row["id"]: row for group in block(panel, "runs")["groups"] for row in group["rows"]}


def both(pair) -> str:
    return ",".join(run.id for run in pair)


def test_a_visitor_sees_their_own_runs_and_the_shipped_ones(site, pair):
    shipped = {run.id for run in site.runs.shipped()}
    assert rows(panel_of(site, MINE)).keys() == {run.id for run in pair} | shipped
    assert rows(panel_of(site, THEIRS)).keys() == shipped
    assert rows(panel_of(site, "")).keys() == shipped


def test_what_is_saved_is_of_the_runs_that_are_ticked(site, pair):
    assert panel_of(site, MINE, runs=both(pair))["of"].split(", ") == [run.name for run in pair]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_owner_reads_what_the_runs_take_and_which_goes_next(site, pair, monkeypatch, language):
    assert "kept" not in ids(panel_of(site, THEIRS, lang=language))
    share = site.runs.share(MINE)
    said = say(language, "compare.kept", count=2, used=f"{share.used / 1e6:.1f}", most="2,147.5")
    assert block(panel_of(site, MINE, lang=language), "kept")["text"] == said  # both were looked at just now
    monkeypatch.setattr(pair[0], "looked_at", time.time() - 40 * DAY)
    date = time.strftime("%Y-%m-%d", time.gmtime(pair[0].looked_at + site.runs.limits.unseen_days * DAY))
    found = block(panel_of(site, MINE, lang=language, runs=NONE), "kept")["text"]
    assert found.startswith(said)
    assert date in found


def test_whoever_has_the_id_may_look_at_anothers_run(site, pair):
    panel = panel_of(site, THEIRS, runs=both(pair))
    assert [group["label"] for group in block(panel, "runs")["groups"]] == [say("en", "page.runs_other"), say("en", "page.runs_shipped")]
    assert block(panel, "runs")["ticked"] == [run.id for run in pair]


def test_a_row_says_what_the_run_is_and_came_to(site, pair):
    run = pair[1]
    row = rows(panel_of(site, MINE))[run.id]
    last = run.history.validations.last()
    heads = say("en", "knobs.n_heads.label")
    assert f"{heads} 4 → 1" in row["line"]
    assert row["numbers"][0] == f"{100 * last['exact_match']:.1f}\N{NO-BREAK SPACE}%"
    assert row["numbers"][1:3] == [f"{last['loss']:.3f}", "4"]
    assert [point[0] for point in row["course"]] == [0.5, 1]


def test_a_copy_says_what_differs_from_its_parent(site, pair):
    fork = site.runs.get(site.act(MINE, "fork", pair[0].id, step=0)["run"])
    wait(fork, "done")
    row = rows(panel_of(site, MINE))[fork.id]
    assert row["line"] == say("en", "compare.forked", parent=pair[0].name, step=fork.parent[1], changes=say("en", "compare.same_settings"))
    assert rows(panel_of(site, MINE, run=fork.id))[pair[0].id]["key"]  # while nobody ticks anything: a copy beside its parent
    site.runs.delete(fork.id, MINE)


def test_ticked_runs_lie_over_each_other_and_are_named_by_what_differs(site, pair):
    panel = panel_of(site, MINE, runs=both(pair), width="1200")
    heads = say("en", "knobs.n_heads.label")
    for name, column in (("exact_match", "exact_match"), ("validation_loss", "loss")):
        traces = block(panel, name)["figure"]["data"]
        assert [trace["x"] for trace in traces] == [[2, 4, 6], [2, 4]]
        assert traces[1]["y"] == pytest.approx(pair[1].history.validations.column(column), abs=1e-5)
        assert f"{heads} 4" in traces[0]["name"]
        assert f"{heads} 1" in traces[1]["name"]
    keys = [rows(panel)[run.id]["key"]["color"] for run in pair]
    assert keys == theme.lines()[:2] == [trace["line"]["color"] for trace in traces]


def test_the_caption_compares_them_where_both_have_come_to(site, pair):
    caption = block(panel_of(site, MINE, runs=both(pair)), "validation_loss")["caption"]
    long, short = (run.history.validations.column("loss") for run in pair)
    first, last = caption.split(say("en", "compare.at_end", runs="|").split("|")[0])
    assert re.search(r"After 4 steps", first)
    assert re.findall(r"\d\.\d{3}", first) == [f"{long[1]:.3f}", f"{short[1]:.3f}"]
    assert re.findall(r"\d\.\d{3}", last) == [f"{long[2]:.3f}", f"{short[1]:.3f}"]


def test_by_seconds_the_lines_end_with_their_runs(site, pair):
    traces = block(panel_of(site, MINE, runs=both(pair), over="seconds"), "exact_match")["figure"]["data"]
    assert [trace["x"][-1] for trace in traces] == pytest.approx([run.seconds for run in pair], abs=1e-3)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_not_there_is_left_out_in_one_sentence(site, pair, language):
    panel = panel_of(site, MINE, runs=f"nobody,{pair[0].id},nobody-else,{pair[0].id}", lang=language)
    assert block(panel, "lost")["text"] == say(language, "compare.missing", count=2)
    assert block(panel, "runs")["ticked"] == [pair[0].id]
    assert "lost" not in ids(panel_of(site, MINE, runs=both(pair)))


def test_no_more_runs_than_can_be_told_apart(site, pair):
    many = ",".join([*(run.id for run in site.runs.shipped()), both(pair)])
    panel = panel_of(site, MINE, runs=many)
    assert len(block(panel, "runs")["ticked"]) == len(block(panel, "exact_match")["figure"]["data"]) == MAX_TICKED
    assert block(panel, "lost")["text"] == say("en", "compare.left_out", most=MAX_TICKED, count=1)
    assert say("en", "compare.other_tasks") in block(panel, "curves-about")["text"]


def test_every_tick_can_be_taken_away(site):
    panel = panel_of(site, MINE, runs=NONE)
    assert block(panel, "runs")["ticked"] == []
    assert not ids(panel) & {"exact_match", "sentence", "lost"}


def test_one_run_alone_leads_to_a_second_with_the_first_behind_it(site, pair):
    panel = panel_of(site, MINE, runs=pair[0].id)
    assert block(panel, "another")["to"] == {"tab": "training", "pin": pair[0].id}
    assert "another" not in ids(panel_of(site, MINE, runs=both(pair)))


def test_a_run_that_is_not_a_list_of_ids_is_as_if_nobody_had_chosen(site):
    assert block(panel_of(site, MINE, runs="a b<script>"), "runs")["ticked"] == block(panel_of(site, MINE), "runs")["ticked"]


def test_one_sentence_under_several_runs(site, pair):
    panel = panel_of(site, MINE, "same_sentence", runs=f"reverse,sort,numbers_de,{both(pair)}", text="hello")
    found = block(panel, "outputs")["rows"]
    assert [row["correct"] for row in found[:2]] == [
        site.panel("sentence", run=run, text="hello")["correct"] for run in ("reverse", "sort")
    ]
    assert "".join(token["text"] for token in found[1]["tokens"]) == "".join(
        token["text"] for token in site.panel("sentence", run="sort", text="hello")["output"]
    )
    assert found[2]["tokens"] == []  # letters are no number
    assert found[2]["note"].startswith(say("en", "compare.unreadable", tokens=""))
    assert not [id for id in ids(panel) if id.startswith("head-")]


def test_the_same_head_of_two_runs_stands_side_by_side(site, pair):
    panel = panel_of(site, MINE, "same_sentence", runs=f"reverse,{pair[1].id}", text="hello", layer="2", head="3")
    first, second = (block(panel, f"head-{at}") for at in (0, 1))
    look = site.reader.look(site.runs.get("reverse"), None, "hello")
    assert first["figure"]["data"][0]["z"][0] == pytest.approx(look.cross[1, 2, 0].tolist(), abs=1e-4)
    own = site.reader.look(pair[1], None, "hello")  # which has one layer and one head
    assert second["figure"]["data"][0]["z"][0] == pytest.approx(own.cross[0, 0, 0].tolist(), abs=1e-4)
    assert say("en", "page.head_title", part=say("en", "page.part_cross"), layer=2, head=3) in first["title"]
    assert say("en", "page.head_title", part=say("en", "page.part_cross"), layer=1, head=1) in second["title"]
    unreadable = panel_of(site, MINE, "same_sentence", runs="reverse,numbers_de", text="hello")
    assert ids(unreadable) == {"outputs"}


def test_a_step_of_the_replay_is_every_runs_step(site, pair):
    panel = panel_of(site, MINE, "same_sentence", runs=both(pair), text="hello", step="0")
    for run, row in zip(pair, block(panel, "outputs")["rows"], strict=True):
        look = site.reader.look(run, 0, "hello")
        assert [token["id"] for token in row["tokens"]] == [piece.id for piece in (look.asked[:-1] if look.finished else look.asked)]


# ---- the pin ----------------------------------------------------------------------------------------------------------------------


def test_the_pinned_run_stands_behind_the_training_curves(site, pair):
    panel = panel_of(site, MINE, "training", pin=pair[1].id)
    for name, column in (("loss", "loss"), ("accuracy", "exact_match")):
        grey = block(panel, name)["figure"]["data"][-1]
        assert grey["x"] == [2, 4]
        assert grey["y"] == pytest.approx(pair[1].history.validations.column(column), abs=1e-5)
        assert pair[1].name in grey["name"]
    assert block(panel, "unpin")["to"] == {"pin": ""}
    assert rows(panel_of(site, MINE, pin=pair[1].id))[pair[1].id]["pinned"]


@pytest.mark.parametrize("pin", ["", "reverse", "nobody"])
def test_a_run_is_not_pinned_behind_itself_and_what_is_not_there_leaves_the_curves_alone(site, pin):
    panel = panel_of(site, MINE, "training", pin=pin)
    assert len(block(panel, "loss")["figure"]["data"]) == 2
    assert "unpin" not in ids(panel)


def test_a_pinned_run_that_is_not_there_is_said_where_another_can_be_pinned(site):
    assert block(panel_of(site, MINE, pin="nobody"), "lost")["text"] == say("en", "compare.pin_missing")

"""The place to compare runs: whose are listed, what each is compared with, what is laid over each other, seeds, the file, and the pin."""

import csv
import io
import re
from copy import copy

import numpy as np
import pytest

from playground.features.shared import selected_runs
from playground.features.shared.figures import theme
from playground.features.shared.selected_runs import MAX_TICKED, NONE
from playground.ui.assets import PREFIX
from playground.words import say
from tests.runs.tiny import done
from tests.ui.looking import TINY, block, complete, ids, panel_of

MINE, THEIRS = "a" * 32, "b" * 32
KNOBS = TINY | {"task": "reverse", "n_heads": 1, "d_model": 16, "d_ff": 16, "train_size": 200, "batch_size": 4}
HEADS, SEED = say("en", "knobs.n_heads.label"), say("en", "knobs.seed.label")


@pytest.fixture(scope="module")
def three(site):
    """Seeds 1 and 2 of the same settings, and two heads and two steps more instead, started beside the first."""
    first = done(site.train(MINE, KNOBS))
    again = done(site.runs.repeat(first.id, [2], MINE)[0])
    other = done(site.runs.get(site.act(MINE, "train", first.id, knobs=KNOBS | {"n_heads": 2, "steps": 6})["run"]))
    return [first, again, other]


def rows(panel: dict) -> dict[str, dict]:
    return {row["id"]: row for group in block(panel, "runs")["groups"] for row in group["rows"]}


def order(panel: dict) -> list[str]:
    return [row["id"] for row in block(panel, "runs")["groups"][0]["rows"]]


def all_of(runs) -> str:
    return ",".join(run.id for run in runs)


def test_a_row_says_what_is_different_and_what_it_came_to(site, three):
    first, again, other = three
    listed, last = rows(panel_of(site, MINE)), other.history.validations.last()
    assert f"{HEADS} 4 → 1" in listed[first.id]["line"]
    assert listed[again.id]["line"] == say("en", "compare.beside", name=first.name, changes=f"{SEED} 1 → 2")
    assert f"{HEADS} 1 → 2" in listed[other.id]["line"]
    assert listed["sort"]["line"].startswith(f"{say('en', 'knobs.d_model.label')} "), "its task is its name"
    numbers = [f"{100 * last['exact_match']:.1f}", f"{last['loss']:.3f}", "6"]
    assert (listed[other.id]["numbers"][:3], [point[0] for point in listed[first.id]["course"]]) == (numbers, [0.5, 1])
    ticked = panel_of(site, MINE, runs=all_of(three[:2]), differ="ticked")
    assert [rows(ticked)[run.id]["line"] for run in three[:2]] == [f"{SEED} 1", f"{SEED} 2"]
    assert block(ticked, "difference")["text"] == say("en", "compare.differ_in", settings=f"{SEED} 1 | 2")
    fork, same = done(site.runs.get(site.act(MINE, "fork", first.id, step=0)["run"])), say("en", "compare.same_settings")
    forked = say("en", "compare.forked", parent=first.name, step=fork.parent[1], changes=same)
    assert rows(panel_of(site, MINE))[fork.id]["line"] == forked
    assert rows(panel_of(site, MINE, run=fork.id))[first.id]["key"], "while nobody ticks anything a copy lies beside its parent"
    site.runs.delete(fork.id, MINE)
    near = done(site.runs.get(site.act(MINE, "train", other.id, knobs=KNOBS | {"bias": False})["run"]))
    assert rows(panel_of(site, MINE, run=near.id))[first.id]["key"], "and a run beside that from which it differs in one setting"
    site.runs.delete(near.id, MINE)


def test_rows_are_sorted_searched_and_taken_home(site, three):
    for column, value in (("seconds", lambda run: run.seconds), ("created", lambda run: run.created)):
        down = [run.id for run in sorted(three, key=value, reverse=True)]
        assert order(panel_of(site, MINE, sort=f"-{column}")) == down == order(panel_of(site, MINE, sort=column))[::-1]
    assert order(panel_of(site, MINE, find=three[1].name)) == [three[1].id]
    matching = order(panel_of(site, MINE, find=f"{HEADS.upper()} → 2"))  # every word of it
    assert [run.id in matching for run in three[1:]] == [False, True]
    assert block(panel_of(site, MINE, find="no such run"), "runs")["groups"] == []
    assert "→" not in rows(panel_of(site, MINE))["reverse"]["line"], "a shipped run differs from nothing"
    asked = {"run": "reverse", "find": "reverse", "sort": "-seconds", "runs": three[0].id}
    text = site.http.get(f"{PREFIX}/table", params=asked, headers={"X-Playground-Token": MINE}).text
    own = [row for row in csv.DictReader(io.StringIO(text)) if row["name"] in {run.name for run in three}]
    assert [row["name"] for row in own] == [run.name for run in sorted(three, key=lambda run: -run.seconds)]
    row = next(row for row in own if row["name"] == three[0].name)
    assert (row["ticked"], float(row["validation_loss"])) == ("True", three[0].history.validations.last()["loss"])


def test_ticked_runs_lie_over_each_other_and_the_caption_compares_them_where_both_have_come_to(site, three):
    pair = three[2], three[0]
    panel = panel_of(site, MINE, runs=all_of(pair), width="1200", height="1800")
    assert block(panel, "exact_match")["figure"]["layout"]["height"] > 800, "curves have the rest of the window"
    for name, column in (("exact_match", "exact_match"), ("validation_loss", "loss")):
        traces = block(panel, name)["figure"]["data"]
        assert [trace["x"] for trace in traces] == [[2, 4, 6], [2, 4]]
        for run, heads, trace in zip(pair, (2, 1), traces, strict=True):
            assert f"{HEADS} {heads}" in trace["name"]
            assert trace["y"] == pytest.approx(run.history.validations.column(column), abs=1e-5)
    assert [rows(panel)[run.id]["key"]["color"] for run in pair] == theme.lines()[:2] == [trace["line"]["color"] for trace in traces]
    long, short = (run.history.validations.column("loss") for run in pair)
    captioned = re.findall(r"\d\.\d{3}", block(panel, "validation_loss")["caption"])
    assert captioned == [f"{loss:.3f}" for loss in (long[1], short[1], long[2], short[1])], "after 4 steps, and at the end of each"
    timed = block(panel_of(site, MINE, runs=all_of(pair), over="seconds"), "exact_match")["figure"]["data"]
    assert [trace["x"][-1] for trace in timed] == pytest.approx([run.seconds for run in pair], abs=1e-3)
    _, mean, _ = block(panel_of(site, MINE, runs=all_of(three)), "validation_loss")["figure"]["data"]  # seeds share a line with a band
    assert mean["y"] == pytest.approx(np.mean([run.history.validations.column("loss") for run in three[:2]], axis=0), abs=1e-5)


def test_again_takes_the_next_seed_five_are_those_that_are_missing_and_a_fork_stands_for_none(site, three):
    *ticked, third = map(site.runs.get, site.act(MINE, "repeat", three[0].id)["ticked"])
    assert (ticked, done(third)) == (three[:2], third)
    assert (third.experiment, third.beside) == (three[0].experiment.with_(seed=3), three[0].id)
    answer = site.act(MINE, "repeat", three[0].id, all=True)
    made = [done(site.runs.get(id)) for id in answer["ticked"]]
    assert ([run.experiment.training.seed for run in made], made[:3]) == ([1, 2, 3, 4, 5], [*three[:2], third])
    assert answer["notice"] == say("en", "compare.repeated", count=2, seeds="4, 5")
    assert site.act(MINE, "repeat", three[0].id, all=True)["notice"] == say("en", "compare.repeated_already")
    for run in made[2:]:
        site.runs.delete(run.id, MINE)
    first, forked, changed = three[0], copy(three[0]), copy(three[0])
    forked.parent = (three[1].id, 1)
    changed.parts = first.parts | {"history": copy(first.history)}
    changed.history.events = [(1, "learning_rate", 0.1)]
    assert selected_runs.runs_by_seed(first, [forked, changed]) == {}
    assert selected_runs.runs_by_seed(first, [forked, first]) == {1: first}


def test_what_can_not_be_laid_over_is_said_and_of_many_runs_those_that_are_ticked_are_listed(site, three, monkeypatch):
    lost = panel_of(site, MINE, runs=f"nobody,{three[0].id},nobody-else,{three[0].id}", lang="zh")
    assert block(lost, "lost")["text"] == say("zh", "compare.missing", count=2)
    assert block(lost, "runs")["ticked"] == [three[0].id]
    many = panel_of(site, MINE, runs=",".join([*(run.id for run in site.runs.shipped()), all_of(three[:2])]), seeds="each")
    assert len(block(many, "runs")["ticked"]) == len(block(many, "exact_match")["figure"]["data"]) == MAX_TICKED
    assert block(many, "lost")["text"] == say("en", "compare.left_out", most=MAX_TICKED, count=len(site.runs.shipped()) + 2 - MAX_TICKED)
    assert say("en", "compare.other_tasks") in block(many, "curves-about")["text"]
    none = panel_of(site, MINE, runs=NONE, pin="nobody")
    assert (block(none, "runs")["ticked"], ids(none) & {"exact_match", "sentence"}) == ([], set())
    assert block(none, "lost")["text"] == say("en", "compare.pin_missing")
    assert block(panel_of(site, MINE, runs=three[0].id), "another")["to"] == {"tab": "training", "pin": three[0].id}
    assert ["sentence" in ids(panel_of(site, MINE, runs=three[0].id, run=run.id)) for run in three[:2]] == [False, True]  # one is above
    others = rows(panel_of(site, "", runs=f"reverse,{three[0].id}"))
    assert [id for id in others if id not in {run.id for run in site.runs.shipped()}] == [three[0].id], "who has an id sees that run"
    monkeypatch.setattr(selected_runs, "MAX_LISTED", 1)
    assert [three[1].id in rows(panel_of(site, MINE, **asked)) for asked in ({}, {"runs": three[1].id})] == [False, True]


def test_one_sentence_under_several_runs_is_what_each_writes_and_their_heads_differ_by_the_second_less_the_first(site, three):
    outputs = block(panel_of(site, MINE, "same_sentence", runs="reverse,sort,numbers_de", text="hello"), "outputs")["rows"]
    for run, row in zip(("reverse", "sort"), outputs[:2], strict=True):
        alone = site.panel("sentence", run=run, text="hello")
        assert row["correct"] == alone["correct"]
        assert "".join(token["text"] for token in row["tokens"]) == "".join(token["text"] for token in alone["output"])
    assert outputs[2]["tokens"] == []  # letters are no number
    asked = {"runs": f"reverse,{three[0].id}"}  # of which one is trained and one isn't
    disagreeing = block(complete(site, "disagreements", run="reverse", **asked), "disagreeing")["rows"]
    for row in disagreeing[:4]:
        right = [site.panel("sentence", run=run, text=row["source"])["correct"] for run in ("reverse", three[0].id)]
        assert ([output["correct"] for output in row["outputs"]], sum(right)) == (right, 1)
    assert disagreeing
    asked = {"runs": all_of(three[:2]), "text": "hello", "layer": "1", "head": "1", "target": "reference"}
    panel = panel_of(site, MINE, "same_sentence", **asked)
    one, two = (site.reader.look(run, None, "hello", "reference").cross[0, 0] for run in three[:2])
    for id, expected in (("head-0", one), ("head-1", two), ("head-difference", two - one)):
        assert np.array(block(panel, id)["figure"]["data"][0]["z"], dtype=float) == pytest.approx(expected, abs=1e-3)

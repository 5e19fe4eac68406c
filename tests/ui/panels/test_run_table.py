"""The table of runs: what a run is compared with, order and search, seeds and their band, disagreements, the difference of a head."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from playground.config import Refusal
from playground.ui.assets import PREFIX
from playground.words import say
from tests.ui.panels.test_evaluation import block, ids
from tests.ui.panels.test_runs import panel_of, rows
from tests.ui.test_actions import MINE, THEIRS, TINY, wait

KNOBS = TINY | {"task": "reverse", "d_model": 16, "eval_every": 2, "steps": 4}
HEADS, SEED = say("en", "knobs.n_heads.label"), say("en", "knobs.seed.label")


@pytest.fixture(scope="module")
def three(site):
    """Seeds 1 and 2 of the same settings, and two heads instead of one, started beside the first."""
    first = site.train(MINE, KNOBS)
    again = site.runs.repeat(first.id, [2], MINE)[0]
    other = site.runs.get(site.act(MINE, "train", first.id, knobs=KNOBS | {"n_heads": 2})["run"])
    made = [first, again, other]
    for run in made:
        wait(run, "done")
    yield made
    for run in made:
        site.runs.delete(run.id, MINE)


def all_of(runs) -> str:
    return ",".join(run.id for run in runs)


def order(panel: dict) -> list[str]:
    return [row["id"] for row in block(panel, "runs")["groups"][0]["rows"]]


# ---- what is different ------------------------------------------------------------------------------------------------------------


def test_a_run_is_compared_with_the_one_it_was_started_beside(site, three):
    first, again, other = three
    found = rows(panel_of(site, MINE))
    assert found[other.id]["line"] == say("en", "compare.beside", name=first.name, changes=f"{HEADS} 1 → 2")
    assert found[again.id]["line"] == say("en", "compare.beside", name=first.name, changes=f"{SEED} 1 → 2")


def test_another_task_is_said_first(site):
    """It is the largest change of all, and of a long line only the beginning is seen."""
    groups = block(panel_of(site, MINE, language="en"), "runs")["groups"]
    line = next(row["line"] for group in groups for row in group["rows"] if row["id"] == "sort")
    assert line.startswith(f"{say('en', 'knobs.task.label')} ")


def test_so_is_a_copy_with_its_original(site, three):
    copy = site.runs.copy(three[2].id, MINE)
    line = say("en", "compare.beside", name=three[2].name, changes=say("en", "compare.same_settings"))
    assert rows(panel_of(site, MINE))[copy.id]["line"] == line
    assert site.runs.store.open(copy).run.beside == three[2].id  # and is after a restart
    site.runs.delete(copy.id, MINE)


def test_ticked_runs_say_only_what_they_differ_in(site, three):
    found = rows(panel_of(site, MINE, runs=all_of(three[1:]), differ="ticked"))
    assert [found[run.id]["line"] for run in three[1:]] == [f"{HEADS} 1, {SEED} 2", f"{HEADS} 2, {SEED} 1"]
    title = block(panel_of(site, MINE, runs=all_of(three[1:])), "difference")["text"]
    assert title == say("en", "compare.differ_in", settings=f"{HEADS} 1 | 2, {SEED} 2 | 1")
    alike = block(panel_of(site, MINE, runs=f"{three[0].id},{three[0].id}"), "difference")["text"]
    assert three[0].name in alike


def test_a_legend_names_few_settings_and_a_sentence_none(site, three):
    """These two differ in many; the table has all of them."""
    runs = f"reverse,{three[0].id}"
    panel = panel_of(site, MINE, runs=runs, width="1600", differ="ticked")
    legend = [trace["name"].split(" · ") for trace in block(panel, "exact_match")["figure"]["data"]]
    settings = rows(panel)[three[0].id]["line"].split(", ")
    assert [entry[-1] for entry in legend] == [f"+{len(settings) - 2}"] * 2
    assert legend[1][:-1] == [three[0].name, *settings[:2]]
    assert f"({three[0].name})" in block(panel, "exact_match")["caption"]


# ---- order, search, file ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("column", "value"), [("seconds", lambda run: run.seconds), ("created", lambda run: run.created)])
def test_rows_are_sorted_either_way(site, three, column, value):
    down = [run.id for run in sorted(three, key=value, reverse=True)]
    assert order(panel_of(site, MINE, sort=f"-{column}")) == down
    assert order(panel_of(site, MINE, sort=column)) == down[::-1]


def test_a_search_finds_name_and_setting(site, three):
    assert order(panel_of(site, MINE, find=three[1].name)) == [three[1].id]
    found = order(panel_of(site, MINE, find=f"{HEADS.upper()} → 2"))  # every word of it
    assert three[2].id in found
    assert three[1].id not in found
    nothing = block(panel_of(site, MINE, find="no such run"), "runs")
    assert nothing["groups"] == []
    assert nothing["empty"] == say("en", "compare.none_found")


def test_the_file_has_the_rows_in_their_order_with_bare_numbers(site, three):
    asked = {"run": "reverse", "find": "reverse", "sort": "-seconds", "runs": three[0].id}
    text = site.http.get(f"{PREFIX}/table", params=asked, headers={"X-Playground-Token": MINE}).text
    found = list(csv.DictReader(io.StringIO(text)))
    mine = [row for row in found if row["name"] in {run.name for run in three}]
    assert [row["name"] for row in mine] == [run.name for run in sorted(three, key=lambda run: -run.seconds)]
    row = next(row for row in mine if row["name"] == three[0].name)
    assert row["ticked"] == "True"
    assert float(row["validation_loss"]) == three[0].history.validations.last()["loss"]
    assert float(row["tokens_per_second"]) > 0


def test_only_ones_own_runs_can_be_named_and_deleted(site, three):
    assert [rows(panel_of(site, MINE, runs=all_of(three)))[run.id]["mine"] for run in three] == [True] * 3
    assert not any(row["mine"] for row in rows(panel_of(site, THEIRS, runs=all_of(three))).values())


def test_a_run_that_is_deleted_in_the_table_leaves_the_one_on_screen(site):
    run = site.train(MINE, KNOBS)
    answer = site.act(MINE, "delete", run.id, stay=True)
    assert "run" not in answer
    assert answer["gone"] == run.id


# ---- seeds ------------------------------------------------------------------------------------------------------------------------


def test_runs_that_differ_in_their_seed_share_a_line_with_a_band(site, three):
    panel = panel_of(site, MINE, runs=all_of(three))
    shade, mean, alone = block(panel, "validation_loss")["figure"]["data"]
    losses = np.array([run.history.validations.column("loss") for run in three[:2]])
    assert mean["y"] == pytest.approx(losses.mean(axis=0), abs=1e-5)
    assert shade["y"] == pytest.approx([*losses.max(axis=0), *losses.min(axis=0)[::-1]], abs=1e-5)
    assert alone["y"] == pytest.approx(three[2].history.validations.column("loss"), abs=1e-5)
    ends = {"mean": losses[:, -1].mean(), "low": losses[:, -1].min(), "high": losses[:, -1].max()}
    said = say("en", "compare.mean_between", **{name: f"{value:.3f}" for name, value in ends.items()})
    assert said in block(panel, "validation_loss")["caption"]
    keys = [rows(panel)[run.id]["key"] for run in three]
    assert keys[0] == keys[1] != keys[2]


def test_or_each_has_its_own(site, three):
    panel = panel_of(site, MINE, runs=all_of(three), seeds="each")
    assert len(block(panel, "validation_loss")["figure"]["data"]) == 3
    assert len({rows(panel)[run.id]["key"]["color"] for run in three}) == 3


def test_again_takes_the_next_seed_and_ticks_all_of_them(site, three):
    answer = site.act(MINE, "repeat", three[0].id)
    assert answer["ticked"][:2] == [three[0].id, three[1].id]
    new = site.runs.get(answer["ticked"][2])
    assert new.experiment == three[0].experiment.with_(seed=3)
    assert new.beside == three[0].id
    wait(new, "done")
    site.runs.delete(new.id, MINE)


def test_five_seeds_are_those_that_are_missing_or_one_sentence(site, three):
    answer = site.act(MINE, "repeat", three[0].id, all=True)
    made = [site.runs.get(id) for id in answer["ticked"]]
    assert [run.experiment.training.seed for run in made] == [1, 2, 3, 4, 5]
    assert made[:2] == three[:2]
    assert answer["notice"] == say("en", "compare.repeated", count=3, seeds="3, 4, 5")
    for run in made[2:]:
        wait(run, "done")
    assert site.act(MINE, "repeat", three[0].id, all=True)["notice"] == say("en", "compare.repeated_already")
    for run in made[2:]:
        site.runs.delete(run.id, MINE)


def test_more_than_one_may_train_is_one_sentence_and_no_run(site):
    long = [site.train(THEIRS, KNOBS | {"steps": 5000}) for _ in range(2)]
    try:
        with pytest.raises(Refusal) as refused:
            site.runs.repeat("reverse", range(2, 8), THEIRS)
        assert refused.value.key == "runs.too_many_yours"
        assert len(site.runs.mine(THEIRS)) == len(long)
    finally:
        for run in long:
            site.runs.delete(run.id, THEIRS)


# ---- tokens, sentences, heads -----------------------------------------------------------------------------------------------------


def test_by_tokens_every_step_counts_as_many(site, three):
    panel = panel_of(site, MINE, runs=all_of(three[:1]), over="tokens")
    x = block(panel, "exact_match")["figure"]["data"][0]["x"]
    assert x[1] == pytest.approx(2 * x[0], rel=1e-6)
    statistics = site.reader.statistics(three[0])
    mean = statistics.src.lengths.mean() + statistics.tgt.lengths.mean() + 1  # the target ends with <eos>
    assert x[0] == pytest.approx(2 * TINY["batch_size"] * mean, rel=0.25)


def test_sentences_on_which_runs_disagree(site, three):
    """One that is trained gets sentences right that one without training doesn't."""
    panel = panel_of(site, MINE, "disagreements", runs=f"reverse,{three[0].id}")
    while panel.get("more"):
        panel = panel_of(site, MINE, "disagreements", runs=f"reverse,{three[0].id}")
    found = block(panel, "disagreeing")["rows"]
    assert found
    for row in found[:4]:
        right = [site.panel("sentence", run=run, text=row["source"])["correct"] for run in ("reverse", three[0].id)]
        assert [output["correct"] for output in row["outputs"]] == right
        assert sum(right) == 1
    other = panel_of(site, MINE, "disagreements", runs="reverse,sort")
    assert block(other, "disagreements-none")["text"] == say("en", "compare.no_common_task")


def test_the_difference_of_a_head_is_the_second_less_the_first(site, three):
    panel = panel_of(site, MINE, "same_sentence", runs=all_of(three[:2]), text="hello", layer="1", head="1", target="reference")
    heat = block(panel, "head-difference")["figure"]["data"][0]
    one, two = (site.reader.look(run, None, "hello", "reference").cross[0, 0] for run in three[:2])
    assert np.array(heat["z"]) == pytest.approx(two - one, abs=1e-3)
    assert heat["zmin"] == -heat["zmax"]
    assert "feed-reference" not in ids(panel)


def test_it_ends_where_the_decoders_are_fed_other_tokens(site, three):
    panel = panel_of(site, MINE, "same_sentence", runs=f"reverse,{three[0].id}", text="hello", target="output")
    fed = [[piece.text for piece in site.reader.look(run, None, "hello").fed] for run in (site.runs.get("reverse"), three[0])]
    rows = next((at for at, (one, two) in enumerate(zip(*fed, strict=False)) if one != two), min(map(len, fed)))
    assert len(block(panel, "head-difference")["figure"]["data"][0]["z"]) == rows
    assert ("feed-reference" in ids(panel)) == (rows < max(map(len, fed)))


def test_a_run_that_has_not_begun_is_one_sentence(site, three):
    """Neither a run without parameters nor one that reads nothing of the others' makes the panel fail."""
    paused = site.train(MINE, KNOBS | {"steps": 5000, "train_size": 2000})
    asked = {"run": "reverse", "runs": f"reverse,{paused.id}"}
    answer = site.http.get(f"{PREFIX}/panel/disagreements", params=asked, headers={"X-Playground-Token": MINE})
    assert answer.status_code == 200
    assert answer.json().get("key") in (None, "runs.nothing_yet")
    site.runs.delete(paused.id, MINE)

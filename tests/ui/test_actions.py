"""What a visitor does: every change asks for the owner's token, and every value is checked again in the core."""

from __future__ import annotations

import time

import pytest

from playground.config import KNOBS, LIVE_KNOBS, PRESETS, Experiment, Refusal, default, limits, read_query
from playground.runs.lru import LRU
from playground.ui.actions import Command, act, answer
from playground.ui.listeners import preset_values
from playground.ui.upload import uploading
from playground.words import say
from tests.thoroughness import every_case

TINY = {
    "train_size": 200,
    "validation_size": 20,
    "d_model": 16,
    "n_heads": 1,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "d_ff": 16,
    "threads": 1,
    "batch_size": 4,
}
MINE, THEIRS = "a" * 32, "b" * 32


def wait(run, *statuses, seconds=60):
    end = time.monotonic() + seconds
    while run.status not in statuses:
        assert time.monotonic() < end, run.status
        time.sleep(0.02)


def wait_for_steps(run):
    end = time.monotonic() + 60
    while run.snapshot is None or run.step < 2:
        assert time.monotonic() < end, run.status
        time.sleep(0.02)


@pytest.fixture
def run(site):
    run = site.train(MINE, {**TINY, "steps": 5000})
    yield run
    if run.id in {other.id for other in site.runs.mine(MINE)}:
        site.runs.delete(run.id, MINE)


def said(site, language="en", **command):
    """What the page is told: the answer, or the sentence of a refusal."""
    return answer(language, lambda: act(site.runs, Command.parse({"run": "", **command}, MINE, language)))


@pytest.mark.parametrize("action", ["pause", "resume", "step", "stop", "rename", "delete"])
def test_only_the_owner_changes_a_run(site, run, action):
    for token in (THEIRS, "", run.owner, run.id):
        with pytest.raises(Refusal) as refused:
            site.act(token, action, run.id, label="mine now")
        assert refused.value.key == ("runs.not_yours" if token else "runs.no_token")
    assert run.label == ""
    assert site.runs.get(run.id) is run


def test_pause_one_step_resume_stop(site, run):
    wait(run, "training")
    site.act(MINE, "pause", run.id)
    wait(run, "paused")
    before = run.step
    site.act(MINE, "step", run.id)
    wait(run, "paused")
    assert run.step == before + 1
    site.act(MINE, "resume", run.id)
    wait(run, "training")
    site.act(MINE, "stop", run.id)
    wait(run, "stopped")


def test_live_knobs_act_only_on_ones_own_run(site, run):
    wait(run, "training")
    assert site.act(THEIRS, "control", run.id, knob="learning_rate", value=0.001) == {}
    assert run.live["learning_rate"] == default("learning_rate")
    site.act(MINE, "control", run.id, knob="learning_rate", value=0.001)
    assert run.live == {name: default(name) for name in LIVE_KNOBS} | {"learning_rate": 0.001}
    with pytest.raises(Refusal):
        site.act(MINE, "control", run.id, knob="max_grad_norm", value=float("nan"))


def test_a_button_moves_a_live_knob_and_no_other(site, run):
    wait(run, "training")
    assert site.act(MINE, "live", run.id, knob="memory_mode", value="cut") == {"again": True}
    assert run.live == {name: default(name) for name in LIVE_KNOBS} | {"memory_mode": "cut"}
    for who, asked in ((THEIRS, {"value": "mean"}), (MINE, {"value": "half"}), (MINE, {"knob": "d_model"}), (MINE, {"knob": None})):
        with pytest.raises(Refusal):
            site.act(who, "live", run.id, **{"knob": "memory_mode", "value": "mean"} | asked)
    assert run.live["memory_mode"] == "cut"


def test_anyone_may_fork_and_copy_and_owns_what_comes_of_it(site, run):
    wait(run, "training")
    site.act(MINE, "pause", run.id)
    wait(run, "paused")
    for action in ("fork", "copy"):
        opened = site.act(THEIRS, action, run.id, step=0)
        assert site.runs.owns(opened["run"], THEIRS)
        assert not site.runs.owns(opened["run"], MINE)
        site.runs.delete(opened["run"], THEIRS)


def test_a_copy_says_whether_it_rests_and_takes_the_whole_place_with_it(site, run):
    wait(run, "training")
    wait_for_steps(run)
    opened = site.act(THEIRS, "copy", run.id)
    copy = site.runs.get(opened["run"])
    assert copy.status == "paused"
    assert "paused" in opened["notice"]
    assert "tab" not in opened
    assert {"text", "step", "head", "q", "off", "row"} <= set(opened["carry"])
    site.runs.delete(copy.id, THEIRS)
    opened = site.act(THEIRS, "copy", "reverse")
    assert site.runs.get(opened["run"]).status == "done"
    assert "paused" not in opened["notice"]
    site.runs.delete(opened["run"], THEIRS)


def test_train_and_fork_take_sentence_and_head_with_them_but_not_the_step(site, run):
    wait(run, "training")
    wait_for_steps(run)
    for opened in (site.act(THEIRS, "train", knobs={**TINY, "steps": 2}), site.act(THEIRS, "fork", run.id, step=0)):
        assert {"text", "layer", "head", "q", "k"} <= set(opened["carry"])
        assert "step" not in opened["carry"]
        assert opened["tab"] == "training"
        assert opened.get("other", False) == (site.runs.get(opened["run"]).parent is None)  # a fork reads all that its parent does
        site.runs.delete(opened["run"], THEIRS)


def test_whoever_deletes_a_run_is_told_that_its_place_is_gone(site):
    made = site.train(THEIRS, {**TINY, "steps": 2})
    assert site.act(THEIRS, "delete", made.id)["gone"]


@pytest.mark.parametrize(
    "message", [None, [], {}, "", 1, {"action": "pause"}, {"run": "x"}, {"action": 1, "run": "x"}, {"action": "format", "run": "x"}]
)
def test_nonsense_commands_are_refused_in_a_sentence(site, message):
    told = answer("en", lambda: act(site.runs, Command.parse(message, MINE, "en")))
    assert told["key"] == "page.not_a_command"
    assert told["error"].endswith(".")


@pytest.mark.parametrize(
    ("action", "values"),
    [("train", {}), ("train", {"knobs": []}), ("train", {"knobs": "all"}), ("rename", {"label": ["a"]}), ("rename", {"label": {"a": 1}}),
     ("live", {"knob": ["learning_rate"]}), ("control", {"knob": 7}), ("experiment", {"lab": ["skip"], "seed": 1})],
)  # fmt: skip
def test_values_of_another_kind_are_refused_in_a_sentence(site, run, action, values):
    assert said(site, action=action, **{"run": run.id, **values})["key"] == "page.not_a_command"
    assert run.label == ""


def test_a_setting_there_is_not_is_named(site):
    told = said(site, action="train", knobs={**TINY, "magic": 1})
    assert "“magic”" in told["error"]
    assert "run" not in told


@every_case("name", sorted(name for name in KNOBS if not limits(name).text))
@every_case("value", [float("nan"), float("inf"), "nonsense", [], {}, 1e300, -1])
def test_no_knob_takes_nonsense_from_outside(site, name, value):
    told = said(site, action="train", knobs={**TINY, name: value})
    assert "run" not in told
    assert told["knob"] == name
    assert name in told["error"]


def test_a_value_between_two_steps_is_refused(site):
    told = said(site, "zh", action="train", knobs={**TINY, "d_model": 63.7})
    assert "56" in told["error"]
    assert "64" in told["error"]


def test_a_model_too_large_is_refused_before_anything_is_made(site):
    huge = {"d_model": 512, "d_ff": 2048, "encoder_layers": 6, "decoder_layers": 6, "batch_size": 16384, "n_heads": 8}
    told = said(site, action="train", knobs=huge)
    assert "run" not in told
    assert told["error"]


def test_presets_keep_the_data(site):
    for name in PRESETS:
        values = preset_values(name, {"task": "sort", "train_size": 300})
        assert set(values) == set(KNOBS)
        if name != "paper_size":
            assert (values["task"], values["train_size"]) == ("sort", 300)


def test_a_link_says_all_that_differs_and_nothing_else():
    experiment = Experiment().with_(d_model=128, norm="pre", bias=False, learning_rate=0.0125, task="numbers_zh")
    query = experiment.query()
    assert set(query) == {"d_model", "norm", "bias", "learning_rate", "task"}
    assert read_query(query) == (experiment, [])


def test_own_pairs_are_read_kept_and_trained(site):
    lines = "\n".join(f"{a} {b}\t{b} {a}" for a in "abcdefgh" for b in "ijklmnop")
    found = uploading.read(None, lines + "\nno target\t\n", "", "", "en", uploading.ticket_of(MINE))
    reading = found["reading"]
    assert (reading["pairs"], reading["chosen"]) == (64, (0, 1))
    assert reading["rows"][0] == {"line": 1, "cells": ("a i", "i a"), "reason": "", "why": ""}
    assert reading["dropped"] == [{"why": "the target is empty", "count": "1", "more": False, "rows": [(65, ("no target", ""))]}]
    assert any("66" in line or "65" in line for line in reading["report"])
    swapped = uploading.read(None, lines, "", '{"source": 1, "target": 0}', "en")["reading"]
    assert swapped["chosen"] == (1, 0)
    run = site.train(MINE, {**TINY, "task": "own", "own": found["own"], "steps": 10})
    wait(run, "done")
    assert site.panel("sentence", run=run.id, text="a i")["key"] == "runs.sentences_private"
    site.act(MINE, "share_sentences", run.id, shared=True)
    assert site.panel("sentence", run=run.id, text="a i")["references"] == ["i a"]
    site.runs.delete(run.id, MINE)


@every_case(
    "chosen",
    [
        "{", "[]", "1", "null", '{"nonsense": 1}', '{"source": "1"}', '{"source": true}', '{"source": -1}', '{"target": 999}',
        '{"header": 2}', '{"encoding": "rot13"}', '{"encoding": ["utf-8"]}', '{"encoding": 8}', '{"undo": "no"}',
        '{"swap": 0.5}', "[" * 5000,
    ],
)  # fmt: skip
def test_choices_that_the_page_does_not_offer_are_refused(chosen):
    with pytest.raises(Refusal) as refused:
        uploading.read(None, "a\tb\nc\td", "", chosen, "en")
    assert refused.value.key in ("page.not_a_choice", "data.no_such_column")


def test_training_on_nothing_says_where_to_go(site):
    told = said(site, action="train", knobs={**TINY, "task": "own"})
    assert "Data" in told["error"]
    assert told["knob"] == "task"
    with pytest.raises(Refusal):
        uploading.read([], "  ", " ", "", "en")


def test_uploads_that_nobody_takes_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(uploading, "KEPT", LRU(1))
    kept = [uploading.read(None, f"a{n}\tb{n}\nc\td", "", "", "en")["own"] for n in range(3)]
    assert [own in uploading.KEPT for own in kept] == [False, False, True]


def test_a_key_of_another_browser_makes_the_runs_of_both_its_own(site, run):
    """Whoever enters it had a run as well; one mistake in it is told in one sentence, and changes nothing."""
    key, wrong = "c" * 32, {"": "not_a_key", "c" * 31: "not_a_key", "C" * 32: "not_a_key", "d" * 32: "key_unknown"}
    there = site.train(key, {**TINY, "steps": 2})
    for entered, sentence in wrong.items():
        assert said(site, action="take_key", key=entered)["key"] == f"page.{sentence}"
    assert site.runs.mine(MINE) == [run]
    answer = said(site, action="take_key", key=key)
    assert answer["notice"] == say("en", "page.key_taken", count=2)
    assert set(site.runs.mine(key)) == {run, there}
    assert site.runs.mine(MINE) == []
    for one in (run, there):
        site.runs.delete(one.id, key)

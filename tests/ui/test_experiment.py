"""Experiments on the page: the arms of a bench become the visitor's own runs, and what becomes of them is shown and judged."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from playground.config import Refusal
from playground.lessons.labs import LABS
from playground.runs.models import Models
from playground.ui import actions
from playground.ui.controls import label
from playground.ui.panels.guessing import SURE, UNKNOWN
from playground.words import LANGUAGES

ME = "e" * 32
TINY = {"d_model": 8, "n_heads": 2, "d_ff": 8, "steps": 4, "batch_size": 4, "heldout": 10, "validate_every": 2}


@pytest.fixture
def bench(monkeypatch):
    """Labs that train in no time."""
    for name in ("leak_source", "skip", "mystery"):
        monkeypatch.setitem(LABS, name, replace(LABS[name], base={**LABS[name].base, **TINY}))


def press(site, lab, seed=1, token=ME):
    return actions.command(site.runs, token, "en", json.dumps({"action": "experiment", "run": "reverse", "lab": lab, "seed": seed}))


def finished(site, ids):
    for run in map(site.runs.get, ids):
        end = time.monotonic() + 60
        while run.unfinished:
            assert time.monotonic() < end
            time.sleep(0.02)
    return ".".join(ids)


def shown(site, **parameters):
    answer = site.panel("labs", run="reverse", **parameters)
    return answer, {block["id"]: block for block in answer["blocks"]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_from_the_button_to_the_verdict(site, bench, language):
    lab = LABS["leak_source"]
    asked = {"lab": "leak_source", "guess": lab.guesses[0], "sure": SURE[0], "lang": language}
    _, before = shown(site, **asked)
    assert not {"verdict", "exhibits", "record"} & before.keys()
    assert before["controls"]["blocks"][0]["values"] == {"lab": "leak_source", "seed": 1}
    arms = finished(site, press(site, "leak_source")["arms"])
    answer, after = shown(site, **asked, arms=arms)
    assert "more" not in answer
    trained = zip(lab.arms, map(site.runs.get, arms.split(".")), strict=True)
    outcome = lab.verdict([[lab.result(arm, 1, run, lab.measured(run, site.runs.corpora, Models()))] for arm, run in trained])
    assert lab.say(language, f"why_{outcome.answer}", **outcome.numbers) in after["verdict"]["text"]
    assert after["record"]["right"] == (outcome.answer == lab.guesses[0])
    looks = [block["to"] for block in after["controls"]["blocks"] if block["id"].startswith("look")]
    assert [look["run"] for look in looks] == arms.split(".")
    again = next(block for block in after["controls"]["blocks"] if block["id"] == "train")
    assert again["values"]["seed"] == 2
    course, ends = after["exhibits"]["blocks"]
    assert len(course["figure"]["data"]) == 4
    assert len(ends["blocks"][0]["rows"]) == 2
    more = finished(site, press(site, "leak_source", 2)["arms"])
    _, both = shown(site, **asked, arms=f"{arms}.{more}")
    assert len(both["exhibits"]["blocks"][1]["blocks"][0]["rows"]) == 4
    assert both["verdict"]["text"] != after["verdict"]["text"]


def test_what_is_no_arm_of_the_lab_is_not_shown(site, bench):
    arms = finished(site, press(site, "skip")["arms"])
    for wrong in ("nonsense", "reverse", arms.split(".")[0], "." * 100):
        _, found = shown(site, lab="skip", guess=UNKNOWN, arms=wrong)
        assert not {"verdict", "exhibits"} & found.keys()
    _, found = shown(site, lab="leak_source", guess=UNKNOWN, arms=arms)
    assert "exhibits" not in found
    _, found = shown(site, lab="skip", guess=UNKNOWN, arms=arms)
    assert "record" not in found
    assert found["verdict"]["text"]


def test_nothing_is_given_away_while_the_arms_train(site, bench, monkeypatch):
    monkeypatch.setitem(LABS, "skip", replace(LABS["skip"], base={**LABS["skip"].base, "steps": 100_000}))
    ids = press(site, "skip", 5)["arms"]
    answer, found = shown(site, lab="skip", guess="with", sure=SURE[0], arms=".".join(ids))
    assert answer["more"]
    assert answer["pause"] > 0
    assert "progress" in found
    assert not {"verdict", "record"} & found.keys()
    for id in ids:
        site.runs.delete(id, ME)


def test_a_mystery_does_not_say_what_was_changed(site, bench):
    ids = press(site, "mystery", 3)["arms"]
    finished(site, ids)
    for language in LANGUAGES:
        card = site.get(f"run/{ids[1]}", lang=language).json()
        assert card["settings"]["twist"] == "none"
        assert label("twist", language) not in card["line"]
        assert "?" in site.panel("map", run=ids[1], lang=language)["error"]


def test_what_is_no_experiment_is_refused(site, bench):
    for lab, seed in (("nothing", 1), ("softmax", 1), ("skip", -1), ("skip", None)):
        with pytest.raises(Refusal):
            press(site, lab, seed)
    with pytest.raises(Refusal):
        press(site, "skip", 1, token="")

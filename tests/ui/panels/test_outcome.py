"""The end is told in a sentence: what was reached, when the first sample was right, and what to try. Until then there is room for a bar."""

from __future__ import annotations

import pytest

from playground.queries.probes import first_right, probes_at
from playground.runs.replay import Replay
from playground.runs.run import Run
from playground.ui.measured import percent
from playground.ui.panels.outcome import outcome
from playground.ui.view import View
from playground.words import LANGUAGES, say
from tests.runs.tiny import tiny
from tests.thoroughness import every_case
from tests.ui.test_routes import SHIPPED, blocks_of


def of(site, run: Run, language: str = "en") -> list[dict]:
    view = View(site.runs, site.reader, {"run": "reverse", "lang": language})
    view.run = run
    return outcome(view)["blocks"]


@pytest.fixture
def ended():
    """A run of a few steps, of which only the record is looked at."""
    run = Run("some-run", "brisk-otter", tiny(steps=40), status="done", step=40, seconds=12.3)
    run.parts["replay"] = Replay()
    return run


@every_case("language", LANGUAGES)
@every_case("name", SHIPPED)
def test_the_sentence_of_a_shipped_run_says_what_its_history_and_its_replay_say(site, name, language):
    run = site.runs.get(name)
    found = blocks_of(site.panel("training", run=name, lang=language)["blocks"])
    said, *ways = next(block for block in found if block["id"] == "ended")["blocks"]
    assert percent(run.exact_match) in said["text"]
    assert f"{run.step:,}" in said["text"]
    right = first_right(run)
    assert say(language, "outcome.first_right", step=f"{right:,}") in said["text"]
    assert [way["act"] for way in ways] == ["play", "take", "knob"]


def test_the_first_right_step_is_the_first_at_which_a_sample_was_wholly_right(site):
    run = site.runs.get("reverse")
    right = {step: any(p.finished and all(p.right) for p in probes_at(run, step)[1]) for step in run.replay.steps}
    assert first_right(run) == min(step for step, is_right in right.items() if is_right) > 0


@pytest.mark.parametrize("status", ["queued", "preparing", "training", "paused"])
def test_a_run_that_has_not_ended_has_room_for_a_bar(site, ended, status):
    ended.status = status
    assert [block["kind"] for block in of(site, ended)] == ["outcome"]
    assert of(site, ended)[0]["text"] == ""


@pytest.mark.parametrize(("exact", "knob"), [(0.98, "positions"), (0.1, "steps")])
def test_what_was_learnt_is_taken_apart_and_what_was_not_is_trained_for_longer(site, ended, exact, knob):
    ended.history.validations.append(40, 0.5, 0.9, exact, 50, 50)
    said, way = of(site, ended)
    assert percent(exact) in said["text"]
    assert say("en", "outcome.never_right") in said["text"]
    assert (way["act"], way["knob"]) == ("knob", knob)
    assert say("en", f"knobs.{knob}.label") in way["label"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_run_that_broke_off_says_so_and_leads_to_the_learning_rate(site, ended, language):
    ended.status = "diverged"
    ended.history.validations.append(30, 0.5, 0.9, 0.9, 50, 50)
    said, way = of(site, ended, language)
    assert said["text"] == say(language, "outcome.broken", step="40", time=say(language, "page.outlook_seconds", count="12"))
    assert way["knob"] == "learning_rate"


def test_a_run_that_was_stopped_before_it_was_evaluated_promises_nothing(site, ended):
    ended.status = "stopped"
    said, way = of(site, ended)
    assert "%" not in said["text"]
    assert way["knob"] == "steps"


def test_the_samples_of_the_panel_are_those_of_the_run(site):
    run = site.runs.get("reverse")
    found = next(block for block in blocks_of(site.panel("training", run="reverse")["blocks"]) if block["kind"] == "probes")
    assert [(tuple(row["output"]), tuple(row["right"])) for row in found["rows"]] == [(probe.output, probe.right) for probe in run.probes]


def test_the_model_is_offered_where_its_end_is_told_but_for_a_riddle(site, monkeypatch):
    """Somebody who asks where the trained model is looks where the training ended."""
    run = site.runs.get("reverse")
    assert "take" in [block.get("act") for block in of(site, run)]
    monkeypatch.setattr(run, "secret", True)
    assert "take" not in [block.get("act") for block in of(site, run)]

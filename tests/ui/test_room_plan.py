"""What a room fixes holds at every door by which a run is begun, for its members and as long as they are in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from playground.config import Refusal
from playground.ui.listeners import _allowed
from playground.words import LANGUAGES, say
from tests.ui.endpoints.calls import refused
from tests.ui.test_actions import TINY, wait
from tests.ui.test_rooms import ANNA, BEN, TEACHER, do, enter, room

__all__ = ["room"]  # a fixture
SETTINGS = {**TINY, "steps": 4, "eval_every": 2, "packing": False}


@pytest.fixture
def group(site, room) -> Iterator[dict]:
    """A room that Anna has joined, and in which the width is fixed."""
    do(site, ANNA, "join", code=room["code"], nickname="")
    assert fix(site, room, settings={"d_model": 16, "task": "reverse"}) == {"done": True}
    yield room
    for token in (ANNA, BEN, TEACHER):
        for run in site.runs.mine(token):
            site.runs.delete(run.id, token)


def fix(site, room: dict, token: str = TEACHER, **fixed: object) -> dict:
    return do(site, token, "fix", code=room["code"], fixed=fixed)


def train(site, token: str, lang: str = "en", **knobs: object) -> dict:
    return site.command({"action": "train", "run": "", "knobs": {**SETTINGS, **knobs}}, token, lang).json()


def test_a_student_trains_what_is_fixed_until_it_is_lifted_or_they_leave(site, group):
    for language in LANGUAGES:
        said = say(language, "rooms.fixed", name="d_model", value="16", code=group["code"])
        assert train(site, ANNA, language, d_model=24) == {"error": said, "key": "rooms.fixed", "knob": "d_model"}
    assert "run" in train(site, ANNA, learning_rate=0.01)
    for token in (TEACHER, BEN):
        assert "run" in train(site, token, d_model=24), "it holds for the class alone"
    fix(site, group)
    assert "run" in train(site, ANNA, d_model=24)
    fix(site, group, settings={"d_model": 16})
    assert train(site, ANNA, d_model=24)["key"] == "rooms.fixed"
    do(site, ANNA, "leave", code=group["code"])
    assert "run" in train(site, ANNA, d_model=24)


def test_no_other_door_leads_round_it(site, group):
    other = site.train(BEN, {**SETTINGS, "d_model": 24})
    wait(other, "done")
    for action, values in (("fork", {"step": 1}), ("repeat", {}), ("copy", {})):
        assert site.command({"action": action, "run": other.id, **values}, ANNA).json()["key"] == "rooms.fixed", action
    assert refused(site, "train", owner=ANNA, **{**SETTINGS, "d_model": 24})[0] == "rooms.fixed"
    assert site.runs.mine(ANNA) == []


def test_a_run_that_trains_goes_on_and_its_fixed_live_knobs_stay(site, group):
    fix(site, group)
    run = site.train(ANNA, {**SETTINGS, "d_model": 24, "steps": 5000})
    wait(run, "training")
    fix(site, group, settings={"d_model": 16, "learning_rate": 0.04})
    assert run.status == "training"
    with pytest.raises(Refusal, check=lambda refusal: refusal.key == "rooms.fixed"):
        site.act(ANNA, "live", run.id, knob="learning_rate", value=0.01)
    site.act(ANNA, "live", run.id, knob="label_smoothing", value=0.1)
    site.act(ANNA, "pause", run.id)
    wait(run, "paused")
    site.act(ANNA, "resume", run.id)


def test_labs_of_today_and_what_was_dealt_are_trained_whatever_is_fixed_beside_them(site, group):
    fix(site, group, settings={"d_model": 16}, labs=["no_ffn"])
    assert site.command({"action": "experiment", "run": "", "lab": "skip", "seed": 1}, ANNA).json()["key"] == "rooms.lab_not_today"
    assert len(site.act(ANNA, "experiment", lab="no_ffn", seed=1)["arms"]) == 2
    dealt = do(site, TEACHER, "deal", code=group["code"], knobs=SETTINGS, arms=[{"d_model": 24}, {"d_model": 32}], order="together")
    assert "run" in do(site, ANNA, "train", code=group["code"], activity=dealt["activity"])
    assert do(site, TEACHER, "train", code=group["code"], activity=dealt["activity"])["key"] == "rooms.no_arm"


def test_one_sentence_when_a_students_runs_are_too_many(site, group):
    assert do(site, TEACHER, "limit", code=group["code"], limits={"each_kept": 1}) == {"done": True}
    assert "run" in train(site, ANNA)
    assert train(site, ANNA)["error"] == say("en", "rooms.each_kept", most=1, code=group["code"])
    site.runs.delete(site.runs.mine(ANNA)[0].id, ANNA)
    assert "run" in train(site, ANNA)


def test_what_there_is_to_do_is_ticked_and_counted(site, group):
    code = group["code"]
    assert do(site, TEACHER, "assign", code=code, text="Read <b>this</b>", to={"lab": "skip"}) == {"done": True}
    assert do(site, ANNA, "tick", code=code, done=True) == {"done": True}
    told = {"text": "Read <b>this</b>", "to": {"lab": "skip"}, "done": 1, "joined": 1, "mine": False}
    assert enter(site, TEACHER, code)["room"]["now"] == told


def test_a_fixed_control_is_still_and_only_open_tasks_are_offered():
    tasks = {"choices": [("Reverse", "reverse"), ("Sort", "sort"), ("Copy", "copy")]}
    asked = {"fixed": "d_model,task", "tasks": "sort,copy"}
    assert _allowed(asked, "task", dict(tasks)) == {"choices": [("Sort", "sort"), ("Copy", "copy")], "interactive": False}
    assert _allowed(asked, "d_ff", {}) == {"interactive": True}
    assert _allowed({}, "task", dict(tasks)) == tasks | {"interactive": True}

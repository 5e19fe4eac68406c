"""What a class trains: the arms that are dealt to it, whose board says no names, and what a room fixes, at every door."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import plotly.graph_objects as go
import pytest

from playground.config import Refusal
from playground.lessons.course import LESSONS
from playground.lessons.labs import LABS
from playground.ui.assets import PREFIX
from playground.ui.listeners import _allowed
from playground.words import LANGUAGES, say
from tests.ui.endpoints.calls import refused
from tests.ui.test_actions import TINY, wait
from tests.ui.test_rooms import ANNA, ARMS, BEN, CANARY, TEACHER, do, enter, room
from tests.ui.test_routes import block

__all__ = ["room"]  # a fixture
CARL = "9" * 32
SETTINGS = {**TINY, "steps": 4, "eval_every": 2, "packing": False}


@pytest.fixture
def dealt(site, room) -> Iterator[dict]:
    """A room in which two students were dealt an experiment: {"code", "activity"}."""
    for token, name in ((ANNA, CANARY), (BEN, "=1+1")):
        do(site, token, "join", code=room["code"], nickname=name)
    yield {"code": room["code"], "activity": deal(site, room)["activity"]}
    for token in (ANNA, BEN, CARL, TEACHER):
        for run in site.runs.mine(token):
            site.runs.delete(run.id, token)


def deal(site, room: dict, arms: list[dict] = ARMS, order: str = "together", **knobs: object) -> dict:
    return do(site, TEACHER, "deal", code=room["code"], knobs={**SETTINGS, **knobs}, arms=arms, order=order)


def trained(site, token: str, dealt: dict):
    run = site.runs.get(do(site, token, "train", **dealt)["run"])
    wait(run, "done")
    return run


def fetch(site, path: str, token: str, dealt: dict, **more: str):
    parameters = {"run": "reverse", "room": dealt["code"], **more}
    return site.http.get(f"{PREFIX}/{path}", params=parameters, headers={"X-Playground-Token": token})


def board(site, token: str, dealt: dict, lang: str = "en", **more: str) -> dict:
    return fetch(site, "panel/board", token, dealt, lang=lang, **more).json()


def rows_of_file(site, token: str, dealt: dict, **more: str) -> list[dict]:
    return list(csv.DictReader(io.StringIO(fetch(site, "board", token, dealt, **more).text)))


def activity(site, token: str, dealt: dict) -> dict:
    return enter(site, token, dealt["code"])["room"]["activities"][dealt["activity"]]


def column_of(panel: dict, id: str, column: object) -> list:
    return [row[column] for row in block(panel, id)["rows"]]


def test_each_student_trains_their_own_arm_with_their_own_token(site, dealt):
    runs = {token: trained(site, token, dealt) for token in (ANNA, BEN)}
    rates = [run.experiment.training.learning_rate for run in runs.values()]
    for token, run, rate in zip(runs, runs.values(), rates, strict=True):
        seen = activity(site, token, dealt)
        assert site.runs.owns(run.id, token)
        assert (seen["run"], seen["arm"]["learning_rate"]) == (run.id, rate)
    assert sorted(rates) == [0.01, 0.02]
    assert [run.experiment.training.seed for run in runs.values()] == [1, 2]
    assert do(site, ANNA, "train", **dealt)["run"] == runs[ANNA].id, "who has trained is led to their run"
    assert do(site, TEACHER, "withdraw", **dealt) == {"done": True}
    assert enter(site, ANNA, dealt["code"])["room"]["activities"] == {}
    assert do(site, ANNA, "train", **dealt)["key"] == "rooms.no_activity"
    assert site.runs.mine(ANNA) == [runs[ANNA]]
    assert block(board(site, TEACHER, dealt), "none")["text"] == say("en", "board.nothing_dealt")


@pytest.mark.night
def test_who_comes_late_is_dealt_an_arm_and_who_has_deleted_a_run_may_train_again(site, dealt):
    do(site, CARL, "join", code=dealt["code"], nickname="")
    run = trained(site, CARL, dealt)
    assert run.experiment.training.seed == 3
    site.runs.delete(run.id, CARL)
    again = trained(site, CARL, dealt)
    assert again.id != run.id
    assert activity(site, CARL, dealt)["run"] == again.id


def test_one_after_the_other_means_that(site, room, dealt):
    in_turn = {"code": room["code"], "activity": deal(site, room, order="in_turn", steps=5000)["activity"]}
    first = do(site, ANNA, "train", **in_turn)["run"]
    assert do(site, BEN, "train", **in_turn) == {"error": say("en", "rooms.not_your_turn"), "key": "rooms.not_your_turn"}
    assert site.runs.mine(BEN) == [], "no run is left over"
    site.runs.stop(first, ANNA)
    wait(site.runs.get(first), "stopped")
    assert "run" in do(site, BEN, "train", **in_turn)


def test_every_lab_that_is_offered_is_dealt_with_all_its_arms(site, room):
    offered = site.get("boot").json()["dealt_labs"]
    assert len(offered) > 5
    for lab in offered:
        answer = do(site, TEACHER, "deal_lab", code=room["code"], lab=lab, order="together")
        arms = activity(site, TEACHER, {"code": room["code"], "activity": answer["activity"]})["arms"]
        assert len(arms) == len(LABS[lab].arms) >= 2, lab
        assert all(arm.keys() == arms[0].keys() for arm in arms), lab
        assert do(site, TEACHER, "withdraw", code=room["code"], activity=answer["activity"]) == {"done": True}
    arms = [{"learning_rate": "0.01", "n_heads": "1"}, {"learning_rate": "0.02", "n_heads": "2"}]
    typed = {"code": room["code"], "activity": deal(site, room, arms)["activity"]}
    assert activity(site, TEACHER, typed)["arms"] == [{"n_heads": n, "learning_rate": n / 100} for n in (1, 2)]


def test_the_board_is_for_the_teacher_and_for_whom_the_teacher_lets(site, dealt):
    run = trained(site, ANNA, dealt)
    hidden = board(site, BEN, dealt)
    assert block(hidden, "none")["text"] == say("en", "board.not_shown")
    assert run.id not in json.dumps(hidden)
    do(site, TEACHER, "share_board", **dealt, shared=True)
    assert column_of(board(site, BEN, dealt), "runs", "run") == [run.id]
    do(site, TEACHER, "share_board", **dealt, shared=False)
    assert block(board(site, BEN, dealt), "none")["text"] == say("en", "board.not_shown")
    do(site, TEACHER, "cursor", code=dealt["code"], cursor={"tab": "board"})
    assert column_of(board(site, BEN, dealt), "runs", "run") == [run.id], "while the teacher shows it"
    for token in (CARL, ""):
        assert block(board(site, token, dealt), "none")["text"] == say("en", "rooms.not_in")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_board_has_every_run_what_they_came_to_and_a_verdict(site, dealt, language):
    """A hall sees half of the curves and no verdict until that is revealed."""
    before_any = board(site, TEACHER, dealt, language, present="1")["blocks"]
    assert [one["kind"] for one in before_any] == ["text", "text"]
    runs = [trained(site, token, dealt) for token in (ANNA, BEN)]
    panel = board(site, TEACHER, dealt, language)
    assert panel["of"] == say(language, "board.class", code=dealt["code"]), "what is saved is not of the run on screen"
    assert "more" not in panel
    for id in ("course", "scores"):
        figure = block(panel, id)["figure"]
        go.Figure(figure)
        linked = {run for trace in figure["data"] for run in trace.get("customdata", [])}
        assert linked == {run.id for run in runs}, "each can be opened"
    assert column_of(panel, "runs", "name") == [say(language, "page.room_student", number=n) for n in (1, 2)]
    assert column_of(panel, "arms", 1) == ["1 / 1", "1 / 1"]
    assert say(language, "board.weak_runs", least=3, fewest=1) in block(panel, "why")["text"]
    only = board(site, TEACHER, dealt, language, arm="1")
    assert len(block(only, "runs")["rows"]) == 1
    assert block(only, "verdict") == block(panel, "verdict"), "the verdict is over all of them"

    verdict = block(panel, "verdict")["text"]
    hidden, revealed = (board(site, TEACHER, dealt, language, present="1", revealed=value) for value in ("", "on"))
    (before,), (after,) = hidden["blocks"], revealed["blocks"]
    assert (before["title"], after["title"]) == (say(language, "board.hidden"), verdict)
    assert before["caption"] == say(language, "board.hidden_about", ended=2, dealt=2)
    steps = [[max(trace["x"]) for trace in one["figure"]["data"] if "customdata" in trace] for one in (before, after)]
    assert steps == [[2, 2], [4, 4]]
    assert before["figure"]["layout"]["xaxis"]["range"] == [0, 4], "there is more to come"
    assert verdict not in json.dumps(hidden)


def test_the_board_goes_on_while_a_run_may(site, dealt, monkeypatch):
    run = trained(site, ANNA, dealt)
    for status in ("paused", "stopped", "interrupted", "failed"):
        monkeypatch.setattr(run, "status", status)
        assert board(site, TEACHER, dealt).get("more", False) == (status != "failed"), status


def test_a_run_that_was_changed_on_its_way_is_shown_and_does_not_count(site, room, dealt):
    changed = {"code": room["code"], "activity": deal(site, room, steps=400)["activity"]}
    run = site.runs.get(do(site, ANNA, "train", **changed)["run"])
    site.runs.set_live(run.id, ANNA, "learning_rate", 0.05)
    wait(run, "done")
    assert run.history.events
    panel = board(site, TEACHER, changed)
    assert column_of(panel, "runs", "run") == [run.id]
    assert sorted(column_of(panel, "arms", 1)) == ["0 / 1", "0 / 1"]


def test_names_are_for_the_teacher_who_asks_for_them_and_the_file_has_no_formulas(site, dealt):
    runs = [trained(site, token, dealt) for token in (ANNA, BEN)]
    rows = rows_of_file(site, TEACHER, dealt)
    assert [(row["student"], row["seed"], row["steps"]) for row in rows] == [("Student 1", "1", "4"), ("Student 2", "2", "4")]
    assert [float(row["exact_match"]) for row in rows] == [run.exact_match for run in runs]
    assert sorted(float(row["learning_rate"]) for row in rows) == [0.01, 0.02]
    do(site, TEACHER, "share_board", **dealt, shared=True)
    assert column_of(board(site, TEACHER, dealt, names="on"), "runs", "name") == [CANARY, "=1+1"]
    assert [row["student"] for row in rows_of_file(site, TEACHER, dealt, names="on")][1] == "'=1+1"
    for reply in (board(site, TEACHER, dealt), board(site, BEN, dealt, names="on"), rows_of_file(site, BEN, dealt, names="on")):
        assert CANARY not in json.dumps(reply)
    do(site, TEACHER, "hide", code=dealt["code"], member=1, hidden=True)
    assert column_of(board(site, TEACHER, dealt, names="on"), "runs", "name")[0] == "Student 1"


def test_the_board_says_how_far_a_class_is_in_the_course(site, room):
    code = {"code": room["code"]}
    for token, name in ((ANNA, CANARY), (BEN, "")):
        do(site, token, "join", **code, nickname=name)
    tour, first, second = LESSONS[:3]
    assert do(site, ANNA, "progress", **code, done={first.name: 2, tour.name: 6}) == {"done": True}
    assert do(site, BEN, "progress", **code, done={first.name: 2, second.name: 1}) == {"done": True}
    for done in ({"nothing": 1}, {tour.name: 99}, {tour.name: "2"}):
        assert do(site, ANNA, "progress", **code, done=done)["key"] == "rooms.bad_progress"
    panel = board(site, TEACHER, code)
    assert column_of(panel, "course-steps", 0) == [first.say("en", "title"), second.say("en", "title")]
    assert column_of(panel, "course-steps", 1) == ["", 1]
    assert column_of(panel, "course-steps", 2)[0] == 2
    toured = block(panel, "tour-steps")  # thirteen columns are too many
    assert toured["head"][1:] == [say("en", "board.steps_done", count=count) for count in ("1–4", "5–8", "9–12", "13")]
    assert toured["rows"] == [[tour.say("en", "title"), "", 1, "", ""]]
    assert column_of(board(site, TEACHER, code, names="on"), "course-steps", 2)[0] == f"2: {CANARY}, Student 2"
    do(site, TEACHER, "hide", **code, member=1, hidden=True)
    assert column_of(board(site, TEACHER, code, names="on"), "course-steps", 2)[0] == "2: Student 1, Student 2"
    assert "course-steps" not in json.dumps(board(site, BEN, code))
    do(site, TEACHER, "cursor", **code, cursor={"tab": "board"})
    assert block(board(site, BEN, code, names="on"), "course-steps")["rows"] == block(panel, "course-steps")["rows"]


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
        sentence = say(language, "rooms.fixed", name="d_model", value="16", code=group["code"])
        assert train(site, ANNA, language, d_model=24) == {"error": sentence, "key": "rooms.fixed", "knob": "d_model"}
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


def test_a_fixed_control_is_still_and_only_open_tasks_are_offered():
    tasks = {"choices": [("Reverse", "reverse"), ("Sort", "sort"), ("Copy", "copy")]}
    room = {"fixed": "d_model,task", "tasks": "sort,copy"}
    assert _allowed(room, "task", dict(tasks)) == {"choices": [("Sort", "sort"), ("Copy", "copy")], "interactive": False}
    assert _allowed(room, "d_ff", {}) == {"interactive": True}
    assert _allowed({}, "task", dict(tasks)) == tasks | {"interactive": True}

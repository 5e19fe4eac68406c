"""The experiment of a class through its routes: who deals, who trains what, who sees the board, and what nobody is told of another."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace

import plotly.graph_objects as go
import pytest

from playground.lessons.course import LESSONS
from playground.lessons.labs import LABS
from playground.ui.assets import PREFIX
from playground.words import LANGUAGES, say
from tests.ui.panels.test_evaluation import block
from tests.ui.test_actions import TINY, wait
from tests.ui.test_rooms import ANNA, BEN, CANARY, TEACHER, do, enter, room

__all__ = ["room"]  # a fixture
CARL = "9" * 32
SETTINGS = {**TINY, "steps": 4, "eval_every": 2, "packing": False}
ARMS = [{"learning_rate": 0.01}, {"learning_rate": 0.02}]


@pytest.fixture
def dealt(site, room) -> Iterator[dict]:
    """A room in which two students were dealt an experiment: {"code", "activity"}."""
    for token, name in ((ANNA, CANARY), (BEN, "=1+1")):
        do(site, token, "join", code=room["code"], nickname=name)
    answer = do(site, TEACHER, "deal", code=room["code"], knobs=SETTINGS, arms=ARMS, order="together")
    yield {"code": room["code"], "activity": answer["activity"]}
    for token in (ANNA, BEN, CARL, TEACHER):
        for run in site.runs.mine(token):
            site.runs.delete(run.id, token)


def trained(site, token: str, dealt: dict):
    run = site.runs.get(do(site, token, "train", **dealt)["run"])
    wait(run, "done")
    return run


def board(site, token: str, dealt: dict, lang: str = "en", **asked: str) -> dict:
    parameters = {"run": "reverse", "room": dealt["code"], "lang": lang, **asked}
    return site.http.get(f"{PREFIX}/panel/board", params=parameters, headers={"X-Playground-Token": token}).json()


def rows_of_file(site, token: str, dealt: dict, **asked: str) -> list[dict]:
    parameters = {"run": "reverse", "room": dealt["code"], **asked}
    answer = site.http.get(f"{PREFIX}/board", params=parameters, headers={"X-Playground-Token": token})
    return list(csv.DictReader(io.StringIO(answer.text)))


def mine(site, token: str, dealt: dict) -> dict:
    return enter(site, token, dealt["code"])["room"]["activities"][dealt["activity"]]


def test_each_student_trains_their_own_arm_with_their_own_token(site, dealt):
    runs = {token: trained(site, token, dealt) for token in (ANNA, BEN)}
    for token, run in runs.items():
        seen = mine(site, token, dealt)
        assert site.runs.owns(run.id, token)
        assert (seen["run"], seen["arm"]["learning_rate"]) == (run.id, run.experiment.training.learning_rate)
    assert {run.experiment.training.learning_rate for run in runs.values()} == {0.01, 0.02}
    assert [run.experiment.training.seed for run in runs.values()] == [1, 2]
    assert do(site, ANNA, "train", **dealt)["run"] == runs[ANNA].id, "who has trained is led to their run"


@pytest.mark.night
def test_who_comes_late_is_dealt_an_arm_and_who_has_deleted_a_run_may_train_again(site, dealt):
    do(site, CARL, "join", code=dealt["code"], nickname="")
    run = trained(site, CARL, dealt)
    assert run.experiment.training.seed == 3
    site.runs.delete(run.id, CARL)
    again = trained(site, CARL, dealt)
    assert again.id != run.id
    assert mine(site, CARL, dealt)["run"] == again.id


def test_one_after_the_other_means_that(site, room, dealt):
    long = do(site, TEACHER, "deal", code=room["code"], knobs={**SETTINGS, "steps": 5000}, arms=ARMS, order="in_turn")
    in_turn = {"code": room["code"], "activity": long["activity"]}
    first = do(site, ANNA, "train", **in_turn)["run"]
    assert do(site, BEN, "train", **in_turn) == {"error": say("en", "rooms.not_your_turn"), "key": "rooms.not_your_turn"}
    assert site.runs.mine(BEN) == [], "no run is left that nobody asked for"
    site.runs.stop(first, ANNA)
    wait(site.runs.get(first), "stopped")
    assert "run" in do(site, BEN, "train", **in_turn)


@pytest.mark.parametrize("language", LANGUAGES)
def test_only_the_teacher_deals_shares_and_withdraws(site, dealt, language):
    asked = {
        "deal": {"knobs": {}, "arms": ARMS, "order": "together"}, "deal_lab": {"lab": "order", "order": "together"},
        "share_board": {"activity": dealt["activity"], "shared": True}, "withdraw": {"activity": dealt["activity"]},
    }  # fmt: skip
    for action, values in asked.items():
        for token, key in ((ANNA, "rooms.not_teacher"), (CARL, "rooms.not_in")):
            assert do(site, token, action, language, code=dealt["code"], **values) == {"error": say(language, key), "key": key}
    assert do(site, TEACHER, "train", language, **dealt)["error"] == say(language, "rooms.no_arm")


@pytest.mark.parametrize(
    ("action", "values"),
    [
        ("deal", {"knobs": [], "arms": ARMS, "order": "together"}), ("deal", {"knobs": {}, "arms": {}, "order": "together"}),
        ("deal", {"knobs": {}, "arms": [1, 2], "order": "together"}), ("deal", {"knobs": {}, "arms": ARMS, "order": 1}),
        ("deal_lab", {"lab": "softmax", "order": "together"}), ("deal_lab", {"lab": "mystery", "order": "together"}),
        ("share_board", {"activity": "x", "shared": "yes"}), ("train", {"activity": 1}),
    ],
)  # fmt: skip
def test_what_no_page_sends_is_refused(site, room, action, values):
    assert do(site, TEACHER, action, code=room["code"], **values)["key"] == "page.not_a_command"


def test_a_lab_is_dealt_with_all_its_arms(site, room):
    answer = do(site, TEACHER, "deal_lab", code=room["code"], lab="order", order="together")
    arms = mine(site, TEACHER, {"code": room["code"], "activity": answer["activity"]})["arms"]
    assert len(arms) >= 2
    assert all(arm.keys() == arms[0].keys() for arm in arms)


def test_a_student_who_has_all_arms_of_a_lab_and_presses_again_gets_the_same(site, dealt, monkeypatch):
    monkeypatch.setitem(LABS, "skip", replace(LABS["skip"], base={**LABS["skip"].base, **SETTINGS}))
    first, again = (site.act(ANNA, "experiment", "reverse", lab="skip", seed=3)["arms"] for _ in range(2))
    assert len(first) == 2
    assert again == first


def test_the_board_is_for_the_teacher_and_for_whom_the_teacher_lets(site, dealt):
    run = trained(site, ANNA, dealt)
    hidden = {"step": None, "blocks": [block(board(site, BEN, dealt), "none")]}
    assert hidden["blocks"][0]["text"] == say("en", "board.not_shown")
    assert run.id not in json.dumps(board(site, BEN, dealt))
    do(site, TEACHER, "share_board", **dealt, shared=True)
    assert [row["run"] for row in block(board(site, BEN, dealt), "runs")["rows"]] == [run.id]
    do(site, TEACHER, "share_board", **dealt, shared=False)
    do(site, TEACHER, "cursor", code=dealt["code"], cursor={"tab": "board"})
    assert [row["run"] for row in block(board(site, BEN, dealt), "runs")["rows"]] == [run.id], "while the teacher shows it"
    for token in (CARL, ""):
        assert block(board(site, token, dealt), "none")["text"] == say("en", "rooms.not_in")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_board_has_every_run_what_they_came_to_and_a_verdict(site, dealt, language):
    runs = [trained(site, token, dealt) for token in (ANNA, BEN)]
    panel = board(site, TEACHER, dealt, language)
    assert panel["of"] == say(language, "board.class", code=dealt["code"]), "what is saved is not of the run on screen"
    assert "more" not in panel
    for id in ("course", "scores"):
        go.Figure(block(panel, id)["figure"])
        named = [trace["customdata"] for trace in block(panel, id)["figure"]["data"] if "customdata" in trace]
        assert {run for ids in named for run in ids} == {run.id for run in runs}, "each can be opened"
    assert [row["name"] for row in block(panel, "runs")["rows"]] == [say(language, "page.room_student", number=n) for n in (1, 2)]
    assert [row[1] for row in block(panel, "arms")["rows"]] == ["1 / 1", "1 / 1"]
    assert say(language, "board.weak_runs", least=3, fewest=1) in block(panel, "why")["text"]
    only = board(site, TEACHER, dealt, language, arm="1")
    assert len(block(only, "runs")["rows"]) == 1
    assert block(only, "verdict") == block(panel, "verdict"), "the verdict is over all of them"


@pytest.mark.parametrize("status", ["paused", "stopped", "interrupted", "failed"])
def test_the_board_goes_on_while_a_run_may(site, dealt, monkeypatch, status):
    monkeypatch.setattr(trained(site, ANNA, dealt), "status", status)
    assert board(site, TEACHER, dealt).get("more", False) == (status != "failed")


def test_a_run_that_was_changed_on_its_way_is_shown_and_does_not_count(site, dealt):
    long = do(site, TEACHER, "deal", code=dealt["code"], knobs={**SETTINGS, "steps": 400}, arms=ARMS, order="together")
    changed = {"code": dealt["code"], "activity": long["activity"]}
    run = site.runs.get(do(site, ANNA, "train", **changed)["run"])
    site.runs.set_live(run.id, ANNA, "learning_rate", 0.05)
    wait(run, "done")
    assert run.history.events
    panel = board(site, TEACHER, changed)
    assert [row["run"] for row in block(panel, "runs")["rows"]] == [run.id]
    assert sorted(row[1] for row in block(panel, "arms")["rows"]) == ["0 / 1", "0 / 1"]


def test_names_are_for_the_teacher_who_asks_for_them(site, dealt):
    for token in (ANNA, BEN):
        trained(site, token, dealt)
    do(site, TEACHER, "share_board", **dealt, shared=True)
    named = board(site, TEACHER, dealt, names="on")
    assert [row["name"] for row in block(named, "runs")["rows"]] == [CANARY, "=1+1"]
    assert CANARY not in json.dumps(board(site, TEACHER, dealt))
    assert CANARY not in json.dumps(board(site, BEN, dealt, names="on"))
    assert [row["student"] for row in rows_of_file(site, BEN, dealt, names="on")] == ["Student 1", "Student 2"]
    do(site, TEACHER, "hide", code=dealt["code"], member=1, hidden=True)
    assert block(board(site, TEACHER, dealt, names="on"), "runs")["rows"][0]["name"] == "Student 1"


def test_the_file_has_numbers_and_no_formulas(site, dealt):
    runs = [trained(site, token, dealt) for token in (ANNA, BEN)]
    rows = rows_of_file(site, TEACHER, dealt)
    assert [(row["student"], row["seed"], row["steps"]) for row in rows] == [("Student 1", "1", "4"), ("Student 2", "2", "4")]
    assert [float(row["exact_match"]) for row in rows] == [run.exact_match for run in runs]
    assert {float(row["learning_rate"]) for row in rows} == {0.01, 0.02}
    assert not rows_of_file(site, TEACHER, dealt, names="on")[1]["student"].startswith("=")


def test_what_is_withdrawn_is_gone_and_runs_stay(site, dealt):
    run = trained(site, ANNA, dealt)
    assert do(site, TEACHER, "withdraw", **dealt) == {"done": True}
    assert enter(site, ANNA, dealt["code"])["room"]["activities"] == {}
    assert do(site, ANNA, "train", **dealt)["key"] == "rooms.no_activity"
    assert site.runs.mine(ANNA) == [run]
    assert block(board(site, TEACHER, dealt), "none")["text"] == say("en", "board.nothing_dealt")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_hall_sees_half_of_the_curves_and_no_verdict_until_it_is_revealed(site, dealt, language):
    for token in (ANNA, BEN):
        trained(site, token, dealt)
    hidden, revealed = (board(site, TEACHER, dealt, language, present="1", revealed=value) for value in ("", "on"))
    (before,), (after,) = hidden["blocks"], revealed["blocks"]
    said, _ = (block(board(site, TEACHER, dealt, language), name)["text"] for name in ("verdict", "why"))
    assert (before["title"], after["title"]) == (say(language, "board.hidden"), said)
    assert before["caption"] == say(language, "board.hidden_about", ended=2, dealt=2)
    steps = [[max(trace["x"]) for trace in one["figure"]["data"] if "customdata" in trace] for one in (before, after)]
    assert steps == [[2, 2], [4, 4]]
    assert before["figure"]["layout"]["xaxis"]["range"] == [0, 4], "there is more to come"
    assert said not in json.dumps(hidden)


def test_nothing_is_told_in_a_hall_before_the_first_half(site, dealt):
    blocks = board(site, TEACHER, dealt, present="1")["blocks"]
    assert [one["kind"] for one in blocks] == ["text", "text"]


def test_the_board_says_how_far_a_class_is_in_the_course(site, room):
    code = {"code": room["code"]}
    for token, name in ((ANNA, CANARY), (BEN, "")):
        do(site, token, "join", **code, nickname=name)
    tour, first, second = LESSONS[:3]
    assert do(site, ANNA, "progress", **code, done={first.name: 2, tour.name: 6}) == {"done": True}
    assert do(site, BEN, "progress", **code, done={first.name: 2, second.name: 1}) == {"done": True}
    steps = block(board(site, TEACHER, code), "course-steps")
    assert [row[0] for row in steps["rows"]] == [first.say("en", "title"), second.say("en", "title")]
    assert steps["rows"][0][1:3] == ["", 2]
    assert steps["rows"][1][1] == 1
    toured = block(board(site, TEACHER, code), "tour-steps")  # thirteen columns are too many
    assert toured["head"][1:] == [say("en", "board.steps_done", count=count) for count in ("1–4", "5–8", "9–12", "13")]
    assert toured["rows"] == [[tour.say("en", "title"), "", 1, "", ""]]
    named = block(board(site, TEACHER, code, names="on"), "course-steps")["rows"][0][2]
    assert named == f"2: {CANARY}, Student 2"
    do(site, TEACHER, "hide", **code, member=1, hidden=True)
    assert block(board(site, TEACHER, code, names="on"), "course-steps")["rows"][0][2] == "2: Student 1, Student 2"
    assert "course-steps" not in json.dumps(board(site, BEN, code))
    do(site, TEACHER, "cursor", **code, cursor={"tab": "board"})
    assert block(board(site, BEN, code, names="on"), "course-steps")["rows"] == steps["rows"]


@pytest.mark.parametrize("done", [[], {"nothing": 1}, {LESSONS[0].name: 99}, {LESSONS[0].name: "2"}, None])
def test_no_other_progress_is_taken(site, room, done):
    do(site, ANNA, "join", code=room["code"], nickname="")
    assert do(site, ANNA, "progress", code=room["code"], done=done)["key"] in ("page.not_a_command", "rooms.bad_progress")
    assert do(site, CARL, "progress", code=room["code"], done={})["key"] == "rooms.not_in"


def test_arms_may_differ_in_several_settings(site, room):
    arms = [{"learning_rate": "0.01", "n_heads": "1"}, {"learning_rate": "0.02", "n_heads": "2"}]
    answer = do(site, TEACHER, "deal", code=room["code"], knobs=SETTINGS, arms=arms, order="together")
    assert mine(site, TEACHER, {"code": room["code"], "activity": answer["activity"]})["arms"] == [
        {"n_heads": 1, "learning_rate": 0.01}, {"n_heads": 2, "learning_rate": 0.02},
    ]  # fmt: skip


def test_every_lab_that_is_offered_can_be_dealt(site, room):
    offered = site.get("boot").json()["dealt_labs"]
    assert len(offered) > 5
    for lab in offered:
        answer = do(site, TEACHER, "deal_lab", code=room["code"], lab=lab, order="together")
        assert do(site, TEACHER, "withdraw", code=room["code"], activity=answer["activity"]) == {"done": True}

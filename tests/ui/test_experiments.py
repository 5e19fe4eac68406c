"""What a class trains: the arms that are dealt to it, whose board says no names, and what a room fixes, at every door."""

import csv
import io
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import plotly.graph_objects as go
import pytest

from playground.features.board import MIN_RUNS
from playground.features.board.class_board import Board, ClassRun, fit_power_law
from playground.features.board.figure import Point, scores
from playground.features.shared.queries.validation import LearningCurve
from playground.features.shared.view import percent
from playground.lessons.course import LESSONS
from playground.lessons.labs import LABS
from playground.rooms import question
from playground.rooms.registry import DAY
from playground.ui.assets import PREFIX
from playground.words import listed, say
from tests.runs.tiny import at_step, done
from tests.ui.looking import TINY, block, ids, refused
from tests.ui.test_rooms import ANNA, ARMS, BEN, CANARY, TEACHER, do, enter

CARL = "9" * 32
SETTINGS = {**TINY, "packing": False}


@pytest.fixture(scope="module")
def dealt(site) -> Iterator[dict]:
    """A room in which two students were dealt an experiment: {"code", "activity"}."""
    code = do(site, TEACHER, "open", language="en", ends=time.time() + DAY)["room"]["code"]
    for token, name in ((ANNA, CANARY), (BEN, "=1+1")):
        do(site, token, "join", code=code, nickname=name)
    yield deal(site, code)
    do(site, TEACHER, "end", code=code)


def deal(site, code: str, arms: list[dict] = ARMS, order: str = "together", **knobs: object) -> dict:
    answer = do(site, TEACHER, "deal", code=code, knobs={**SETTINGS, **knobs}, arms=arms, order=order)
    return {"code": code, "activity": answer["activity"]}


def trained(site, token: str, dealt: dict):
    """The run of this student; the first request trains it."""
    return done(site.runs.get(do(site, token, "train", **dealt)["run"]))


def fetch(site, path: str, token: str, dealt: dict, **more: str):
    parameters = {"run": "reverse", "room": dealt["code"], **more}
    return site.http.get(f"{PREFIX}/{path}", params=parameters, headers={"X-Playground-Token": token})


def board(site, token: str, dealt: dict, lang: str = "en", **more: str) -> dict:
    return fetch(site, "panel/board", token, dealt, lang=lang, **{"activity": dealt["activity"], **more}).json()


def rows_of_file(site, token: str, dealt: dict, **more: str) -> list[dict]:
    return list(csv.DictReader(io.StringIO(fetch(site, "board", token, dealt, activity=dealt["activity"], **more).text)))


def activities(site, token: str, dealt: dict) -> dict:
    return enter(site, token, dealt["code"])["room"]["activities"]


def column_of(panel: dict, id: str, column: object) -> list:
    return [row[column] for row in block(panel, id)["rows"]]


def test_each_student_trains_their_own_arm_together_or_in_turn(site, dealt):
    runs = {token: trained(site, token, dealt) for token in (ANNA, BEN)}
    for token, run in runs.items():
        own = activities(site, token, dealt)[dealt["activity"]]
        assert (site.runs.owns(run.id, token), own["run"]) == (True, run.id)
        assert own["arm"]["learning_rate"] == run.experiment.training.learning_rate
        assert trained(site, token, dealt) is run, "nothing is trained twice"
    assert sorted(run.experiment.training.learning_rate for run in runs.values()) == [0.01, 0.02]
    in_turn = deal(site, dealt["code"], order="in_turn", steps=5000)
    first = do(site, ANNA, "train", **in_turn)["run"]
    assert do(site, BEN, "train", **in_turn)["key"] == "rooms.not_your_turn"
    assert site.runs.list_owned(BEN) == [runs[BEN]], "no run is left over"
    site.runs.delete(first, ANNA)
    site.runs.delete(do(site, BEN, "train", **in_turn)["run"], BEN)
    assert do(site, ANNA, "train", **in_turn)["run"] not in (first, runs[ANNA].id), "a deleted run can be trained again"
    assert do(site, TEACHER, "withdraw", **in_turn) == {"done": True}
    assert do(site, ANNA, "train", **in_turn)["key"] == "rooms.no_activity"


def test_the_board_has_every_run_what_they_came_to_and_a_verdict(site, dealt):
    empty = deal(site, dealt["code"])
    wall, first = (board(site, TEACHER, empty, present=presented) for presented in ("1", ""))
    assert {len(block(one, "course")["figure"]["data"]) for one in (wall, first)} == {len(ARMS)}
    assert not {"arms", "runs", "scores"} & {*ids(wall), *ids(first)}
    do(site, TEACHER, "withdraw", **empty)
    runs = [trained(site, token, dealt) for token in (ANNA, BEN)]
    panel = board(site, TEACHER, dealt, "zh")
    for id in ("course", "scores"):
        figure = block(panel, id)["figure"]
        go.Figure(figure)
        linked = {run for trace in figure["data"] for run in trace.get("customdata", [])}
        assert linked == {run.id for run in runs}, "each can be opened"
    scaling = block(board(site, TEACHER, dealt, "zh", across="scaling"), "scores")
    assert scaling["caption"] == say("zh", "board.fit_few", least=3, sizes=1)
    assert column_of(panel, "runs", "name") == [say("zh", "page.room_student", number=n) for n in (1, 2)]
    assert column_of(panel, "arms", 1) == ["1 / 1", "1 / 1"]
    assert block(panel, "why")["text"] == say("zh", "board.weak_runs", least=3, fewest=1), "and nothing of a spread"
    only = board(site, TEACHER, dealt, "zh", arm="1")
    assert (len(block(only, "runs")["rows"]), block(only, "verdict")) == (1, block(panel, "verdict")), "over all of them"
    verdict = block(panel, "verdict")["text"]
    (before,), (after,) = (board(site, TEACHER, dealt, "zh", present="1", revealed=value)["blocks"] for value in ("", "on"))
    assert (before["title"], after["title"]) == (say("zh", "board.hidden"), verdict)
    steps = [[max(trace["x"]) for trace in one["figure"]["data"] if "customdata" in trace] for one in (before, after)]
    assert steps == [[2, 2], [4, 4]]
    assert before["figure"]["layout"]["xaxis"]["range"] == [0, 4], "there is more to come"
    assert verdict not in json.dumps(before)


def test_a_power_law_and_what_a_lab_goes_by_are_found_with_their_intervals():
    sizes, dice = np.repeat([1000, 4000, 16000], 2), np.random.default_rng(7)
    exact, *fits = (fit_power_law(sizes, 5 * sizes**-0.3 * np.exp(dice.normal(0, noise, 6))) for noise in [0.0] + 400 * [0.2])
    assert (exact.exponent, exact.low, exact.high) == pytest.approx((0.3, 0.3, 0.3))
    assert np.mean([fit.low <= 0.3 <= fit.high for fit in fits]) == pytest.approx(0.95, abs=0.03)
    figure = scores([Point("a", 0, "b", 1000, 0.6)], ["arm"], "x", column="validation_loss", logarithmic=True, fit=exact.line)
    assert [go.Figure(figure).layout[axis].type for axis in ("xaxis", "yaxis")] == ["log", "log"]
    assert fit_power_law(sizes[:4], sizes[:4]) is None
    run = SimpleNamespace(status="done", parent=None, history=SimpleNamespace(events=[]))
    runs = [ClassRun(1, "", 0, run, LearningCurve([2], [1], [1], [share], [share + 2], [False])) for share in (0.9, 0.95, 1.0)]
    pooled = [Board(None, 1, "", {"lab": name}, ["one"], runs).pooled(0) for name in ("heads", "order")]
    assert [(round(one.mean, 6), one.high > 1) for one in pooled] == [(2.95, True), (0.95, False)], "a loss is not cut as a share is"


def test_a_dealt_lab_keeps_its_question_its_names_and_its_judge(site, dealt, monkeypatch):
    for name in ("order", "no_ffn", "heads"):  # of the first two have the arms that decide, of the next all; the last goes by the loss
        monkeypatch.setitem(LABS, name, lab := replace(LABS[name], base={**LABS[name].base, **SETTINGS}))
        code = {"code": dealt["code"]}
        code |= do(site, TEACHER, "deal_lab", "zh", **code, lab=name, order="together")
        (posed,) = [at for at, each in activities(site, TEACHER, code).items() if each["kind"] == "question"]  # the class guesses first
        do(site, TEACHER, "cursor", code=dealt["code"], cursor={"tab": "board"})
        answer, came = {"code": dealt["code"], "activity": posed, "guess": lab.guesses[0], "sure": "50"}, []
        for token, other in ((BEN, ANNA), (ANNA, BEN)):
            assert do(site, token, "train", **code)["key"] == "rooms.guess_first"
            assert do(site, token, "answer", **answer) == {"done": True}
            came.append(lab.result(*lab.recognise(run := trained(site, token, code)), run))
            assert do(site, token, "answer", **answer)["key"] == "lessons.fixed"
            parts = {"arms"} if other is BEN else set()
            assert ids(board(site, TEACHER, code)) & {"verdict", "arms"} == {"arms"} == ids(board(site, token, code)) & {"verdict", "arms"}
            assert ids(board(site, other, code)) & {"verdict", "arms"} == parts, "the verdict waits, and all results for a guess"
            on_wall = ids(board(site, other, code, present="1", revealed="on"))
            assert (on_wall == {"course"}, bool(rows_of_file(site, other, code)[1:])) == (bool(parts), bool(parts))
        ways = {name: say("en", f"page.room_{name}") for name in ("close", "reveal")}
        waits = [block(board(site, token, code), "waits")["text"] for token in (TEACHER, BEN)]
        assert waits == [say("en", f"board.all_ended{of}", **ways) for of in ("", "_member")]
        do(site, TEACHER, "close", code=dealt["code"], activity=posed)
        assert "verdict" not in ids(board(site, BEN, code))
        by_arm = [[result] for arm in lab.arms for result in came if result.arm == arm]
        for least, right in ((1, lab.verdict(by_arm).answer if len(by_arm) == len(lab.arms) else ""), (MIN_RUNS, "")):
            monkeypatch.setattr("playground.features.board.MIN_RUNS", least)
            do(site, TEACHER, "reveal", code=dealt["code"], activity=posed, cursor={"run": "reverse", "activity": code["activity"]})
            assert activities(site, TEACHER, code)[posed]["answer"] == right, "by the class's runs, once they are enough"
        assert ids(board(site, BEN, code)) & {"guess", "class"} == {"class"}, "what the class guessed stays, whatever lab is in the address"
        do(site, TEACHER, "cursor", code=dealt["code"], cursor={"tab": "map"})
        panel, names = board(site, TEACHER, code, "zh"), [lab.say("zh", f"name_{arm}") for arm in lab.arms]
        left = listed("zh", [f"“{name}”" for arm, name in zip(lab.arms, names, strict=True) if arm not in {one.arm for one in came}])
        verdict = say("zh", "board.lab_waits")
        if not left:
            answer = lab.judge({one.arm: [one] for one in came})
            verdict = say("zh", "board.lab_so_far", answer=lab.say("zh", f"guess_{answer}"))
        assert [block(panel, id)["text"] for id in ("title", "question")] == [lab.say("zh", id) for id in ("title", "question")]
        assert (column_of(panel, "arms", 0), left == listed("zh", [f"“{name}”" for name in names[2:]])) == (names, name != "heads")
        ends = {f"{one.numbers['loss']:.3f}" if lab.judged == "loss" else percent(one.numbers["exact"]) for one in came}
        assert {*column_of(panel, "arms", 2)} - {"–"} == ends
        assert ids(panel) & {"guess", "options", "class"} == {"options", "class"}, "a teacher doesn't guess"
        assert block(panel, "activity")["options"][-1]["resets"] == {"lab": name}, "the address follows"
        told = [text["text"] for text in panel["blocks"] if text["id"] == "unheld"]
        assert told == ([unheld] if (unheld := left and say("zh", "board.unheld", arms=left)) else [])
        assert code["notice"].endswith(unheld + say("zh", "page.room_deal_short", needed=2 * len(lab.arms)))
        monkeypatch.setattr(question, "LEAST", 1)  # guesses that are shown
        (shown,) = board(site, TEACHER, code, "zh", present="1", revealed="on")["blocks"]
        assert say("zh", "page.room_asked_late", late=1) in shown["caption"]
        assert (block(panel, "verdict")["text"], shown["title"]) == (verdict, lab.say("zh", "short") + verdict)
        for activity in (posed, code["activity"]):
            do(site, TEACHER, "withdraw", **{**code, "activity": activity})


def test_the_board_goes_on_while_a_run_may_and_counts_none_that_was_changed(site, dealt, monkeypatch):
    run, _ = (trained(site, token, dealt) for token in (ANNA, BEN))
    for status in ("paused", "stopped", "interrupted", "failed"):
        with monkeypatch.context() as patch:
            patch.setattr(run, "status", status)
            assert board(site, TEACHER, dealt).get("more", False) == (status != "failed"), status
            patch.setitem(run.parts, "tokenizers", None)  # as before it is prepared
            rows = [(row["status"], row["parameters"]) for row in rows_of_file(site, TEACHER, dealt)]
            assert rows == [(status, ""), ("done", "1982")], "a count is whole beside one that is not known yet"
    monkeypatch.setattr(run.history, "events", [(2, "learning_rate", 0.05)])
    panel = board(site, TEACHER, dealt)
    assert (run.id in column_of(panel, "runs", "run"), "0 / 1" in column_of(panel, "arms", 1)) == (True, True)


def test_students_see_the_board_when_it_is_shared_or_shown_and_names_are_the_teachers(site, dealt):
    runs = [trained(site, token, dealt) for token in (ANNA, BEN)]
    trained_ids = [run.id for run in runs]
    for token, key in ((BEN, "board.not_shown"), (CARL, "rooms.not_in"), ("", "rooms.not_in")):
        panel = board(site, token, dealt)
        assert block(panel, "none")["text"] == say("en", key)
        assert not [id for id in trained_ids if id in json.dumps(panel)]
    do(site, TEACHER, "cursor", code=dealt["code"], cursor={"tab": "board"})
    assert column_of(board(site, BEN, dealt), "runs", "run") == trained_ids
    do(site, TEACHER, "cursor", code=dealt["code"], cursor={"tab": "map"})
    assert do(site, BEN, "share_board", **dealt, shared=True)["key"] == "rooms.not_teacher"
    assert "none" in ids(board(site, BEN, dealt))
    do(site, TEACHER, "share_board", **dealt, shared=True)
    assert ids(board(site, TEACHER, dealt)) - ids(board(site, BEN, dealt)) >= {"names", "share", "withdraw"}, "the teacher's own"
    assert column_of(board(site, TEACHER, dealt, names="on"), "runs", "name") == [CANARY, "=1+1"]
    assert [row["student"] for row in rows_of_file(site, TEACHER, dealt, names="on")][1] == "'=1+1"
    rows = rows_of_file(site, TEACHER, dealt)
    assert [(row["student"], row["seed"], row["steps"]) for row in rows] == [("Student 1", "1", "4"), ("Student 2", "2", "4")]
    assert [float(row["exact_match"]) for row in rows] == [run.exact_match for run in runs]
    for reply in (board(site, TEACHER, dealt), board(site, BEN, dealt, names="on"), rows_of_file(site, BEN, dealt, names="on")):
        assert CANARY not in json.dumps(reply)
    do(site, TEACHER, "share_board", **dealt, shared=False)


def test_the_board_says_how_far_a_class_is_in_the_course(site, dealt):
    code, (tour, first, second) = {"code": dealt["code"]}, LESSONS[:3]
    assert do(site, ANNA, "progress", **code, done={first.name: 2, tour.name: 6}) == {"done": True}
    assert do(site, BEN, "progress", **code, done={first.name: 2, second.name: 1}) == {"done": True}
    panel = board(site, TEACHER, dealt)
    assert [column_of(panel, "course-steps", at) for at in (0, 1)] == [[first.say("en", "title"), second.say("en", "title")], ["", 1]]
    assert column_of(panel, "course-steps", 2)[0] == 2
    toured = block(panel, "tour-steps")  # thirteen columns are too many
    assert toured["head"][1:] == [say("en", "board.steps_done", count=count) for count in ("1–4", "5–8", "9–12", "13")]
    assert toured["rows"] == [[tour.say("en", "title"), "", 1, "", ""]]
    assert column_of(board(site, TEACHER, dealt, names="on"), "course-steps", 2)[0] == f"2: {CANARY}, =1+1"
    assert "course-steps" not in json.dumps(board(site, BEN, dealt))


def train(site, token: str, lang: str = "en", **knobs: object) -> dict:
    return site.command({"action": "train", "run": "", "knobs": {**SETTINGS, **knobs}}, token, lang).json()


def test_what_a_room_fixes_holds_at_every_door_until_it_is_lifted_or_they_leave(site, dealt):
    code, other = dealt["code"], site.train(CARL, {**SETTINGS, "d_model": 24})
    before = site.train(ANNA, {**SETTINGS, "d_model": 24, "steps": 5000})
    dealt_later = deal(site, code, [{"d_model": 32}, {"d_model": 48}])

    def fix(**fixed: object) -> None:
        assert do(site, TEACHER, "fix", code=code, fixed=fixed) == {"done": True}
    fix(settings={"d_model": 16, "task": "reverse", "learning_rate": 0.04}, labs=["no_ffn"])
    done(other)
    at_step(before, 1)
    mine = site.runs.list_owned(ANNA)
    sentence = say("zh", "rooms.fixed", name="d_model", value="16", code=code)
    assert train(site, ANNA, "zh", d_model=24, learning_rate=0.04) == {"error": sentence, "key": "rooms.fixed", "knob": "d_model"}
    doors = [(other.id, action, values) for action, values in (("fork", {"step": 1}), ("repeat", {}), ("copy", {}))]
    doors += [(before.id, "live", {"knob": "learning_rate", "value": 0.01})]
    for run, action, values in doors:
        assert site.command({"action": action, "run": run, **values}, ANNA).json()["key"] == "rooms.fixed", action
    assert refused(site, "train", owner=ANNA, **{**SETTINGS, "d_model": 24})[0] == "rooms.fixed"
    assert site.command({"action": "experiment", "run": "", "lab": "skip", "seed": 1}, ANNA).json()["key"] == "rooms.lab_not_today"
    assert site.runs.list_owned(ANNA) == mine
    site.act(ANNA, "live", before.id, knob="label_smoothing", value=0.1)  # what trains goes on, and what is not fixed moves
    assert before.status == "training"
    made = [*site.act(ANNA, "experiment", lab="no_ffn", seed=1)["arms"], do(site, ANNA, "train", **dealt_later)["run"]]
    assert len(made) == 3  # a lab of today and what was dealt are trained whatever is fixed beside them
    for id in (*made, before.id):
        site.runs.delete(id, ANNA)
    assert "run" in train(site, ANNA, d_model=16, learning_rate=0.04)
    assert do(site, TEACHER, "train", **dealt_later)["key"] == "rooms.no_arm"
    assert "run" in train(site, CARL, d_model=24), "it holds for the class alone"
    fix()
    assert "run" in train(site, ANNA, d_model=24)
    assert do(site, TEACHER, "limit", code=code, limits={"each_kept": 1}) == {"done": True}
    assert train(site, ANNA)["error"] == say("en", "rooms.each_kept", most=1, code=code)
    do(site, ANNA, "leave", code=code)
    assert "run" in train(site, ANNA, d_model=24)

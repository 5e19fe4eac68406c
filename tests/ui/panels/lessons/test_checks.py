"""What a lesson asks at its end: three questions each, with keys that other panels bear out, told to nobody before an answer."""

from __future__ import annotations

import json
import random
import time

import pytest

from playground.config import Refusal
from playground.lessons.checks import registry
from playground.lessons.checks.posed import Seen
from playground.lessons.course import LESSONS as WITH_TOUR
from playground.rooms.registry import DAY
from playground.ui.assets import PREFIX
from playground.words import LANGUAGES, say
from tests.ui.panels.lessons.learner import Learner
from tests.ui.test_rooms import ANNA, TEACHER, do

LESSONS = WITH_TOUR[1:]  # the tour asks on its way
RUNS = ("reverse", "sort", "german_english", "numbers_de", "numbers_zh")
DRAWS = [("reverse", 1), ("german_english", 2), ("numbers_zh", 7)]
EVERY = [check for lesson in LESSONS for check in registry.own(lesson)]
OTHERS = (
    {"norm": "pre", "n_heads": 1},
    {"positions": "rotary", "bias": False},
    {"variant": "additive"},
    {"residual": False, "max_grad_norm": 0.0},
    {"norm": "none", "activation": "none", "attention_scale": 1.0, "d_k": 2},
)
TINY = {"train_size": 100, "validation_size": 10, "d_model": 8, "n_heads": 2, "d_ff": 8, "steps": 3, "batch_size": 8, "eval_every": 1}


def asked(site, lesson: str, run: str, **parameters) -> list[dict]:
    return site.panel("checks", run=run, lesson=lesson, **parameters)["blocks"]


def questions(blocks: list[dict]) -> list[dict]:
    return [block for block in blocks if block["kind"] == "check"]


def sentence(site, run: str) -> str:
    return site.reader.probes(site.runs.get(run))[-2][0]


def answered(site, lesson: str, given: dict[str, tuple[dict, str]], **parameters) -> dict[str, dict]:
    """The questions of a lesson after these answers, as a browser keeps them."""
    kept = ".".join(f"{name}~{block['asked']}~{value}" for name, (block, value) in given.items())
    return {block["id"]: block for block in questions(asked(site, lesson, checked=kept, **parameters))}


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_lesson_has_three_questions_of_its_own(lesson):
    names = [check.name for check in registry.own(lesson)]
    assert len(set(names)) == 3, f"lesson {lesson.name} needs three questions in playground/lessons/checks/registry.py, it has {names}"


def test_every_question_is_asked_in_one_lesson_and_one_comes_back_two_later():
    names = [check.name for check in EVERY]
    assert len(set(names)) == len(names)
    assert set(registry.CHECKS) == {lesson.name for lesson in LESSONS}
    for at, lesson in enumerate(LESSONS):
        again = registry.again(lesson)
        assert len(again) == (at >= registry.LATER)
        assert set(again) <= set(registry.own(LESSONS[at - registry.LATER]))


def scored(site, run: str, lesson: str, draw: int) -> tuple[list[str], int]:
    """(what the learner gets wrong in one lesson, how many questions there were)."""
    text = sentence(site, run)
    learner, place = Learner(site, run, text), {"run": run, "text": text, "toss": draw}
    blocks = asked(site, lesson, **place)
    given = {block["id"]: (block, learner.answers(block, blocks[:at])) for at, block in enumerate(blocks) if block["kind"] == "check"}
    after = answered(site, lesson, given, **place)
    return [f"{name}: {block['text']} {block['why']}" for name, block in after.items() if block["value"] != block["right"]], len(given)


@pytest.mark.night
@pytest.mark.parametrize(("run", "draw"), DRAWS)
def test_a_learner_who_reads_the_pictures_is_right_everywhere(site, run, draw):
    found = [scored(site, run, lesson.name, draw) for lesson in LESSONS]
    assert [wrong for wrongs, _ in found for wrong in wrongs] == []
    assert sum(count for _, count in found) >= 4 * len(LESSONS) - 4  # some runs can't be asked everything


def test_a_learner_who_reads_the_pictures_is_right(site):
    assert scored(site, "numbers_de", "masks", 1) == ([], 4)


@pytest.mark.night
def test_a_guesser_gets_the_chance_level(site):
    """Over many draws of the questions that cost little, by dice or always the first or the last: right choices stand anywhere."""
    seen = Seen(site.reader, site.runs.get("numbers_de"), None, sentence(site, "numbers_de"))
    cheap = [check for check in EVERY if check.name not in ("ranked_heads", "beam_best")]
    dice, right, expected, made = random.Random(1), dict.fromkeys(("any", "first", "last"), 0), 0.0, 0
    for draw in range(1, 31):
        for check in cheap:
            try:
                posed = registry.pose(check, seen, draw)
            except Refusal:
                continue
            count = len(posed.options)
            expected, made = expected + 1 / count, made + 1
            for guess, choice in {"any": dice.randrange(count), "first": 0, "last": count - 1}.items():
                right[guess] += choice == posed.key
    assert made > 25 * len(cheap)
    deviation = (made * 0.25 * 0.75) ** 0.5
    assert all(abs(count - expected) < 3 * deviation for count in right.values()), (right, expected)


def test_nobody_is_told_the_key_before_an_answer_nor_by_an_answer_to_another_question(site):
    place = {"run": "reverse", "text": sentence(site, "reverse")}
    first = questions(asked(site, "attention", **place))
    assert all(block["right"] == block["why"] == block["value"] == "" and block["way"] is None for block in first)
    one = first[0]
    for kept in (f"{one['id']}~0000000000~0", f"{one['id']}~{one['asked']}~9", "nonsense", f"{one['id']}~{one['asked']}~٣"):
        assert questions(asked(site, "attention", checked=kept, **place)) == first
    told = answered(site, "attention", {one["id"]: (one, "1")}, **place)
    assert told[one["id"]]["value"] == "1"
    assert told[one["id"]]["right"] in {option["value"] for option in one["options"]}
    assert told[one["id"]]["way"]["to"]["tab"] == "attention"
    assert [block for name, block in told.items() if name != one["id"]] == first[1:]


def test_another_sentence_and_another_draw_ask_anew(site):
    place = {"run": "reverse", "text": sentence(site, "reverse")}
    hashes = [questions(asked(site, "attention", **place | more))[0]["asked"] for more in ({}, {"toss": 2}, {"text": "hello"})]
    assert len(set(hashes)) == 3
    assert questions(asked(site, "attention", **place))[0]["asked"] == hashes[0]


def said(site, run: str, **parameters) -> None:
    """Asks everything of a run in every language, and answers: every question, every way to a figure and every refusal has its words."""
    for lesson in LESSONS:
        for language in LANGUAGES:
            blocks = asked(site, lesson.name, run, lang=language, **parameters)
            ids = {block["id"].removeprefix("refused-") for block in blocks}
            assert {check.name for check in registry.own(lesson)} <= ids
            given = {block["id"]: (block, "0") for block in questions(blocks)}
            for block in answered(site, lesson.name, given, run=run, lang=language, **parameters).values():
                assert block["why"]
                assert block["way"]["label"] == say(language, "checks.show")
                assert 2 <= len({option["label"] for option in block["options"]}) == len(block["options"]) <= 4


@pytest.mark.night
@pytest.mark.parametrize("run", RUNS)
def test_every_shipped_run_is_asked_in_both_languages(site, run):
    said(site, run)


@pytest.mark.night
@pytest.mark.parametrize("knobs", OTHERS, ids=lambda knobs: next(iter(knobs.values())))
def test_other_models_are_asked_what_they_can_be(site, knobs):
    run = site.train(TEACHER, TINY | {"encoder_layers": 1, "decoder_layers": 1} | knobs)
    end = time.monotonic() + 60
    while run.working:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert run.status == "done", run.message
    said(site, run.id)
    if "variant" in knobs:  # what follows from the paper's formulas would be wrong of it
        formulas = {check.name for check in EVERY if check.by_formula}
        assert not formulas & {block["id"] for lesson in LESSONS for block in questions(asked(site, lesson.name, run.id))}
    site.runs.delete(run.id, TEACHER)


def test_a_run_that_trains_is_asked_when_it_rests(site, monkeypatch):
    run = site.runs.get("reverse")
    monkeypatch.setattr(type(run), "working", True)
    blocks = asked(site, "attention", "reverse")
    assert questions(blocks) == []
    assert blocks[-1]["text"] == say("en", "checks.while_training")


def test_only_the_teacher_of_a_room_is_told_the_model_answers(site):
    room = do(site, TEACHER, "open", language="en", ends=time.time() + DAY)["room"]["code"]
    do(site, ANNA, "join", code=room, nickname="")

    def told(token: str, lesson: str = "weight", lang: str = "en") -> dict:
        query = {"code": room, "run": "reverse", "lesson": lesson, "lang": lang, "text": sentence(site, "reverse")}
        return site.http.get(f"{PREFIX}/room/answers", params=query, headers={"X-Playground-Token": token}).json()

    assert told(ANNA)["key"] == "rooms.not_teacher"
    assert told("nobody in it" * 3)["key"] == "rooms.not_in"
    for lesson in (LESSONS[0], LESSONS[-1]):
        for language in LANGUAGES:
            (notes,) = told(TEACHER, lesson.name, language)["blocks"]
            rows = dict(notes["rows"])
            assert rows.pop(lesson.say(language, "ask")) == lesson.say(language, "answer")
            assert len(rows) == len(registry.asked(lesson))
    written = json.dumps([site.panel("course", run="reverse", notes="on"), site.get("boot").json()], ensure_ascii=False)
    assert all(lesson.say("en", "answer") not in written for lesson in LESSONS)


def test_the_teacher_sees_how_the_class_chose_once_a_group_has_answered(site):
    """Bars for those who were asked the very same as the teacher; nothing tells who they were."""
    entered = do(site, TEACHER, "open", language="en", ends=time.time() + DAY)["room"]["code"]
    place = {"run": "reverse", "text": sentence(site, "reverse")}
    block = questions(asked(site, "attention", **place))[0]
    right = answered(site, "attention", {block["id"]: (block, "0")}, **place)[block["id"]]["right"]

    def told(**other) -> list[dict]:
        query = {"code": entered, "lesson": "attention"} | place | other
        answer = site.http.get(f"{PREFIX}/room/answers", params=query, headers={"X-Playground-Token": TEACHER}).json()
        return [found for found in answer["blocks"] if found["id"].startswith("class-")]

    for at, choice in enumerate((right, "0", right)):
        assert told() == []
        member = f"{at}" * 32
        do(site, member, "join", code=entered, nickname=f"Nickname {at}")
        report = {"lesson": "attention", "question": block["id"], "asked": block["asked"], "choice": int(choice), "right": choice == right}
        assert do(site, member, "check", code=entered, **report) == {"done": True}
    (figure,) = told()
    counts = [right, "0", right]
    options = [option["value"] for option in block["options"]]
    assert figure["figure"]["data"][0]["x"] == [counts.count(value) for value in options]
    assert say("en", "checks.class_right", right=counts.count(right), count=3) in figure["caption"]
    assert "Nickname" not in json.dumps(figure)
    (text,) = told(toss="2")
    assert text["kind"] == "text"
    assert do(site, TEACHER, "check", code=entered, **report)["key"] == "rooms.teacher_reports"
    assert do(site, member, "check", code=entered, **report | {"choice": True})["key"] == "page.not_a_command"

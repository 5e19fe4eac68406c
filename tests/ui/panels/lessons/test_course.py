"""The tab of the course: a list, a lesson whose answer is shown once somebody has guessed, and what teachers read."""

from __future__ import annotations

import pytest

from playground.lessons.course import ANSWER, COURSE, LESSONS, PREDICT
from playground.lessons.labs import LABS
from playground.ui.panels.lessons.guessing import SURE, UNKNOWN
from playground.words import LANGUAGES
from tests.thoroughness import every_case

ASKING = [lesson for lesson in LESSONS if lesson.question]


def shown(site, **parameters) -> dict[str, dict]:
    return {block["id"]: block for block in site.panel("course", **{"run": "reverse", **parameters})["blocks"]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_lessons_are_there_in_their_order(site, language):
    found = shown(site, lang=language)["lessons"]["lessons"]
    assert [lesson["name"] for lesson in found] == list(COURSE)
    assert all(lesson["title"] and lesson["text"] and lesson["minutes"] for lesson in found)


@every_case("language", LANGUAGES)
@every_case("name", COURSE)
def test_a_lesson_says_what_to_do_and_where(site, name, language):
    lesson, found = COURSE[name], shown(site, lesson=name, lang=language)
    steps = found["steps"]["steps"]
    first, last = ([PREDICT], [ANSWER]) if lesson.asks else ([], [])
    assert [step["name"] for step in steps] == [*first, *(step.name for step in lesson.does), *last]
    assert all(step["text"] for step in steps)
    assert all(step["to"] or step["knobs"] is not None for step in steps[1:])
    assert len(found["look"]["points"]) in (3, 4)
    assert found["literature"]["text"] == lesson.say(language, "literature")
    assert ("next" in {block["id"] for block in found["ways"]["blocks"]}) == (lesson is not LESSONS[-1])


def test_the_tour_begins_at_its_first_stop(site):
    assert shown(site, lesson="tour")["start"]["to"] == {"tab": "map", "stop": "ids"}


def test_the_page_watches_for_what_is_declared(site):
    for language in LANGUAGES:
        told = site.get("boot", lang=language).json()["course"]
        assert [lesson["name"] for lesson in told] == list(COURSE)
        for one, lesson in zip(told, LESSONS, strict=True):
            assert [step["name"] for step in one["steps"]] == [step.name for step in lesson.steps]
            assert all(step["text"] and step["when"] for step in one["steps"])


@pytest.mark.parametrize("name", [lesson.name for lesson in LESSONS if lesson.lab])
def test_a_labs_question_is_asked_in_the_lab(site, name):
    lab = LABS[COURSE[name].lab]
    (card,) = shown(site, lesson=name)["ask"]["cards"]
    assert (card["name"], card["title"], card["text"]) == (lab.name, lab.say("en", "title"), lab.say("en", "question"))


@pytest.mark.parametrize("lesson", ASKING, ids=lambda lesson: lesson.name)
def test_nothing_is_given_away_before_a_guess(site, lesson):
    guess = lesson.question.guesses[0]
    for parameters in ({}, {"predicted": guess}, {"certain": SURE[0]}, {"predicted": "nonsense", "certain": SURE[0]}, {"guess": guess}):
        found = shown(site, lesson=lesson.name, **parameters)
        assert "verdict" not in found
        assert [option["value"] for option in found["guess"]["options"]] == list(lesson.question.guesses)


@every_case("language", LANGUAGES)
@every_case("lesson", ASKING)
def test_a_guess_is_compared_with_the_run_on_screen(site, lesson, language):
    run = site.runs.get("numbers_de")
    text = site.reader.examples(run, "heldout", 1)[0][0]
    answer, numbers = lesson.question.answer(site.reader, run, None, text)
    why = lesson.say(language, f"why_{answer}", **numbers)
    common = {"lesson": lesson.name, "run": run.id, "text": text, "lang": language}
    assert UNKNOWN not in lesson.question.guesses
    for guess in lesson.question.guesses:
        found = shown(site, predicted=guess, certain=SURE[1], **common)
        assert found["verdict"]["text"].endswith(why)
        assert found["record"] == {"kind": "record", "id": "record", "lab": lesson.kept_as, "sure": 75, "right": guess == answer}
    found = shown(site, predicted=UNKNOWN, **common)
    assert found["verdict"]["text"] == why
    assert not found["record"]["sure"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_teacher_reads_of_every_lesson_or_of_one(site, language):
    found = shown(site, notes="on", lang=language)
    for lesson in LESSONS:
        notes = found[lesson.name]
        assert all(label and text for label, text in notes["rows"])
        assert {lesson.say(language, key) for key in ("show", "wrong", "ask")} <= {text for _, text in notes["rows"]}
        assert shown(site, notes="on", lesson=lesson.name, lang=language)[lesson.name] == notes
    assert len([block for block in shown(site, notes="on", lesson="masks").values() if block["kind"] == "notes"]) == 1


def test_what_there_is_not_is_one_sentence(site):
    assert "." in site.panel("course", run="reverse", lesson="nothing")["error"]
    assert "lesson" in site.get("boot", lesson="nothing").json()["ignored"]


def test_a_lesson_about_a_run_begins_with_it_and_leads_to_it_from_another(site):
    def way(run: str, lesson: str) -> dict | None:
        found = site.panel("course", run=run, lesson=lesson)["blocks"]
        return next((block for block in found if block["id"] == "run"), None)

    assert way("german_english", "attention")["to"] == {"run": "reverse"}
    assert way("reverse", "attention") is None
    assert way("reverse", "training") is None
    cards = next(block for block in site.panel("course", run="sort")["blocks"] if block["kind"] == "lessons")["lessons"]
    assert [card["to"] for card in cards[1:2] + cards[8:9]] == [{"lesson": "attention", "run": "reverse"}, {"lesson": "training"}]


def test_while_a_class_guesses_the_answer_of_a_lesson_waits(site):
    asked = {"run": "reverse", "lesson": "attention", "predicted": "last", "certain": SURE[0]}
    found = {block["id"]: block for block in site.panel("course", **asked, awaits="open")["blocks"]}
    assert "verdict" not in found
    assert not found["guess"]["off"]
    assert found["class"] == {"kind": "question", "id": "class", "field": "lesson", "name": "attention"}
    assert "verdict" in {block["id"] for block in site.panel("course", **asked)["blocks"]}

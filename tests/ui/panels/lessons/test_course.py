"""The tabs of the labs and of the course: a list, then a question whose answer is shown once it was guessed, and what teachers read."""

from __future__ import annotations

import json

import pytest

from playground.figures.tensor import CELLS
from playground.lessons.course import ANSWER, COURSE, LESSONS, PREDICT
from playground.lessons.labs import KINDS, LABS, START
from playground.ui.panels.lessons.guessing import SURE, UNKNOWN
from playground.words import LANGUAGES

TENSORS = [name for name, lab in LABS.items() if lab.kind == "worked_example"]
ASKING = [lesson for lesson in LESSONS if lesson.question]
ANSWERS = {"verdict", "exhibits", "record"}


def shown(site, tab: str = "labs", **parameters) -> dict[str, dict]:
    return {block["id"]: block for block in site.panel(tab, **{"run": "reverse", **parameters})["blocks"]}


def options(block: dict) -> list[str]:
    return [option["value"] for option in block["options"]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_labs_and_lessons_are_there_to_choose_from(site, language):
    labs, groups = shown(site, lang=language), ["start", *(f"kind_{kind}" for kind in KINDS), "kind_mystery"]
    cards = {group: [card["name"] for card in labs[group]["cards"]] for group in groups}
    assert [id for id in labs if id in groups] == groups
    assert sorted(name for names in cards.values() for name in names) == sorted(LABS)
    assert (cards["start"], cards["kind_mystery"]) == (list(START), ["mystery"])
    for kind in KINDS:
        assert {LABS[name].kind for name in cards[f"kind_{kind}"]} == {kind}
    lessons = shown(site, "course", lang=language)["lessons"]["lessons"]
    assert [lesson["name"] for lesson in lessons] == list(COURSE)
    watched = site.get("boot", lang=language).json()["course"]
    assert [[step["name"] for step in lesson["steps"]] for lesson in watched] == [[step.name for step in one.steps] for one in LESSONS]
    assert all(step["text"] and step["when"] for lesson in watched for step in lesson["steps"])


def test_a_lesson_says_what_to_do_where_and_of_which_run(site):
    for at, (name, lesson) in enumerate(COURSE.items()):
        language = LANGUAGES[at % len(LANGUAGES)]
        lesson_blocks = shown(site, "course", lesson=name, lang=language)
        steps = lesson_blocks["steps"]["steps"]
        first, last = ([PREDICT], [ANSWER]) if lesson.asks else ([], [])
        assert [step["name"] for step in steps] == [*first, *(step.name for step in lesson.does), *last]
        assert all(step["text"] for step in steps)
        assert all(step["to"] or step["knobs"] is not None for step in steps[1:])
        assert ("next" in {block["id"] for block in lesson_blocks["ways"]["blocks"]}) == (lesson is not LESSONS[-1])
        if lesson.lab:
            (card,), lab = lesson_blocks["ask"]["cards"], LABS[lesson.lab]
            assert (card["name"], card["text"]) == (lab.name, lab.say(language, "question"))
    assert shown(site, "course", lesson="tour")["start"]["to"] == {"tab": "map", "stop": "ids"}
    assert shown(site, "course", run="german_english", lesson="attention")["run"]["to"] == {"run": "reverse"}
    assert not any("run" in shown(site, "course", lesson=lesson) for lesson in ("attention", "training"))
    cards = shown(site, "course", run="sort")["lessons"]["lessons"]
    assert [card["to"] for card in cards[1:2] + cards[8:9]] == [{"lesson": "attention", "run": "reverse"}, {"lesson": "training"}]


def test_nothing_is_given_away_before_a_guess_nor_while_a_class_guesses(site):
    """And a guess can become another until the question is closed."""
    for name, lab in LABS.items():
        guess = {"guess": lab.guesses[0], "sure": SURE[0]}
        for asked in ({}, {"guess": lab.guesses[0]}, {"sure": SURE[0]}, guess | {"guess": "nonsense"}, guess | {"sure": "100"}):
            panel = shown(site, lab=name, **asked)
            assert not ANSWERS & panel.keys(), (name, asked)
            assert name == "mystery" or options(panel["guess"]) == list(lab.guesses)  # there one looks first and guesses then
        for state in ("open", "closed"):
            panel = shown(site, lab=name, **guess, awaits=state)
            assert not ANSWERS & panel.keys(), (name, state)
            if name != "mystery":
                values = [(panel[id]["off"], panel[id]["value"]) for id in ("guess", "sure")]
                assert values == [(state == "closed", lab.guesses[0]), (state == "closed", SURE[0])]
                assert panel["class"] == {"kind": "question", "id": "class", "field": "lab", "name": name}
    for lesson in ASKING:
        guess = {"lesson": lesson.name, "predicted": lesson.question.guesses[0], "certain": SURE[0]}
        for asked in ({"predicted": ""}, {"certain": ""}, {"predicted": "nonsense"}, {"awaits": "open"}):
            panel = shown(site, "course", **guess | asked)
            assert "verdict" not in panel, (lesson.name, asked)
            assert options(panel["guess"]) == list(lesson.question.guesses)
        assert "verdict" in shown(site, "course", **guess)
    waiting = shown(site, lab="softmax", guess=UNKNOWN, awaits="open")  # as all others
    assert (waiting["guess"]["value"], {"verdict", "sure", "unknown"} & waiting.keys()) == ("", set())
    assert not any(UNKNOWN in asks.guesses for asks in (*LABS.values(), *(lesson.question for lesson in ASKING)))


@pytest.mark.parametrize("name", [*TENSORS[:3], *(pytest.param(name, marks=pytest.mark.night) for name in TENSORS[3:])])
def test_a_labs_guess_is_compared_with_what_came_out(site, name):
    lab, language = LABS[name], LANGUAGES[TENSORS.index(name) % len(LANGUAGES)]
    outcome = lab.outcome(1)
    why = lab.say(language, f"why_{outcome.answer}", **outcome.numbers)
    for guess in lab.guesses:
        panel = shown(site, lab=name, guess=guess, sure=SURE[1], lang=language)
        assert panel["verdict"]["text"].endswith(why)
        assert panel["record"] == {"kind": "record", "id": "record", "lab": name, "sure": int(SURE[1]), "right": guess == outcome.answer}
    controls = {block["id"]: block for block in panel["controls"]["blocks"]}
    others = [{"toss": controls["toss"]["to"]["toss"]}] if "toss" in controls else []
    settings = [block for block in controls.values() if block.get("field") == "set"]
    others += [{"set": next(value for value in options(block) if value != block["value"])} for block in settings]
    assert others or name != "softmax"
    for other in others:  # another draw or setting counts no guess
        assert not shown(site, lab=name, guess=guess, sure=SURE[1], **other)["record"]["sure"], other
    for width in (340, 880):  # no label is cut; what finds no room on a telephone scrolls sideways
        panel = shown(site, lab=name, guess=UNKNOWN, lang=language, width=width)
        assert (panel["verdict"]["text"], bool(panel["record"]["sure"])) == (why, False)
        assert [exhibit["id"] for exhibit in panel["exhibits"]["blocks"]] == [exhibit.name for exhibit in outcome.exhibits]
        assert '…"' not in json.dumps(panel["exhibits"], ensure_ascii=False)
        for block in panel["exhibits"]["blocks"]:
            values = block["figure"]["data"][0] if block["kind"] == "figure" else {}
            if width == 340 and values.get("type") == "heatmap" and sum(map(len, values["z"])) <= CELLS:
                assert "texttemplate" in values, block["id"]
                assert ("width" in block["figure"]["layout"]) == ("scrolls" in block["css"])


def test_a_lessons_guess_is_compared_with_the_run_on_screen(site):
    run = site.runs.get("numbers_de")
    text = site.reader.examples(run, "heldout", 1)[0][0]
    for at, lesson in enumerate(ASKING):
        language = LANGUAGES[at % len(LANGUAGES)]
        answer, numbers = lesson.question.answer(site.reader, run, None, text)
        why = lesson.say(language, f"why_{answer}", **numbers)
        place = {"lesson": lesson.name, "run": run.id, "text": text, "lang": language}
        for guess in lesson.question.guesses:
            panel = shown(site, "course", predicted=guess, certain=SURE[1], **place)
            assert panel["verdict"]["text"].endswith(why)
            assert panel["record"] == {"kind": "record", "id": "record", "lab": lesson.kept_as, "sure": 75, "right": guess == answer}
        panel = shown(site, "course", predicted=UNKNOWN, **place)
        assert (panel["verdict"]["text"], bool(panel["record"]["sure"])) == (why, False)


def test_a_teacher_reads_of_every_lesson_or_of_one(site):
    for language in LANGUAGES:
        every = shown(site, "course", notes="on", lang=language)
        for lesson in LESSONS:
            notes = every[lesson.name]
            assert {lesson.say(language, key) for key in ("show", "wrong", "ask")} <= {text for _, text in notes["rows"]}
            alone = shown(site, "course", notes="on", lesson=lesson.name, lang=language)
            assert [block for block in alone.values() if block["kind"] == "notes"] == [notes]

"""The tabs of the labs and of the course: a list, then a question whose answer is shown once it was guessed, and what teachers read."""

import json

import pytest

from playground.features.shared.labs import SURE, UNKNOWN
from playground.lessons.course import LESSONS
from playground.lessons.labs import LABS
from playground.words import LANGUAGES

TENSORS = [name for name, lab in LABS.items() if lab.kind == "worked_example"]
ASKING = [lesson for lesson in LESSONS if lesson.question]
ANSWERS = {"verdict", "exhibits", "record"}


def shown(site, tab: str = "labs", **parameters) -> dict[str, dict]:
    return {block["id"]: block for block in site.panel(tab, **{"run": "reverse", **parameters})["blocks"]}


def options(block: dict) -> list[str]:
    return [option["value"] for option in block["options"]]


def test_nothing_is_given_away_before_a_guess_nor_while_a_class_guesses(site):
    for name, lab in LABS.items():
        guess = {"guess": lab.guesses[0], "sure": SURE[0]}
        for asked in ({}, {"guess": lab.guesses[0]}, {"sure": SURE[0]}, guess | {"guess": "nonsense"}, guess | {"sure": "100"}):
            assert not ANSWERS & shown(site, lab=name, **asked).keys(), (name, asked)
        for state in ("open", "closed"):
            panel = shown(site, lab=name, **guess, awaits=state)
            assert not ANSWERS & panel.keys(), (name, state)
            if name != "mystery":  # there one looks first and guesses then
                assert options(panel["guess"]) == list(lab.guesses)
                values = [(panel[id]["off"], panel[id]["value"]) for id in ("guess", "sure")]
                assert values == [(state == "closed", lab.guesses[0]), (state == "closed", SURE[0])]
    for lesson in ASKING:
        guess = {"lesson": lesson.name, "predicted": lesson.question.guesses[0], "certain": SURE[0]}
        for asked in ({"predicted": ""}, {"certain": ""}, {"predicted": "nonsense"}, {"awaits": "open"}):
            assert "verdict" not in shown(site, "course", **guess | asked), (lesson.name, asked)
    waiting = shown(site, lab="softmax", guess=UNKNOWN, awaits="open")  # as all others
    assert (waiting["guess"]["value"], {"verdict", "sure", "unknown"} & waiting.keys()) == ("", set())


def compared(panel: dict[str, dict], why: str, kept_as: str, sure: str, right: bool) -> None:
    """What is said of a guess; who does not know is told why, and nothing is counted."""
    text = panel["verdict"]["text"]
    assert (text.endswith(why), text == why) == (True, not sure)
    assert panel["record"] == {"kind": "record", "id": "record", "lab": kept_as, "sure": int(sure or 0), "right": right}


@pytest.mark.parametrize("name", [*TENSORS[:2], *(pytest.param(name, marks=pytest.mark.night) for name in TENSORS[2:])])
def test_a_labs_guess_is_compared_with_what_came_out(site, name):
    lab, language = LABS[name], LANGUAGES[TENSORS.index(name) % len(LANGUAGES)]
    outcome = lab.outcome(1)
    why = lab.say(language, f"why_{outcome.answer}", **outcome.numbers)
    for guess in lab.guesses:
        panel = shown(site, lab=name, guess=guess, sure=SURE[1], lang=language)
        compared(panel, why, name, SURE[1], guess == outcome.answer)
    controls = {block["id"]: block for block in panel["controls"]["blocks"]}
    others = [{"toss": controls["toss"]["to"]["toss"]}] if "toss" in controls else []
    settings = [block for block in controls.values() if block.get("field") == "set"]
    others += [{"set": next(value for value in options(block) if value != block["value"])} for block in settings]
    for other in others:  # another draw or setting counts no guess
        assert not shown(site, lab=name, guess=guess, sure=SURE[1], **other)["record"]["sure"], other
    panel = shown(site, lab=name, guess=UNKNOWN, lang=language, width=340)
    compared(panel, why, name, "", False)
    assert '…"' not in json.dumps(panel["exhibits"], ensure_ascii=False), "no label is cut; what finds no room scrolls sideways"


def test_a_lessons_guess_is_compared_with_the_run_on_screen(site):
    run = site.runs.get("numbers_de")
    text = site.reader.examples(run, "heldout", 1)[0][0]
    for at, lesson in enumerate(ASKING):
        language = LANGUAGES[at % len(LANGUAGES)]
        answer, numbers = lesson.question.answer(site.reader, run, None, text)
        why = lesson.say(language, f"why_{answer}", **numbers)
        for guess in (*lesson.question.guesses, UNKNOWN):
            sure = "" if guess == UNKNOWN else SURE[1]
            asked = {"lesson": lesson.name, "run": run.id, "text": text, "lang": language, "predicted": guess, "certain": sure}
            compared(shown(site, "course", **asked), why, lesson.kept_as, sure, guess == answer)


def test_a_lesson_leads_to_its_run_and_a_teacher_reads_of_every_lesson_or_of_one(site):
    assert shown(site, "course", lesson="tour")["start"]["to"] == {"tab": "map", "stop": "ids"}
    assert shown(site, "course", run="german_english", lesson="attention")["run"]["to"] == {"run": "reverse"}
    assert not any("run" in shown(site, "course", lesson=lesson) for lesson in ("attention", "training"))
    for lesson in LESSONS:
        assert shown(site, "course", lesson=lesson.name)["steps"]["steps"]
        (notes,) = (block for block in shown(site, "course", notes="on", lesson=lesson.name).values() if block["kind"] == "notes")
        assert {lesson.say("en", key) for key in ("show", "wrong", "ask")} <= {text for _, text in notes["rows"]}
        assert notes == shown(site, "course", notes="on")[lesson.name]

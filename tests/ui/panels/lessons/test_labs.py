"""The tab of the labs: a list, then a question whose answer is shown once somebody has guessed."""

from __future__ import annotations

import json

import pytest

from playground.figures.tensor import CELLS
from playground.lessons.lab import TextTable
from playground.lessons.labs import KINDS, LABS, START
from playground.ui.panels.lessons.guessing import SURE, UNKNOWN
from playground.words import LANGUAGES

TENSORS = [name for name, lab in LABS.items() if lab.kind == "worked_example"]


def shown(site, **parameters) -> dict[str, dict]:
    return {block["id"]: block for block in site.panel("labs", run="reverse", **parameters)["blocks"]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_labs_are_there_to_choose_from(site, language):
    found = shown(site, lang=language)
    groups = ["start", *(f"kind_{kind}" for kind in KINDS), "kind_mystery"]
    assert [id for id in found if id in groups] == groups
    assert all(found[group]["title"] for group in groups)
    cards = [card for group in groups for card in found[group]["cards"]]
    assert sorted(card["name"] for card in cards) == sorted(LABS)
    assert [card["name"] for card in found["start"]["cards"]] == list(START)
    assert [card["name"] for card in found["kind_mystery"]["cards"]] == ["mystery"]
    for group, kind in zip(groups[1:], KINDS, strict=False):
        assert {LABS[card["name"]].kind for card in found[group]["cards"]} == {kind}
    assert all(str(LABS[card["name"]].minutes) in card["minutes"] for card in cards)


def test_what_is_saved_is_of_the_lab(site):
    assert site.panel("labs", run="reverse", lab="softmax", lang="zh")["of"] == LABS["softmax"].say("zh", "title")
    assert "of" not in site.panel("labs", run="reverse")


@pytest.mark.parametrize("name", LABS)
def test_a_lab_asks_its_question_in_one_line(name):
    english, chinese = (LABS[name].say(language, "short") for language in ("en", "zh"))
    assert len(english.split()) <= 14
    assert len(chinese) <= 32
    assert english.rstrip(".")[-1] == "?" or name == "mystery"


@pytest.mark.parametrize("name", LABS)
def test_nothing_is_given_away_before_a_guess(site, name):
    guess = LABS[name].guesses[0]
    for parameters in ({}, {"guess": guess}, {"sure": SURE[0]}, {"guess": "nonsense", "sure": SURE[0]}, {"guess": guess, "sure": "100"}):
        found = shown(site, lab=name, **parameters)
        assert not {"verdict", "exhibits"} & found.keys()
        if name != "mystery":  # there one looks first and guesses then
            assert [option["value"] for option in found["guess"]["options"]] == list(LABS[name].guesses)


@pytest.mark.sample(4)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", TENSORS)
def test_a_guess_is_compared_with_what_came_out(site, name, language):
    lab = LABS[name]
    outcome = lab.outcome(1)
    why = lab.say(language, f"why_{outcome.answer}", **outcome.numbers)
    for guess in lab.guesses:
        found = shown(site, lab=name, guess=guess, sure=SURE[1], lang=language)
        assert found["verdict"]["text"].endswith(why)
        assert found["record"] == {"kind": "record", "id": "record", "lab": name, "sure": int(SURE[1]), "right": guess == outcome.answer}
    found = shown(site, lab=name, guess=UNKNOWN, lang=language)
    assert found["verdict"]["text"] == why
    assert not found["record"]["sure"]
    exhibits = found["exhibits"]["blocks"]
    assert [exhibit["id"] for exhibit in exhibits] == [exhibit.name for exhibit in outcome.exhibits]
    for exhibit, made in zip(exhibits, outcome.exhibits, strict=True):
        if isinstance(made, TextTable):
            table, caption = exhibit["blocks"]
            assert table["title"] and caption["text"] and len(table["rows"]) == len(made.rows)  # noqa: PT018
        else:
            assert exhibit["caption"] and exhibit["title"]  # noqa: PT018


def test_another_draw_and_another_setting_change_the_numbers_and_count_no_guess(site):
    first = shown(site, lab="softmax", guess="grows", sure=SURE[0])
    again = next(block for block in first["controls"]["blocks"] if block["id"] == "toss")["to"]["toss"]
    factors = next(block for block in first["controls"]["blocks"] if block["id"] == "factor")
    other = next(option["value"] for option in factors["options"] if option["value"] != factors["value"])
    for parameters in ({"toss": again}, {"set": other}):
        found = shown(site, lab="softmax", guess="grows", sure=SURE[0], **parameters)
        assert found["exhibits"] != first["exhibits"]
        assert not found["record"]["sure"]


def test_what_there_is_not_is_one_sentence(site):
    for parameters in ({"lab": "nothing"}, {"lab": "softmax", "guess": UNKNOWN, "set": "colour=red"}):
        assert "." in site.panel("labs", run="reverse", **parameters)["error"]


@pytest.mark.parametrize("name", TENSORS)
def test_every_cell_of_a_lab_shows_its_number_on_a_telephone(site, name):
    """What finds no room scrolls sideways in a box of its own."""
    exhibits = shown(site, lab=name, guess=UNKNOWN, width=340)["exhibits"]["blocks"]
    for block in exhibits:
        values = block["figure"]["data"][0] if block["kind"] == "figure" else {}
        if values.get("type") == "heatmap" and sum(map(len, values["z"])) <= CELLS:
            assert "texttemplate" in values, block["id"]
            assert ("width" in block["figure"]["layout"]) == ("scrolls" in block["css"])


@pytest.mark.sample
@pytest.mark.parametrize("width", [340, 880])
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", TENSORS)
def test_no_label_of_a_lab_is_cut(site, name, language, width):
    exhibits = shown(site, lab=name, guess=UNKNOWN, lang=language, width=width)["exhibits"]
    assert '…"' not in json.dumps(exhibits, ensure_ascii=False)


@pytest.mark.parametrize("name", LABS)
def test_while_a_class_guesses_the_answer_waits(site, name):
    """And a guess can become another until the question is closed."""
    mine = {"lab": name, "guess": LABS[name].guesses[0], "sure": SURE[0]}
    for state in ("open", "closed"):
        found = shown(site, **mine, awaits=state)
        assert not {"verdict", "exhibits", "record"} & found.keys()
        if name != "mystery":
            assert [found[id]["off"] for id in ("guess", "sure")] == [state == "closed"] * 2
            assert [found[id]["value"] for id in ("guess", "sure")] == [mine["guess"], SURE[0]]
            assert found["class"] == {"kind": "question", "id": "class", "field": "lab", "name": name}


def test_whoever_asked_to_be_shown_waits_like_all_others(site):
    found = shown(site, lab="softmax", guess=UNKNOWN, awaits="open")
    assert "verdict" not in found
    assert found["guess"]["value"] == ""
    assert not {"sure", "unknown"} & found.keys()

"""Where the words of labs on changed models lead: to a table that the lab shows itself, and to no tab that is closed to such models."""

from __future__ import annotations

import re

import pytest

from playground.choices import BUGS
from playground.lessons import bugs
from playground.lessons.controlled import ControlledExperiment
from playground.lessons.labs import LABS
from playground.ui.panels import BY_FORMULA, TABS
from playground.ui.panels.lessons.guessing import SURE
from playground.words import LANGUAGES, entries, say
from tests.ui.panels.lessons.test_experiment import ME, finished, press, shown, small

UNCHAINED = next(number for number in range(1, len(BUGS) + 1) if bugs.bug_of(number) == "unchained_layers")
WITH_VARIANTS = [
    name
    for name, lab in LABS.items()
    if isinstance(lab, ControlledExperiment) and any("variant" in knobs for knobs in lab.arms_of(1).values())
]


def words_of(name: str, language: str) -> list[str]:
    return [text for key, text in entries(language).items() if key.startswith(f"{LABS[name].area}.")]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "seed"), [("bug_chain", 1), ("bug_shared", 1), ("mystery", UNCHAINED)])
def test_parameters_and_gradients_are_shown_where_the_words_speak_of_them(site, monkeypatch, name, seed, language):
    """The words name the table by its title; its numbers give the bug away."""
    small(monkeypatch, name)
    title = say(language, "experiment.show_inside")
    assert any(title in text for text in words_of(name, language))
    ids = press(site, name, seed)["arms"]
    _, found = shown(site, lab=name, arms=finished(site, ids), guess=LABS[name].guesses[0], sure=SURE[0], lang=language)
    for id in ids:
        site.runs.delete(id, ME)
    table = found["exhibits"]["blocks"][-1]["blocks"][0]
    assert table["title"] == title
    (_, _, right, *reached), (_, _, broken, *first) = table["rows"]
    assert "0" not in reached
    assert (first[0] == "0") == (name != "bug_shared")
    assert (broken != right) == (name == "bug_shared")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", WITH_VARIANTS)
def test_no_words_of_a_changed_model_lead_to_a_tab_that_is_closed_to_it(name, language):
    tabs = [say(language, f"page.tab_{tab}") for tab in TABS if tab in BY_FORMULA]
    ways = [way for tab in tabs for way in ((f"“{tab}”",) if language == "zh" else (f"In {tab}", f"in {tab}", f"see {tab}", f"({tab}"))]
    said = words_of(name, language)
    assert said
    end = "" if language == "zh" else r"\b"
    assert not [way for way in ways for text in said if re.search(re.escape(way) + end, text)]

"""Truths about the course: twelve lessons in an order, each of which the page can check, with words for all that it says."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from playground.config import Refusal, check
from playground.lessons import course
from playground.lessons.course import COURSE, LESSONS, PREDICT
from playground.lessons.labs import LABS
from playground.ui import links
from playground.ui.panels import TABS
from playground.words import LANGUAGES, entries

ROOT = Path(course.__file__).parents[1]
SCRIPT = (ROOT / "ui" / "static" / "course.js").read_text(encoding="utf-8")
STATE = (ROOT / "ui" / "static" / "state.js").read_text(encoding="utf-8")
CURSOR = set(re.findall(r"(\w+): \"", STATE.partition("const DEFAULTS = {")[2].partition("};")[0]))
STEPS = [(lesson, step) for lesson in LESSONS for step in lesson.steps]
WORDS = ("title", "goal", "look", "show", "wrong", "ask")


def words_of(lesson) -> set[str]:
    own = {f"step_{step.name}" for step in lesson.does}
    if lesson.question:
        own |= {"question", *(f"{kind}_{answer}" for kind in ("guess", "why") for answer in lesson.question.guesses)}
    return {f"course.{lesson.name}.{key}" for key in (*WORDS, *own)}


def named_in(script: str, table: str) -> set[str]:
    return set(re.findall(r"^  (\w+):", script.partition(f"const {table} = {{")[2].partition("\n};")[0], re.MULTILINE))


def test_twelve_lessons_of_about_ten_minutes_from_attention_to_own_sentences():
    assert [COURSE[lesson.name] for lesson in LESSONS] == list(LESSONS)
    assert len(COURSE) == 12
    assert (LESSONS[0].name, LESSONS[-1].name) == ("attention", "own")
    assert all(8 <= sum(lesson.minutes) <= 15 for lesson in LESSONS)
    assert [course.number(lesson) for lesson in LESSONS] == list(range(1, 13))
    assert [course.after(lesson) for lesson in LESSONS] == [*LESSONS[1:], None]


def test_each_asks_first_and_then_has_two_or_three_things_done():
    for lesson in LESSONS:
        names = [step.name for step in lesson.steps]
        assert names[0] == PREDICT
        assert 2 <= len(lesson.does) <= 3
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("lesson", [lesson for lesson in LESSONS if lesson.lab], ids=lambda lesson: lesson.name)
def test_every_lab_exists(lesson):
    assert lesson.lab in LABS


def test_no_question_is_asked_twice():
    kept = [lesson.kept_as for lesson in LESSONS]
    assert len(set(kept)) == len(kept)
    assert not {lesson.kept_as for lesson in LESSONS if lesson.question} & set(LABS)


def test_the_page_knows_every_condition_and_has_none_that_nobody_asks_for():
    assert {kind for _, step in STEPS for kind in step.when} - {"different"} == named_in(SCRIPT, "HOLDS")
    assert {step.when["sentence"] for _, step in STEPS if "sentence" in step.when} == named_in(SCRIPT, "SENTENCES")


@pytest.mark.parametrize(("lesson", "step"), STEPS, ids=lambda thing: thing.name)
def test_every_place_and_field_exists(lesson, step):
    asked = step.when.get("at", {})
    assert {*step.to, *asked, *step.when.get("different", ((),))[0]} <= CURSOR
    for fields in (step.to, asked):
        assert fields.get("tab", "learn") in TABS
    for name, value in [*step.to.items(), *((name, value) for name, value in asked.items() if not value.startswith("*"))]:
        if value and (name in links.CHOICES or name in links.WHOLE):
            assert links._refusal(name, value) is None, (name, value)
    for name, value in [*(step.knobs or {}).items(), *step.when.get("settings", {}).items()]:
        assert check(name, value) == value


@pytest.mark.parametrize(("lesson", "step"), STEPS, ids=lambda thing: thing.name)
def test_being_taken_there_is_not_doing_it(lesson, step):
    """Whoever presses the button of any step and does nothing else has done none."""
    needs_doing = {"guess", "ahead", "mine", "forked", "steps", "exact", "live", "sentence", "read", "different"}
    for other in lesson.does:
        at = step.when.get("at", {})
        there = at and all(name in other.to and (other.to[name] if value == "*" else other.to[name] == value) for name, value in at.items())
        assert needs_doing & step.when.keys() or not there


def test_a_run_that_is_asked_for_is_one_that_came_with_the_app():
    shipped = {folder.name for folder in (ROOT.parent / "checkpoints").iterdir()}
    assert {step.to["run"] for _, step in STEPS if "run" in step.to} <= shipped


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_words_for_everything_and_none_too_many(language):
    code = "".join((ROOT / file).read_text(encoding="utf-8") for file in ("lessons/course.py", "lessons/asked.py", "ui/panels/course.py"))
    wanted = set(re.findall(r"\"(course\.\w+)\"", code)).union(*map(words_of, LESSONS))
    assert {key for key in entries(language) if key.startswith("course.")} == wanted


@pytest.mark.parametrize("language", LANGUAGES)
def test_three_or_four_sentences_say_what_to_look_at(language):
    for lesson in LESSONS:
        assert len(lesson.say(language, "look").split("\n")) in (3, 4)


def test_an_answer_fills_its_words(any_answer):
    """The numbers of a question are those that every one of its answers is said with."""
    for lesson, numbers in any_answer:
        for guess in lesson.question.guesses:
            for language in LANGUAGES:
                text = entries(language)[f"course.{lesson.name}.why_{guess}"]
                assert {name for _, name, _, _ in Formatter().parse(text) if name} <= numbers.keys()
                lesson.say(language, f"why_{guess}", **numbers)


@pytest.fixture(scope="module")
def any_answer(tmp_path_factory):
    from playground.runs.reader import Reader
    from playground.runs.registry import Runs

    runs = Runs(tmp_path_factory.mktemp("runs"))
    reader = Reader(runs)
    found = []
    for lesson in LESSONS:
        if lesson.question:
            for run in runs.shipped():
                text = reader.examples(run, "heldout", 1)[0][0]
                answer, numbers = lesson.question.answer(reader, run, None, text)
                assert answer in lesson.question.guesses
                assert lesson.question.answer(reader, run, None, text)[1] == numbers
                found.append((lesson, dict(numbers)))
    yield found
    reader.close()
    runs.close()


def test_a_lesson_that_there_is_not_is_one_sentence():
    with pytest.raises(Refusal, match="no lesson"):
        course.get("nothing")

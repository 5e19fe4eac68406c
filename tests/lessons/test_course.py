"""Truths about the course: twelve lessons in an order, each of which the page can check, with words for all that it says."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

from playground.config import ModelConfig, Refusal, check
from playground.cursor import FIELDS
from playground.inspection.activations import record
from playground.lessons import course
from playground.lessons.course import COURSE, LESSONS, PIECES, PREDICT
from playground.lessons.labs import LABS
from playground.ui import links
from playground.ui.panels import TABS
from playground.variants import build
from playground.words import LANGUAGES, entries

ROOT = Path(course.__file__).parents[1]
SCRIPT = (ROOT / "ui" / "static" / "course.js").read_text(encoding="utf-8")
CURSOR = {name: field.default for name, field in FIELDS.items()}
STEPS = [(lesson, step) for lesson in LESSONS for step in lesson.steps]
DONE = {  # a step: what a student does after its button was pressed, one thing after another, and what of all this may not be otherwise
    "attention heads": ([{"layer": "1", "head": "1"}, {"head": "2"}, {"layer": "2"}], {"tab": "whatif"}),
    "attention cell": ([{"q": "2", "k": "0"}], {"tab": "lives", "q": "", "k": ""}),
    "tokens own": ([{"sentence": {"own"}}, {"sees": {PIECES}}], {"tab": "learn", "sentence": {"unknown", "wrong"}}),
    "tokens unknown": ([{"sentence": {"own", "unknown"}}, {"sees": {PIECES}}], {"tab": "learn", "sentence": {"own", "wrong"}}),
    "weight worked": ([{"row": "2", "col": "0"}], {"tab": "learn", "stage": "decoder.0.cross_attention.scores", "row": "", "col": ""}),
    "weight product": ([{"q": "2", "k": "0"}, {"view": "product"}], {"tab": "learn", "view": "lines", "q": "", "k": ""}),
    "heads parts": ([{"part": "encoder"}, {"part": "decoder"}], {"tab": "learn"}),
    "heads off": ([{"off": "c1.1"}, {"off": "c1.1_c1.2"}, {"off": "c1.2"}], {"tab": "attention"}),
    "order shift": ([{"shift": "4"}, {"shift": "9"}], {"tab": "learn", "pos": "waves"}),
    "order none": ([{"mine": True, "settings": {"positions": "none"}}, {"steps": 60}], {"mine": False, "settings": {}, "steps": 59}),
    "masks kinds": ([{"mask": "padding"}, {"mask": "causal"}], {"tab": "attention"}),
    "masks future": ([{"q": "1", "k": "2"}], {"tab": "lives", "part": "encoder", "q": "2", "k": "1"}),
    "layers sum": ([{"row": "0", "col": "3"}], {"tab": "learn", "stage": "encoder.0.feed_forward.W_2", "row": "", "col": ""}),
    "layers gauges": ([{"gauge": "activation"}, {"gauge": "entropy"}], {"tab": "learn"}),
    "training train": ([{"mine": True}, {"exact": 0.9}], {"mine": False, "exact": 0.89}),
    "training replay": ([{"step": step} for step in ("1", "2", "4", "8")], {"tab": "attention"}),
    "lives wrong": ([{"sentence": {"wrong"}}], {"tab": "learn", "step": "8", "sentence": {"own", "unknown"}}),
    "lives fix": ([{"fix": "2:7"}, {"sees": {".pg-lanes .fixed.right"}}], {"tab": "whatif", "fix": ""}),
    "steering rate": ([{"mine": True}, {"live": {"learning_rate"}}], {"mine": False, "live": {"clip"}}),
    "steering fork": ([{"mine": True, "forked": True}], {"mine": False, "forked": False}),
    "decoding beam": ([{"beam": "1"}, {"beam": "2"}], {"tab": "learn", "method": "sample"}),
    "decoding sample": ([{"draw": "2"}, {"draw": "3"}, {"temperature": "2"}], {"tab": "learn", "method": "beam"}),
    "own read": ([{"read": True}], {"tab": "translate", "read": False}),
    "own train": ([{"mine": True, "settings": {"task": "own"}}, {"steps": 30}], {"mine": False, "settings": {}, "steps": 29}),
    "own try": (
        [{"mine": True, "settings": {"task": "own"}, "sentence": {"own"}}],
        {"tab": "data", "mine": False, "settings": {}, "sentence": {"unknown", "wrong"}},
    ),
}
NOTHING = {"mine": False, "forked": False, "settings": {}, "steps": 0, "exact": 0, "read": False, "live": {}, "sentence": {}, "sees": {}}
WORDS = ("title", "goal", "look", "show", "wrong", "ask")


def words_of(lesson) -> set[str]:
    own = {f"step_{step.name}" for step in lesson.does}
    if lesson.question:
        own |= {"question", *(f"{kind}_{answer}" for kind in ("guess", "why") for answer in lesson.question.guesses)}
    return {f"course.{lesson.name}.{key}" for key in (*WORDS, *own)}


def named_in(script: str, table: str) -> set[str]:
    return set(re.findall(r"^  (\w+):", script.partition(f"const {table} = {{")[2].partition("\n};")[0], re.MULTILINE))


@cache
def stages() -> tuple[str, ...]:
    """The addresses of all that a model computes."""
    return tuple(record(build(ModelConfig(d_model=8, n_heads=2, d_ff=8), 8, 8).eval(), [5, 6], [6, 2]))


def matches(value: str, wanted: str) -> bool:
    return value != "" if wanted == "*" else value.endswith(wanted[1:]) if wanted.startswith("*") else value == wanted


def can_be(name: str, value: str) -> bool:
    """Whether a field of the cursor can have this value, or one that matches it."""
    if name == "stage":
        return any(matches(one, value) for one in stages())
    return value == "*" or FIELDS[name].refusal(name, value, links.LISTS) is None


HOLDS = {  # as the page has it, see static/course.js; a `screen` is the cursor with what else a step may ask for
    "at": lambda screen, fields: all(matches(screen[name], value) for name, value in fields.items()),
    "ahead": lambda screen, _: screen["q"] != "" and int(screen["k"] or 0) > int(screen["q"]),
    "settings": lambda screen, knobs: knobs.items() <= screen["settings"].items(),
    "mine": lambda screen, _: screen["mine"],
    "forked": lambda screen, _: screen["forked"],
    "steps": lambda screen, count: screen["steps"] >= count,
    "exact": lambda screen, share: screen["exact"] >= share,
    "live": lambda screen, knob: knob in screen["live"],
    "sentence": lambda screen, kind: kind in screen["sentence"],
    "read": lambda screen, _: screen["read"],
    "sees": lambda screen, selector: selector in screen["sees"],
}


def holds(when: dict, screens: list[dict]) -> bool:
    """Whether the page sees a step done that asks for `when`, after these screens one after another."""
    fields, count = when.get("different", ((), 1))
    rest = {kind: wanted for kind, wanted in when.items() if kind != "different"}
    good = [screen for screen in screens if all(HOLDS[kind](screen, wanted) for kind, wanted in rest.items())]
    seen = [tuple(screen[name] for name in fields) for screen in good]
    return len({values for values in seen if any(values) or not fields}) >= count


def screens_of(step, moves) -> list[dict]:
    """Those that a student sees who presses the step's button, and then does this."""
    screens = [CURSOR | NOTHING | dict(step.to)]
    for move in moves:
        screens.append(screens[-1] | move)
    return screens


DOES = pytest.mark.parametrize(
    ("lesson", "step"), [(lesson, step) for lesson in LESSONS for step in lesson.does], ids=lambda thing: thing.name
)


@DOES
def test_who_presses_its_button_and_does_what_it_asks_has_done_it(lesson, step):
    """And not before the last of it."""
    moves, _ = DONE[f"{lesson.name} {step.name}"]
    screens = screens_of(step, moves)
    assert holds(step.when, screens)
    assert not holds(step.when, screens[:-1])
    for name, value in ((name, value) for screen in screens for name, value in screen.items() if name in CURSOR and value):
        assert can_be(name, value), (name, value)


@DOES
def test_nothing_of_it_may_be_otherwise(lesson, step):
    moves, others = DONE[f"{lesson.name} {step.name}"]
    screens = screens_of(step, moves)
    for name, value in others.items():
        assert screens[-1][name] != value
        assert not holds(step.when, [screen | {name: value} for screen in screens]), name
        assert name not in CURSOR or not value or can_be(name, value), (name, value)


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
    assert {kind for _, step in STEPS for kind in step.when} - {"different"} == named_in(SCRIPT, "HOLDS") == {"guess", *HOLDS}
    assert {step.when["sentence"] for _, step in STEPS if "sentence" in step.when} == named_in(SCRIPT, "SENTENCES")


@pytest.mark.parametrize(("lesson", "step"), STEPS, ids=lambda thing: thing.name)
def test_every_place_and_field_exists(lesson, step):
    asked = step.when.get("at", {})
    assert {*step.to, *asked, *step.when.get("different", ((),))[0]} <= CURSOR.keys()
    for fields in (step.to, asked):
        assert fields.get("tab", "learn") in TABS
    for name, value in [*step.to.items(), *asked.items()]:
        assert not value or can_be(name, value), (name, value)
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_how_far_a_run_has_to_come_is_said(language):
    for lesson, step in STEPS:
        said = [step.when.get("steps"), step.when.get("exact") and round(100 * step.when["exact"]), (step.knobs or {}).get("steps")]
        numbers = {int(number) for number in re.findall(r"\d+", lesson.step(language, step.name))}
        assert numbers == {number for number in said if number}


def test_a_run_that_is_asked_for_is_one_that_came_with_the_app():
    shipped = {folder.name for folder in (ROOT.parent / "checkpoints").iterdir()}
    assert {step.to["run"] for _, step in STEPS if "run" in step.to} <= shipped


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_words_for_everything_and_none_too_many(language):
    files = ("lessons/course.py", "lessons/run_questions.py", "ui/panels/lessons/course.py")
    code = "".join((ROOT / file).read_text(encoding="utf-8") for file in files)
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
    from playground.queries.reader import Reader
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


def test_a_step_names_no_field_and_no_value_that_there_is_not():
    for step in ({"to": {"teacher": "on"}}, {"to": {"view": "x"}}, {"when": {"at": {"layr": "1"}}}, {"when": {"different": (("hed",), 3)}}):
        with pytest.raises(Refusal):
            course.Step("odd", **{"when": {}, **step})


def test_a_lesson_that_there_is_not_is_one_sentence():
    with pytest.raises(Refusal, match="no lesson"):
        course.get("nothing")

"""Truths about the course: a tour and thirteen lessons in an order, each of which the page can check, with words for all that it says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

from playground.config import ModelConfig, Refusal, check
from playground.cursor import FIELDS
from playground.inspection.activations import record
from playground.lessons import course
from playground.lessons.course import ANSWER, COURSE, LESSONS, PIECES, PREDICT
from playground.lessons.labs import LABS
from playground.lessons.tour import STOPS
from playground.ui import links
from playground.ui.panels import TABS
from playground.variants import build
from playground.words import LANGUAGES, entries
from playground.words.glossary import glossary

ROOT = Path(course.__file__).parents[1]
CURSOR = {name: field.default for name, field in FIELDS.items()}
RULES = ROOT.parent / "tests" / "js" / "ask_rules.js"
STEPS = [(lesson, step) for lesson in LESSONS for step in lesson.steps]
TOUR, *ASKING = LESSONS
DONE = {  # a step: what a student does after its button was pressed, one thing after another, and what of all this may not be otherwise
    **{f"tour {step.name}": ([{"read_off": step.name}], {"read_off": "another"}) for step in TOUR.does},
    "attention heads": ([{"layer": "1", "head": "1"}, {"head": "2"}, {"layer": "2"}], {"tab": "interventions"}),
    "attention cell": ([{"q": "2", "k": "0"}], {"tab": "teacher_forcing", "q": "", "k": ""}),
    "tokens own": ([{"sentence": {"own"}}, {"sees": {PIECES}}], {"tab": "training", "sentence": {"unknown", "wrong"}}),
    "tokens unknown": ([{"sentence": {"own", "unknown"}}, {"sees": {PIECES}}], {"tab": "training", "sentence": {"own", "wrong"}}),
    "weight worked": ([{"row": "2", "col": "0"}], {"tab": "training", "stage": "decoder.0.cross_attention.scores", "row": "", "col": ""}),
    "weight product": ([{"q": "2", "k": "0"}, {"view": "product"}], {"tab": "training", "view": "lines", "q": "", "k": ""}),
    "heads parts": ([{"part": "encoder"}, {"part": "decoder"}], {"tab": "training"}),
    "heads off": ([{"off": "c1.1"}, {"off": "c1.1_c1.2"}, {"off": "c1.2"}], {"tab": "attention"}),
    "order shift": ([{"shift": "4"}, {"shift": "9"}], {"tab": "training", "pos": "waves"}),
    "order none": ([{"mine": True, "settings": {"positions": "none"}}, {"steps": 60}], {"mine": False, "settings": {}, "steps": 59}),
    "masks kinds": ([{"mask": "padding"}, {"mask": "memory"}], {"tab": "attention"}),
    "masks future": ([{"q": "1", "k": "2"}], {"tab": "teacher_forcing", "part": "encoder", "q": "2", "k": "1"}),
    "layers sum": ([{"row": "0", "col": "3"}], {"tab": "training", "stage": "encoder.0.feed_forward.W_2", "row": "", "col": ""}),
    "layers gauges": ([{"gauge": "activation"}, {"gauge": "entropy"}], {"tab": "training"}),
    "training train": ([{"mine": True}, {"exact": 0.9}], {"mine": False, "exact": 0.89}),
    "training replay": ([{"step": step} for step in ("1", "2", "4", "8")], {"tab": "attention"}),
    "teacher_forcing wrong": ([{"sentence": {"wrong"}}], {"tab": "training", "step": "8", "sentence": {"own", "unknown"}}),
    "teacher_forcing fix": ([{"fix": "2:7"}, {"sees": {".pg-lanes .fixed.right"}}], {"tab": "interventions", "fix": ""}),
    "steering rate": ([{"mine": True}, {"live": {"learning_rate"}}], {"mine": False, "live": {"clip"}}),
    "steering fork": ([{"mine": True, "forked": True}], {"mine": False, "forked": False}),
    "decoding beam": ([{"beam": "1"}, {"beam": "2"}], {"tab": "training", "method": "sample"}),
    "decoding sample": ([{"draw": "2"}, {"draw": "3"}, {"temperature": "2"}], {"tab": "training", "method": "beam"}),
    "own read": ([{"read": True}], {"tab": "translate", "read": False}),
    "own train": ([{"mine": True, "settings": {"task": "own"}}, {"steps": 30}], {"mine": False, "settings": {}, "steps": 29}),
    "own try": (
        [{"mine": True, "settings": {"task": "own"}, "sentence": {"own"}}],
        {"tab": "data", "mine": False, "settings": {}, "sentence": {"unknown", "wrong"}},
    ),
    "rules train": (
        [{"mine": True, "settings": {"task": "commands_jump"}}, {"exact": 0.9}],
        {"mine": False, "settings": {}, "exact": 0.89},
    ),
    "rules jump": (
        [{"mine": True, "settings": {"task": "commands_jump"}}, {"sentence": {"wrong"}}],
        {"tab": "data", "mine": False, "settings": {}, "sentence": {"own", "unknown"}},
    ),
    "rules examples": (
        [{"mine": True, "settings": {"task": "commands_jump_16"}}, {"exact": 0.9}],
        {"mine": False, "settings": {"task": "commands_jump"}, "exact": 0.89},
    ),
}
NOTHING = {
    "mine": False, "forked": False, "settings": {}, "steps": 0, "exact": 0, "read": False, "live": {}, "sentence": {},
    "sees": {}, "read_off": "",
}  # fmt: skip
WORDS = ("title", "goal", "look", "literature", "show", "wrong", "ask", "answer")
LITERATURE = {  # how a lesson names the terms of the field, divided by this, and the sections of "Attention Is All You Need"
    "en": (r"In the literature: (?P<terms>[^;]+); paper (?P<sections>§[§\d., ]*\d)\.(?: |$)", ", "),
    "zh": (r"文献中的说法：(?P<terms>[^；]+)；论文第 (?P<sections>[\d.、]*\d) 节。", "、"),
}
SECTIONS = {"3.1", "3.2.1", "3.2.2", "3.2.3", "3.3", "3.4", "3.5", "5.1", "5.3", "5.4", "6.1"}


def words_of(lesson) -> set[str]:
    own = {f"step_{step.name}" for step in lesson.does if lesson is not TOUR}
    if lesson.question:
        own |= {"question", *(f"{kind}_{answer}" for kind in ("guess", "why") for answer in lesson.question.guesses)}
    return {f"course.{lesson.name}.{key}" for key in (*WORDS, *own)}


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


def as_the_page_has_it(screen: dict) -> dict:
    """One of these screens in the words of static/rules.js."""
    text = screen["text"] or "a b"
    knobs = dict.fromkeys(screen["live"], 1)
    return {
        "cursor": {name: screen[name] for name in CURSOR} | {"text": text},
        "card": {
            "mine": screen["mine"],
            "parent": {"run": "sort"} if screen["forked"] else None,
            "settings": screen["settings"] | knobs,
            "examples": [] if "own" in screen["sentence"] else [[text, ""]],
        },
        "run": {"step": screen["steps"], "validations": {"exact_match": [screen["exact"]]}, "live": dict.fromkeys(knobs, 2)},
        "sentence": {"source": [{"known": "unknown" not in screen["sentence"]}], "correct": "wrong" not in screen["sentence"]},
        "hasRead": screen["read"],
        "inSight": list(screen["sees"]),
        "readOff": screen["read_off"],
    }


def screens_of(step, moves) -> list[dict]:
    """Those that a student sees who presses the step's button, and then does this."""
    screens = [CURSOR | NOTHING | dict(step.to)]
    for move in moves:
        screens.append(screens[-1] | move)
    return screens


DOES = [(lesson, step) for lesson in LESSONS for step in lesson.does]
every_step = pytest.mark.parametrize(("lesson", "step"), DOES, ids=lambda thing: thing.name)


@pytest.fixture(scope="module")
def page_rules() -> dict:
    """What the page's own rules (static/rules.js) know, and of which cases they say that a step is done: "all" that is asked was done, all
    "before" the last of it, or all while something is otherwise; {"rules", "sentences", "done": {(lesson, step, case): …}}."""
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    cases = {}
    for lesson, step in DOES:
        moves, others = DONE[f"{lesson.name} {step.name}"]
        screens = screens_of(step, moves)
        cases[lesson.name, step.name, "all"] = step, screens
        cases[lesson.name, step.name, "before"] = step, screens[:-1]
        for name, value in others.items():
            cases[lesson.name, step.name, name] = step, [screen | {name: value} for screen in screens]
    asked = [{"when": step.when, "screens": list(map(as_the_page_has_it, screens))} for step, screens in cases.values()]
    said = subprocess.run(["node", str(RULES)], input=json.dumps(asked), capture_output=True, text=True, check=True, timeout=60)
    answer = json.loads(said.stdout)
    return answer | {"done": dict(zip(cases, answer["done"], strict=True))}


@every_step
def test_who_presses_its_button_and_does_what_it_asks_has_done_it(lesson, step, page_rules):
    """And not before the last of it."""
    assert page_rules["done"][lesson.name, step.name, "all"]
    assert not page_rules["done"][lesson.name, step.name, "before"]


@every_step
def test_nothing_of_it_may_be_otherwise(lesson, step, page_rules):
    moves, others = DONE[f"{lesson.name} {step.name}"]
    for name, value in others.items():
        assert screens_of(step, moves)[-1][name] != value
        assert not page_rules["done"][lesson.name, step.name, name], name


@every_step
def test_what_is_done_can_be_done(lesson, step):
    """Every value that a field of the cursor has on the way, and where something is otherwise, is one that it can have."""
    moves, others = DONE[f"{lesson.name} {step.name}"]
    for screen in (*screens_of(step, moves), others):
        for name, value in screen.items():
            assert name not in CURSOR or not value or can_be(name, value), (name, value)


def test_a_tour_and_thirteen_lessons_of_about_ten_minutes_from_attention_to_rules():
    assert [COURSE[lesson.name] for lesson in LESSONS] == list(LESSONS)
    assert (TOUR.name, ASKING[0].name, ASKING[-1].name) == ("tour", "attention", "rules")
    assert [step.name for step in TOUR.steps] == list(STOPS)
    assert all(8 <= sum(lesson.minutes) <= 15 for lesson in LESSONS)
    assert [course.number(lesson) for lesson in LESSONS] == list(range(14))
    assert [course.after(lesson) for lesson in LESSONS] == [*LESSONS[1:], None]


def test_each_but_the_tour_asks_first_then_has_two_or_three_things_done_and_asks_again():
    for lesson in ASKING:
        names = [step.name for step in lesson.steps]
        assert (names[0], names[-1]) == (PREDICT, ANSWER)
        assert 2 <= len(lesson.does) <= 3
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("lesson", [lesson for lesson in LESSONS if lesson.lab], ids=lambda lesson: lesson.name)
def test_every_lab_exists(lesson):
    assert lesson.lab in LABS


def test_no_question_is_asked_twice():
    kept = [lesson.kept_as for lesson in ASKING]
    assert len(set(kept)) == len(kept)
    assert not {lesson.kept_as for lesson in LESSONS if lesson.question} & set(LABS)


def test_the_page_knows_every_condition_and_has_none_that_nobody_asks_for(page_rules):
    assert {kind for _, step in STEPS for kind in step.when} - {"different"} == set(page_rules["rules"])
    assert {step.when["sentence"] for _, step in STEPS if "sentence" in step.when} == set(page_rules["sentences"])


@pytest.mark.parametrize(("lesson", "step"), STEPS, ids=lambda thing: thing.name)
def test_every_place_and_field_exists(lesson, step):
    asked = step.when.get("at", {})
    assert {*step.to, *asked, *step.when.get("different", ((),))[0]} <= CURSOR.keys()
    for fields in (step.to, asked):
        assert fields.get("tab", "training") in TABS
    for name, value in [*step.to.items(), *asked.items()]:
        assert not value or can_be(name, value), (name, value)
    for name, value in [*(step.knobs or {}).items(), *step.when.get("settings", {}).items()]:
        assert check(name, value) == value


@pytest.mark.parametrize(("lesson", "step"), STEPS, ids=lambda thing: thing.name)
def test_being_taken_there_is_not_doing_it(lesson, step):
    """Whoever presses the button of any step and does nothing else has done none."""
    needs_doing = {"read_off", "guess", "checked", "ahead", "mine", "forked", "steps", "exact", "live", "sentence", "read", "different"}
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


@pytest.mark.parametrize("lesson", [lesson for lesson in LESSONS if lesson.run], ids=lambda lesson: lesson.name)
def test_all_steps_of_a_lesson_open_the_run_that_it_is_about(lesson):
    assert {step.to.get("run") for step in lesson.does} == {lesson.run}


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


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_lesson_ends_with_terms_of_the_glossary_and_sections_of_the_paper(lesson):
    """The same number of terms, the same sections and the same years in every language."""
    said = {}
    for language, (pattern, comma) in LITERATURE.items():
        text = lesson.say(language, "literature")
        found = re.match(pattern, text)
        terms, sections = found["terms"].split(comma), re.findall(r"\d(?:\.\d)+", found["sections"])
        assert set(terms) <= {form for term in glossary(language)["terms"] for form in term["forms"]}
        assert 3 <= len(set(terms)) == len(terms)
        assert sections
        assert set(sections) <= SECTIONS
        said[language] = len(terms), sections, re.findall(r"\b(?:19|20)\d\d\b", text)
    assert set(said) == set(LANGUAGES)
    assert said["en"] == said["zh"]


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

"""The course: every step can be done, is seen by the page's own rules when all of it was done and not before, and has its words."""

import json
import re
import shutil
import subprocess
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from playground.config import ModelConfig, Refusal, check
from playground.cursor import FIELDS
from playground.features.registry import TABS
from playground.features.shared.queries.reader import Reader
from playground.inspection.activations import record
from playground.lessons import course
from playground.lessons.course import LESSONS
from playground.lessons.labs import LABS
from playground.runs.registry import Runs
from playground.ui import boot
from playground.variants import build
from playground.words import LANGUAGES, entries

ROOT = Path(course.__file__).parents[1]
CURSOR = {name: field.default for name, field in FIELDS.items()}
RULES = ROOT.parent / "tests" / "js" / "ask_rules.js"
STEPS = [(lesson, step) for lesson in LESSONS for step in lesson.steps]
DOES = [(lesson, step) for lesson in LESSONS for step in lesson.does]
TOUR = LESSONS[0]
SHIPPED = sorted(folder.name for folder in (ROOT.parent / "checkpoints").iterdir())
WORDS = ("title", "goal", "look", "literature", "show", "wrong", "ask", "answer")


@cache
def stages() -> tuple[str, ...]:
    return tuple(record(build(ModelConfig(d_model=8, n_heads=2, d_ff=8), 8, 8).eval(), [5, 6], [6, 2]))


def values_of(name: str, wanted: str) -> list[str]:
    """Values of a field of the cursor that match `wanted`."""
    if name == "stage":
        return [stage for stage in stages() if stage == wanted or (wanted.startswith("*") and stage.endswith(wanted[1:]))]
    field = FIELDS[name]
    choices = getattr(field, "choices", ())
    choices = boot.LISTS[choices] if isinstance(choices, str) else choices
    offered = (*choices, *map(str, range(1, 10)), "c1.1", "c1.2", "c1.1_c1.2", "2:7") if wanted == "*" else (wanted,)
    return [value for value in offered if value == wanted == "" or field.refusal(name, value, boot.LISTS) is None]


def screen(fields: dict, /, **holds) -> dict:
    """Returns the page's screen in the terms of static/rules.js."""
    wants = {"mine": False, "forked": False, "settings": {}, "steps": 0, "exact": 0, "read": False, "live": "", "sentence": ""} | holds
    knobs = {wants["live"]: 1} if wants["live"] else {}
    text = fields["text"] or "a b"
    return {
        "cursor": fields | {"text": text},
        "card": {
            "mine": wants["mine"], "parent": {"run": "sort"} if wants["forked"] else None, "settings": wants["settings"] | knobs,
            "examples": [] if wants["sentence"] == "own" else [[text, ""]],
        },
        "run": {"step": wants["steps"], "validations": {"exact_match": [wants["exact"]]}, "live": dict.fromkeys(knobs, 2)},
        "sentence": {"source": [{"known": wants["sentence"] != "unknown"}], "correct": wants["sentence"] != "wrong"},
        "hasRead": wants["read"], "inSight": [wants["sees"]] if "sees" in wants else [], "readOff": wants.get("read_off", ""),
    }  # fmt: skip


def done(step: course.Step, /, **otherwise) -> list[dict]:
    """Screens one after another on which all holds that a step asks for, but for what is otherwise."""
    holds = {kind: wanted for kind, wanted in step.when.items() if kind not in ("at", "ahead", "different")} | otherwise
    ahead = {"q": "1", "k": "2"} if "ahead" in step.when else {}
    fields = CURSOR | dict(step.to) | {name: values_of(name, wanted)[0] for name, wanted in step.when.get("at", {}).items()} | ahead
    fields |= {name: value for name, value in otherwise.items() if name in CURSOR}
    names, count = step.when.get("different", ((), 1))
    values = [values_of(name, "*") for name in names[:1]]
    assert all(len(of_field) >= count for of_field in values), f"{names} cannot have {count} values"
    return [screen(fields | {names[0]: values[0][n]} if names else fields, **holds) for n in range(count)]


LESS = {"mine": False, "forked": False, "settings": {}, "read": False, "live": "", "sentence": "", "sees": "nothing", "read_off": "another"}


def undone(step: course.Step) -> dict[str, list[dict]]:
    """The same, each time with one thing less."""
    cases = {}
    for kind, wanted in step.when.items():
        if kind == "at":
            cases |= {name: done(step, **{name: "" if value else "9"}) for name, value in wanted.items()}
        elif kind == "ahead":
            cases[kind] = done(step, q="2", k="1")
        elif kind == "different":
            cases[kind] = done(step)[:-1]
        else:
            cases[kind] = done(step, **{kind: LESS[kind] if kind in LESS else wanted - 0.01})
    return cases


@pytest.fixture(scope="module")
def page() -> dict:
    """Returns the conditions that the page's rules know, and the screens on which they call a step done."""
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    cases = {}
    for lesson, step in DOES:
        cases[lesson.name, step.name, "all"] = step, done(step)
        cases |= {(lesson.name, step.name, f"without {kind}"): (step, screens) for kind, screens in undone(step).items()}
        for other in lesson.does:
            cases[lesson.name, step.name, f"taken to {other.name}"] = step, [screen(CURSOR | dict(other.to))]
    posed = json.dumps([{"when": step.when, "screens": screens} for step, screens in cases.values()])
    answer = json.loads(subprocess.run(["node", str(RULES)], input=posed, capture_output=True, text=True, check=True, timeout=120).stdout)
    return answer | {"done": dict(zip(cases, answer["done"], strict=True))}


def test_a_step_is_done_when_all_that_it_asks_for_holds_and_by_no_less(page):
    for (lesson, step, case), is_done in page["done"].items():
        assert is_done == (case == "all"), (lesson, step, case)
    assert {kind for _, step in STEPS for kind in step.when} - {"different"} == set(page["rules"]), "the page knows all that steps ask for"
    assert {step.when["sentence"] for _, step in STEPS if "sentence" in step.when} == set(page["sentences"])


def test_every_place_knob_run_and_lab_exists_and_no_question_is_asked_twice():
    for lesson, step in STEPS:
        at = step.when.get("at", {})
        for name, value in [*step.to.items(), *at.items()]:
            assert values_of(name, value), (lesson.name, step.name, name, value)
        assert {fields.get("tab", "training") for fields in (step.to, at)} <= set(TABS)
        for name, value in [*(step.knobs or {}).items(), *step.when.get("settings", {}).items()]:
            assert check(name, value) == value
        assert step.to.get("run") in (None, *SHIPPED)
    for lesson in LESSONS:
        assert lesson.lab in ("", *LABS)
        assert not lesson.run or {step.to.get("run") for step in lesson.does} == {lesson.run}, "all its steps open the run that it is about"
        assert len({step.name for step in lesson.steps}) == len(lesson.steps)
    questions = [lesson.kept_as for lesson in LESSONS if lesson.asks]
    assert len(set(questions)) == len(questions)
    unknown = ({"to": {"teacher": "on"}}, {"to": {"view": "x"}}, {"when": {"at": {"layr": "1"}}}, {"when": {"different": (("hed",), 3)}})
    for spoilt in unknown:
        with pytest.raises(Refusal):
            course.Step("odd", **{"when": {}, **spoilt})
    with pytest.raises(Refusal, match="no lesson"):
        course.get("nothing")


def words_of(lesson: course.Lesson) -> set[str]:
    own = {f"step_{step.name}" for step in lesson.does if lesson is not TOUR}
    if lesson.question:
        own |= {"question", *(f"{kind}_{answer}" for kind in ("guess", "why") for answer in lesson.question.guesses)}
    return {f"course.{lesson.name}.{key}" for key in (*WORDS, *own)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_words_for_everything_and_none_too_many(language):
    files = ("lessons/course.py", "lessons/run_questions.py", "features/lessons/course.py")
    code = "".join((ROOT / file).read_text(encoding="utf-8") for file in files)
    wanted = set(re.findall(r"\"(course\.\w+)\"", code)).union(*map(words_of, LESSONS))
    assert {key for key in entries(language) if key.startswith("course.")} == wanted
    for lesson, step in STEPS:
        numbers = [step.when.get("steps"), step.when.get("exact") and round(100 * step.when["exact"]), (step.knobs or {}).get("steps")]
        in_words = {int(number) for number in re.findall(r"\d+", lesson.step(language, step.name))}
        assert in_words == {number for number in numbers if number}, "how far a run has to come"


@pytest.mark.parametrize("name", [name if name == "reverse" else pytest.param(name, marks=pytest.mark.night) for name in SHIPPED])
def test_a_question_answers_one_of_its_guesses_and_every_answer_can_be_said(tmp_path, name):
    """Of every run that ships with the app. Until it has learnt its task its loss falls smoothly, while exact match jumps."""
    runs = Runs(tmp_path)
    reader = Reader(runs)
    for run in runs.shipped():
        rows = run.history.validations.rows()
        loss, exact, tokens = (np.array(rows[name]) for name in ("loss", "exact_match", "token_accuracy"))
        learnt = int(np.argmax(exact >= 0.9))
        assert exact[learnt] >= 0.9, run.id
        assert (np.diff(loss[: learnt + 1]) < 0).all(), run.id
        assert exact[tokens < 0.6].max() < 0.1, run.id
        for lesson in (lesson for lesson in LESSONS if lesson.question and run.id == name):
            answer, numbers = lesson.question.answer(reader, run, None, reader.examples(run, "heldout", 1)[0][0])
            assert answer in lesson.question.guesses
            for guess, language in product(lesson.question.guesses, LANGUAGES):
                assert lesson.say(language, f"why_{guess}", **numbers)
    reader.close()
    runs.close()

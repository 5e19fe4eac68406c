"""The course: every step can be done and is seen when done; its questions by hand; its twelve beliefs, one right option each."""

import json
import re
import shutil
import subprocess
from functools import cache
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from playground import cursor
from playground.config import ModelConfig, Refusal, check
from playground.cursor import FIELDS
from playground.features.registry import TABS
from playground.features.shared.queries.reader import Reader
from playground.features.translate.query import DecodingOptions, count_samples
from playground.inspection.activations import record
from playground.lessons import course, lesson as lessons
from playground.lessons.checks import BELIEFS
from playground.lessons.course import LESSONS
from playground.lessons.labs import LABS
from playground.runs.registry import Runs
from playground.ui import boot
from playground.ui.boot import LISTS
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
    if name == "stage":
        return [stage for stage in stages() if stage == wanted or (wanted.startswith("*") and stage.endswith(wanted[1:]))]
    field = FIELDS[name]
    choices = getattr(field, "choices", ())
    choices = boot.LISTS[choices] if isinstance(choices, str) else choices
    offered = (*choices, *map(str, range(1, 10)), "c1.1", "c1.2", "c1.1_c1.2", "2:7") if wanted == "*" else (wanted,)
    return [value for value in offered if value == wanted == "" or field.refusal(name, value, boot.LISTS) is None]


def screen(fields: dict, /, **holds) -> dict:
    """Returns the page's screen in the terms of static/rules.js."""
    wants = {"mine": False, "forked": False, "settings": {}, "steps": 0, "exact": 0, "read": False, "sentence": ""} | holds
    text = fields["text"] or "a b"
    return {
        "cursor": fields | {"text": text},
        "card": {
            "mine": wants["mine"], "parent": {"run": "sort"} if wants["forked"] else None, "settings": wants["settings"],
            "examples": [] if wants["sentence"] == "own" else [[text, ""]],
        },
        "run": {"step": wants["steps"], "validations": {"exact_match": [wants["exact"]]}},
        "sentence": {"source": [{"known": wants["sentence"] != "unknown"}], "correct": wants["sentence"] != "wrong"},
        "hasRead": wants["read"], "inSight": [wants["sees"]] if "sees" in wants else [], "readOff": wants.get("read_off", ""),
    }  # fmt: skip


def done(step: course.Step) -> list[dict]:
    """Screens one after another on which all holds that a step asks for."""
    holds = {kind: wanted for kind, wanted in step.when.items() if kind not in ("at", "ahead", "different")}
    ahead = {"q": "1", "k": "2"} if "ahead" in step.when else {}
    fields = CURSOR | dict(step.to) | {name: values_of(name, wanted)[0] for name, wanted in step.when.get("at", {}).items()} | ahead
    names, count = step.when.get("different", ((), 1))
    values = [values_of(name, "*") for name in names[:1]]
    assert all(len(of_field) >= count for of_field in values), f"{names} cannot have {count} values"
    return [screen(fields | {names[0]: values[0][n]} if names else fields, **holds) for n in range(count)]


@pytest.fixture(scope="module")
def page() -> dict:
    """Returns the conditions that the page's rules know, and the screens on which they call a step done."""
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    cases = {}
    for lesson, step in DOES:
        cases[lesson.name, step.name, "all"] = step, done(step)
        for other in lesson.does:
            cases[lesson.name, step.name, f"taken to {other.name}"] = step, [screen(CURSOR | dict(other.to))]
    posed = json.dumps([{"when": step.when, "screens": screens} for step, screens in cases.values()])
    answer = json.loads(subprocess.run(["node", str(RULES)], input=posed, capture_output=True, text=True, check=True, timeout=120).stdout)
    return answer | {"done": dict(zip(cases, answer["done"], strict=True))}


def test_a_step_is_done_when_all_that_it_asks_for_holds_and_not_by_being_taken_to_a_step(page):
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
        own |= {"question", "verdict_numbers", *(f"{kind}_{answer}" for kind in ("guess", "why") for answer in lesson.question.guesses)}
    own |= {"verdict_reason"} if lesson.name == "training" else set()
    return {f"course.{lesson.name}.{key}" for key in (*WORDS, *own)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_words_for_everything_and_none_too_many(language):
    files = ("lessons/course.py", "lessons/lesson.py", "features/lessons/course.py")
    code = "".join((ROOT / file).read_text(encoding="utf-8") for file in files)
    wanted = set(re.findall(r"\"(course\.\w+)\"", code)).union({f"course.path_{path}" for path in course.PATHS}, *map(words_of, LESSONS))
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


def pieces(text: str) -> list:
    return [SimpleNamespace(text=piece) for piece in text.split()]


@pytest.mark.parametrize(("rows", "answer"), [
    ([[0.6, 0.2, 0.1, 0.1]], "first"),
    ([[0.0, 0.0, 1.0, 0.0], [0.3, 0.3, 0.2, 0.2]], "last"),
    ([[0.0, 0.0, 0.0, 1.0]], "elsewhere"),  # the end is no word of the sentence
    ([[1.0, 0.0, 0.0, 0.0], [0.0, 0.6, 0.4, 0.0]], "first"),
    ([[0.9, 0.0, 0.1, 0.0], [0.0, 0.6, 0.4, 0.0]], "nowhere"),
])  # fmt: skip
def test_where_it_looks_on_average(rows, answer):
    cross = np.array([[[[0.25] * 4] * 2 for _ in rows], [[row, [0.25] * 4] for row in rows]])  # (2, H, 2, 4)
    look = SimpleNamespace(cross=cross, source=pieces("a b c <eos>"), targets=pieces("x"))
    result, numbers = lessons.looks(SimpleNamespace(look=lambda run, step, text: look), None, None, "a b c")
    assert (result, numbers["length"]) == (answer, 3)
    assert numbers["percent"] == pytest.approx(100 * np.mean(rows, axis=0).max())


@pytest.mark.parametrize(("unit", "joint"), [("characters", ""), ("bpe", " ")])
def test_two_unknown_tokens_come_out_alike_or_not(monkeypatch, unit, joint):
    def answer(write):
        monkeypatch.setattr(lessons, "translate", lambda *now: SimpleNamespace(candidates=[SimpleNamespace(text=write(now[-1]))]))
        return lessons.unknown(SimpleNamespace(units=lambda run: (unit, unit)), None, None, "ab")

    assert answer(lambda text: text[:0:-1])[0] == "same", "whatever came first"
    result, numbers = answer(str)
    assert (result, numbers["one"], numbers["other"]) == ("other", *(f"{stranger}{joint}ab" for stranger in lessons.STRANGERS))


def test_samples_have_the_frequencies_of_training_and_temperature_moves_them(tmp_path):
    runs = Runs(tmp_path)
    reader, run = Reader(runs), next(run for run in runs.shipped() if run.id == "one_to_many")
    for text, _ in reader.examples(run, "heldout", 3):
        assert lessons.draws(reader, run, None, text)[0] == "most"
        warmths = [DecodingOptions(method="sample", temperature=temperature) for temperature in (0.2, 1.0, 2.0)]
        (cold, *_), (usual, other, *_), (hot, *_) = (count_samples(reader, run, None, text, options, 20) for options in warmths)
        assert (usual[2], other[2], usual[0] != other[0]) == (True, True, True), "both are right"
        assert cold[1] > 17 >= usual[1] > max(9, hot[1]) >= other[1] > 1, "near 14 and 6"
    reader.close()
    runs.close()


def test_every_lab_belongs_to_a_lesson_and_the_paths_take_their_time():
    assert sorted(name for lesson in LESSONS for name in course.list_labs(lesson)) == sorted(LABS)
    with pytest.raises(ValueError, match="no question of its own"):
        course.Lesson("any", "softmax", (), gives_away=True)
    minutes = {path: sum(sum(course.COURSE[name].minutes) for name in names) for path, names in course.PATHS.items()}
    assert all(path == "term" or 0.75 * int(path) < total <= int(path) for path, total in minutes.items())


def run(tokens=(), exact=(), losses=(), heldout=0.0):
    rows = {"step": list(range(10, 10 * len(tokens) + 1, 10)), "token_accuracy": list(tokens), "exact_match": list(exact)}
    rows |= {"pairs": [100] * len(exact), "all_pairs": [500] * len(exact)}
    last = {"loss": heldout, "exact_match": exact[-1], "pairs": 500, "all_pairs": 500} if exact else None
    validations = SimpleNamespace(rows=lambda: rows, last=lambda: last)
    return SimpleNamespace(history=SimpleNamespace(validations=validations, steps=SimpleNamespace(column=lambda name: list(losses))))


@pytest.mark.parametrize(("tokens", "exact", "step", "answer"), [
    ((0.5, 0.92, 0.99), (0.0, 0.4, 0.95), 20, "few"), ((0.5, 0.92, 0.99), (0.0, 0.5, 0.95), 20, "some"), ((0.95,), (0.9,), 10, "most"),
    ((0.3, 0.6), (0.0, 0.1), 20, "few"),  # never nine in ten: the last one
])  # fmt: skip
def test_sentences_when_nine_in_ten_tokens_are_right(tokens, exact, step, answer):
    result, numbers = lessons.tokens_first(None, run(tokens, exact), None, "")
    assert (result, numbers["step"], numbers["pairs"], numbers["all_pairs"]) == (answer, step, 100, 500)


@pytest.mark.parametrize(("losses", "trained", "heldout", "answer"), [
    ((9.0, *[1.0] * 10), 1.0, 1.4, "same"),
    ((9.0, *[1.0] * 5, *[3.0] * 5), 2.0, 3.5, "larger"),  # ten steps, as one batch is like no other
    ((1.6,), 1.6, 1.0, "smaller"),
])  # fmt: skip
def test_the_newest_losses_are_compared(losses, trained, heldout, answer):
    for question in (lessons.tokens_first, lessons.gap):
        with pytest.raises(Refusal, match="no evaluation yet"):
            question(None, run(), None, "")
    result, numbers = lessons.gap(None, run((0.5,), (0.2,), losses, heldout), None, "")
    assert result == answer
    assert numbers == {"trained": pytest.approx(trained), "heldout": heldout, "exact": pytest.approx(20), "pairs": 500, "all_pairs": 500}


def test_each_has_a_place_one_right_option_and_a_sentence_to_every_wrong_one():
    assert len(BELIEFS) == 12
    for name, belief in BELIEFS.items():
        assert cursor.read_query(belief.to, LISTS) == ({name: value for name, value in belief.to.items() if value}, {})
        posed = belief.pose()
        assert posed.answer.key == f"{name}_choice_{belief.right}"
        assert len(set(posed.options)) == 1 + len(belief.wrong) >= 3
        for words in map(entries, LANGUAGES):
            assert all(words[f"checks.{key}"] for key in (name, *(option.key for option in posed.options)))
            assert all(words[f"checks.{name}_choice_{option}_why"] for option in belief.wrong)
            assert all(f"{{{number}" in words[f"checks.{name}_why"] for number in belief.measured), name

"""The course: lessons, each with a question to guess first and steps in the app that the page can observe; before them, as number
0, a tour of the model.

A lesson's messages are `course.<lesson>.…` (see playground/words): `title`, `goal`, `look` (where to look, a line each), `step_<step>`,
`literature` (the field's terms, and the paper's sections), for teachers `show`, `wrong` and `ask`, and with a question of its own
`question`, `guess_<answer>` and `why_<answer>`. Those of the tour's stops are `tour.…`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playground import cursor
from playground.config import Refusal
from playground.lessons import run_questions
from playground.lessons.lab import compose
from playground.lessons.run_questions import Question
from playground.lessons.tour import STOPS
from playground.words import say

PREDICT, ANSWER = "predict", "answer"  # the first and the last step of every lesson that asks something,
WORDS = {PREDICT: "course.predict", ANSWER: "course.answer"}  # and what they say


@dataclass(frozen=True)
class Step:
    """A step in the app. `when` has the conditions, all required at once, under which the page marks it done:

    - at: fields of the cursor with their values; "*" is any value, "*.x" one that ends in ".x"
    - ahead: the pinned cell lies in the future of its row
    - settings, mine, forked: of the run on screen: knobs with their values; it is the visitor's own; it began as a fork
    - steps, exact: progress of that run, in steps or exact match on held-out sentences
    - live: a knob that was changed while that run trained
    - sentence: the sentence is the visitor's "own", has an "unknown" token or comes out "wrong"
    - read: sentences of the visitor's own were read
    - guess: the question of this lab, or of the lesson, was answered
    - checked: each question that stands at the end of this lesson was answered
    - sees: the element of this CSS selector is in view
    - read_off: the number that this stop of the tour asks for was written
    - different: this number of distinct values of these fields, one after another, each under all other conditions

    `to` locates it in the app, as fields of the cursor, and `brings` is a CSS selector to scroll into view there; `knobs` are
    set first, and others stay as they are; {} are the defaults of all.
    """

    name: str
    when: Mapping[str, Any]
    to: Mapping[str, str] = field(default_factory=dict)
    knobs: Mapping[str, Any] | None = None
    brings: str = ""

    def __post_init__(self) -> None:
        """Raises Refusal for an unknown field or an invalid value."""
        names, _ = self.when.get("different", ((), 0))
        for name, value in (*dict.fromkeys(names, "").items(), *self.when.get("at", {}).items(), *self.to.items()):
            cursor.check(name, "" if value.startswith("*") else value)


@dataclass(frozen=True)
class Lesson:
    """About ten minutes: `minutes` to present, to do and to discuss. The question to guess is a lab's or the lesson's own; the tour has a
    question at each stop instead."""

    name: str
    asks: str | Question | None  # the name of a lab, or a question
    does: tuple[Step, ...]
    minutes: tuple[int, int, int] = (2, 6, 2)

    @property
    def lab(self) -> str:
        """The lab with its question; "" for a question of its own."""
        return self.asks if isinstance(self.asks, str) else ""

    @property
    def question(self) -> Question | None:
        return self.asks if isinstance(self.asks, Question) else None

    @property
    def kept_as(self) -> str:
        """The browser's storage key of the guess."""
        return self.lab or f"lesson_{self.name}"

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps: the guess first, the final questions last."""
        if self.asks is None:
            return self.does
        guess = Step(PREDICT, {"guess": self.kept_as}, {"tab": "labs", "lab": self.lab} if self.lab else {})
        answer = Step(ANSWER, {"checked": self.name}, {"tab": "course", "lesson": self.name}, brings=QUESTIONS)
        return (guess, *self.does, answer)

    @property
    def run(self) -> str:
        """The run it is about; "" for any run."""
        return next((step.to["run"] for step in self.does if "run" in step.to), "")

    def say(self, language: str, key: str, **values: Any) -> str:
        return compose(language, lambda part: f"course.{self.name}.{part}", key, values)

    def step(self, language: str, name: str) -> str:
        """Returns the instruction of a step."""
        if "read_off" in next(step.when for step in self.steps if step.name == name):
            return say(language, "course.read_off", stop=say(language, f"tour.title_{name}"))
        return say(language, WORDS[name]) if name in WORDS else self.say(language, f"step_{name}")


PIECES = '#pg-panel-data [data-block="chips pieces"] > :first-child'  # the tokens of the sentence, with their ids
QUESTIONS = "#pg-panel-course [data-block='later checks'][aria-busy='false'] > *"  # at the end of a lesson
LAID_OVER = "#pg-panel-runs:has(.pg-runs.several) .pg-plot"  # curves of several runs in one figure
ATTENTION, FORCING = {"tab": "attention", "view": "matrix"}, {"tab": "teacher_forcing"}
UNPINNED = {"part": "cross", "q": "", "k": ""}  # clicking a pinned cell would release it
REVERSE, GERMAN, NUMBERS = ({"run": run} for run in ("reverse", "german_english", "numbers_de"))

GPT = {"architecture": "causal_decoder"}

LESSONS = (
    Lesson("tour", None, tuple(Step(name, {"read_off": name}, {"tab": "map", "stop": name}) for name in STOPS), (1, 5, 2)),
    Lesson(
        "attention",
        run_questions.LOOKS,
        (
            Step(
                "heads",
                {"at": {"tab": "attention"}, "different": (("layer", "head"), 3)},
                {**ATTENTION, **REVERSE, "part": "cross", "step": ""},
            ),
            Step("cell", {"at": {"tab": "attention", "q": "*", "k": "*"}}, ATTENTION | REVERSE | UNPINNED),
        ),
    ),
    Lesson(
        "tokens",
        run_questions.UNKNOWN,
        (
            Step("own", {"at": {"tab": "data"}, "sentence": "own", "sees": PIECES}, {"tab": "data", **REVERSE}),
            Step("unknown", {"at": {"tab": "data"}, "sentence": "unknown", "sees": PIECES}, {"tab": "data", **REVERSE}),
        ),
    ),
    Lesson(
        "weight",
        "softmax",
        (
            Step(
                "worked",
                {"at": {"tab": "map", "stage": "*.weights", "row": "*", "col": "*"}},
                {"tab": "map", **REVERSE, "stage": "decoder.0.cross_attention.weights", "row": "", "col": ""},
            ),
            Step("product", {"at": {**ATTENTION, "view": "product", "q": "*", "k": "*"}}, ATTENTION | REVERSE | UNPINNED),
        ),
        (3, 6, 2),
    ),
    Lesson(
        "heads",
        "heads",
        (
            Step("parts", {"at": {"tab": "attention"}, "different": (("part",), 3)}, {**ATTENTION, **GERMAN, "step": ""}),
            Step(
                "off",
                {"at": {"tab": "interventions"}, "different": (("off",), 3)},
                {"tab": "interventions", **GERMAN, "change": "heads", "off": ""},
            ),
        ),
    ),
    Lesson(
        "order",
        "order",
        (
            Step("shift", {"at": {"tab": "positions", "pos": "shift"}, "different": (("shift",), 3)}, {"tab": "positions", "pos": "shift"}),
            Step("none", {"settings": {"positions": "none"}, "mine": True, "steps": 60}, knobs={"task": "reverse", "positions": "none"}),
            Step("compare", {"at": {"tab": "runs"}, "settings": {"positions": "none"}, "mine": True, "sees": LAID_OVER}, {"tab": "runs"}),
        ),
        (2, 7, 2),
    ),
    Lesson(
        "masks",
        "masks",
        (
            Step("kinds", {"at": {"tab": "masks"}, "different": (("mask",), 3)}, {"tab": "masks"}),
            Step(
                "future",
                {"at": {"tab": "attention", "part": "decoder", "q": "*", "k": "*"}, "ahead": True},
                {**ATTENTION, "part": "decoder", "layer": "", "head": "", "q": "", "k": ""},
            ),
        ),
    ),
    Lesson(
        "layers",
        "skip",
        (
            Step(
                "sum",
                {"at": {"tab": "map", "stage": "*.residual", "row": "*", "col": "*"}},
                {"tab": "map", "stage": "encoder.0.feed_forward.residual", "row": "", "col": ""},
            ),
            Step("gauges", {"at": {"tab": "diagnostics"}, "different": (("gauge",), 3)}, {"tab": "diagnostics"}),
        ),
    ),
    Lesson(
        "training",
        run_questions.TOKENS_FIRST,
        (
            Step("train", {"mine": True, "exact": 0.9}, knobs={}),
            Step("replay", {"at": {"tab": "training"}, "different": (("step",), 5)}, {"tab": "training", "step": "0"}),
        ),
        (1, 7, 3),
    ),
    Lesson(
        "teacher_forcing",
        "bug_future",
        (
            Step("wrong", {"at": {**FORCING, "step": ""}, "sentence": "wrong"}, {**FORCING, **NUMBERS, "step": ""}),
            Step("fix", {"at": {**FORCING, "fix": "*"}, "sees": ".pg-lanes .fixed.right"}, FORCING | NUMBERS),
        ),
        (3, 6, 3),
    ),
    Lesson(
        "steering",
        "warmup",
        (
            Step("rate", {"mine": True, "live": "learning_rate"}, knobs={"steps": 600}),
            Step("fork", {"mine": True, "forked": True}, {"tab": "training"}),
        ),
        (2, 8, 2),
    ),
    Lesson(
        "decoding",
        run_questions.BEAM,
        (
            Step(
                "beam",
                {"at": {"tab": "translate", "method": "beam"}, "different": (("beam",), 3)},
                {"tab": "translate", **REVERSE, "method": "beam", "step": ""},
            ),
            Step(
                "sample",
                {"at": {"tab": "translate", "method": "sample"}, "different": (("draw", "temperature"), 4)},
                {"tab": "translate", **REVERSE, "method": "sample"},
            ),
        ),
    ),
    Lesson(
        "own",
        run_questions.GAP,
        (
            Step("read", {"at": {"tab": "data"}, "read": True}, {"tab": "data"}),
            Step("train", {"settings": {"task": "own"}, "mine": True, "steps": 30}, {"tab": "data"}),
            Step("try", {"at": {"tab": "translate"}, "settings": {"task": "own"}, "mine": True, "sentence": "own"}, {"tab": "translate"}),
        ),
        (1, 9, 3),
    ),
    Lesson(
        "rules",
        "rule_or_list",
        (
            Step("train", {"settings": {"task": "commands_jump"}, "mine": True, "exact": 0.9}, knobs={"task": "commands_jump"}),
            Step(
                "jump",
                {"at": {"tab": "translate"}, "settings": {"task": "commands_jump"}, "mine": True, "sentence": "wrong"},
                {"tab": "translate"},
            ),
            Step("examples", {"settings": {"task": "commands_jump_16"}, "mine": True, "exact": 0.9}, knobs={"task": "commands_jump_16"}),
        ),
        (2, 10, 3),
    ),
    Lesson(
        "gpt",
        "architectures",
        (
            Step("kinds", {"at": {"tab": "masks"}, "different": (("mask",), 3)}, {"tab": "masks", "mask": "padding"}),
            Step("train", {"settings": GPT, "mine": True, "steps": 60}, knobs={"task": "reverse", **GPT}),
            Step(
                "cell",
                {"at": {"tab": "attention", "part": "decoder", "q": "*", "k": "*"}, "settings": GPT, "mine": True},
                ATTENTION | UNPINNED | {"part": "decoder"},
            ),
        ),
        (3, 8, 3),
    ),
)
COURSE: dict[str, Lesson] = {lesson.name: lesson for lesson in LESSONS}


def get(name: str) -> Lesson:
    """Returns a lesson by name. Raises Refusal for an unknown one."""
    if name not in COURSE:
        raise Refusal("course.no_lesson", name=name[:40], names=", ".join(COURSE))
    return COURSE[name]


def number(lesson: Lesson) -> int:
    """Returns the position in the course: the tour is number 0."""
    return LESSONS.index(lesson)


def after(lesson: Lesson) -> Lesson | None:
    return LESSONS[number(lesson) + 1] if lesson is not LESSONS[-1] else None

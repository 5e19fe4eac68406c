"""A lesson of the course: a question to guess first, and steps in the app that the page can observe. Its question is a lab's, or one about
the run on screen, whose correct guess is computed when the answer is shown.

A lesson's messages are `course.<lesson>.…` (see playground/words): `title`, `goal`, `look` (where to look, a line each), `step_<step>`,
`literature` (the field's terms, and the paper's sections), for teachers `show`, `wrong` and `ask`, and with a question of its own
`question`, `guess_<answer>` and `why_<answer>`. Those of the tour's stops are `tour.…`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground import cursor
from playground.config import Refusal
from playground.features.shared.queries.reader import Reader
from playground.features.translate.query import DecodingOptions, count_samples, translate
from playground.lessons.lab import compose
from playground.runs.run import Run
from playground.words import say

PREDICT, ANSWER = "predict", "answer"  # the first and the last step of every lesson that asks something,
QUESTIONS = "#pg-panel-course [data-block='later checks'][aria-busy='false'] > *"  # at the end of a lesson
WORDS = {PREDICT: "course.predict", ANSWER: "course.answer"}  # and what they say
STRANGERS = ("☂", "☃")  # in no vocabulary
DRAWN = 100  # samples
AHEAD = 0.9  # token accuracy
RECENT = 10  # steps, or all when there are fewer
ASKED = ("pairs", "all_pairs")  # sizes of the validation and of all held-out data: a smaller one is a sample, and the page says so
APART = 1.5  # ratio from which two losses differ

Answer = tuple[str, Mapping[str, Any]]  # the correct guess, and values for its message


@dataclass(frozen=True)
class Question:
    """`answer(reader, run, step, text)`; step None is the latest. Raises Refusal while the run can't answer yet."""

    guesses: tuple[str, ...]
    answer: Callable[[Reader, Run, int | None, str], Answer]


@dataclass(frozen=True)
class Step:
    """A step in the app. `when` has the conditions, all required at once, under which the page marks it done:

    - at: fields of the cursor with their values; "*" is any value, "*.x" one that ends in ".x"
    - ahead: the pinned cell lies in the future of its row
    - settings, mine, forked: of the run on screen: knobs with their values; it is the visitor's own; it began as a fork
    - steps, exact: progress of that run, in steps or exact match on held-out sentences
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
    picture: Mapping[str, str] = field(default_factory=dict)  # fields of the view beside its text; by default its first step's
    shows: str = "figure"  # the kind or id of the block that is the picture
    gives_away: bool = False  # whether the picture answers the lesson's own question: then it comes after the guess
    deals: tuple[Mapping[str, Any], ...] = ()  # knobs that a teacher deals to a class, on top of the first step's
    labs: tuple[str, ...] = ()  # further labs; `list_labs` adds those that lead to one of its labs

    def __post_init__(self) -> None:
        """Raises ValueError if its picture gives away the question of a lab, whose guess it can't wait for."""
        if self.gives_away and not self.question:
            raise ValueError(f"{self.name}: no question of its own, which its picture could give away")

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
    def view(self) -> dict[str, str]:
        """The fields of its picture."""
        return dict(self.picture or next(step.to for step in self.does if "tab" in step.to))

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


# ---- questions about the run on screen ----


def looks(reader: Reader, run: Run, step: int | None, text: str) -> Answer:
    """Locates the maximum of the last layer's cross-attention, averaged over heads, for the first output token."""
    look = reader.look(run, step, text)
    if not look.cross.size:
        raise Refusal("course.no_attention")
    weights = look.cross[-1, :, 0].mean(axis=0)  # (S,)
    most, last = int(weights.argmax()), len(look.source) - 2  # EOS follows the last token
    place = {last: "last", 0: "first"}.get(most, "elsewhere")
    numbers = {
        "token": look.source[most].text, "written": look.targets[0].text, "percent": float(100 * weights[most]), "length": last + 1,
    }  # fmt: skip
    return place if weights[most] >= 0.5 else "nowhere", numbers


def unknown(reader: Reader, run: Run, step: int | None, text: str) -> Answer:
    """Compares the outputs for two sentences that differ in one unknown token."""
    joint = "" if reader.units(run)[0] == "characters" else " "
    first, second = (translate(reader, run, step, f"{stranger}{joint}{text}").candidates[0].text for stranger in STRANGERS)
    numbers = {"first": STRANGERS[0], "second": STRANGERS[1], "one": first or "–", "other": second or "–"}
    return "same" if first == second else "other", numbers


def tokens_first(reader: Reader, run: Run, step: int | None, text: str) -> Answer:
    """Measures exact match when token accuracy first reached AHEAD, else at the last validation."""
    rows = run.history.validations.rows()
    if not rows["step"]:
        raise Refusal("course.not_measured")
    at = next((at for at, share in enumerate(rows["token_accuracy"]) if share >= AHEAD), len(rows["step"]) - 1)
    exact = rows["exact_match"][at]
    numbers = {"step": int(rows["step"][at]), "tokens": 100 * rows["token_accuracy"][at], "exact": 100 * exact}
    numbers |= {name: int(rows[name][at]) for name in ASKED}
    return "most" if exact >= 0.9 else "some" if exact >= 0.5 else "few", numbers


def draws(reader: Reader, run: Run, step: int | None, text: str) -> Answer:
    """Measures the share of the most frequent of DRAWN sampled outputs."""
    output, times, _ = count_samples(reader, run, step, text, DecodingOptions(method="sample"), DRAWN)[0]
    return "all" if times >= 0.9 * DRAWN else "most" if times >= 0.6 * DRAWN else "half", {"top": times, "all": DRAWN, "output": output}


def gap(reader: Reader, run: Run, step: int | None, text: str) -> Answer:
    """Compares the latest validation loss with the recent training loss."""
    losses, last = run.history.steps.column("loss")[-RECENT:], run.history.validations.last()
    if not losses or last is None:
        raise Refusal("course.not_measured")
    trained, heldout = sum(losses) / len(losses), last["loss"]
    answer = "larger" if heldout > APART * trained else "smaller" if trained > APART * heldout else "same"
    return answer, {"trained": trained, "heldout": heldout, "exact": 100 * last["exact_match"]} | {name: int(last[name]) for name in ASKED}


LOOKS = Question(("first", "last", "elsewhere", "nowhere"), looks)
UNKNOWN = Question(("same", "other"), unknown)
TOKENS_FIRST = Question(("most", "some", "few"), tokens_first)
DRAWS = Question(("all", "most", "half"), draws)
GAP = Question(("smaller", "same", "larger"), gap)

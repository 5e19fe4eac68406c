"""The course: the lessons in their order, before them, as number 0, a tour of the model; the paths through them, and the labs of each."""

from functools import cache

from playground.config import Refusal
from playground.lessons import run_questions
from playground.lessons.labs import LABS
from playground.lessons.lesson import Lesson, Picture, Step
from playground.lessons.tour import STOPS

PIECES = '#pg-panel-data [data-block="chips pieces"] > :first-child'  # the tokens of the sentence, with their ids
LAID_OVER = "#pg-panel-runs:has(.pg-runs.several) .pg-plot"  # curves of several runs in one figure
ATTENTION, FORCING = {"tab": "attention", "view": "matrix"}, {"tab": "teacher_forcing"}
UNPINNED = {"part": "cross", "q": "", "k": ""}  # clicking a pinned cell would release it
VOTES = '#pg-panel-teacher_forcing [data-block="figure votes-bars"]'
REVERSE, GERMAN, NUMBERS, TWO_ANSWERS = ({"run": run} for run in ("reverse", "german_english", "numbers_de", "one_to_many"))
# The arms of the learning-rate lesson: each rate is three times the one before.
RATES_BASE = {"task": "reverse", "steps": 90, "batch_size": 80}
RATES = tuple({"learning_rate": rate} for rate in (0.006, 0.018, 0.054, 0.16, 0.48))

GPT = {"architecture": "causal_decoder"}

LESSONS = (
    Lesson("tour", None, tuple(Step(name, {"read_off": name}, {"tab": "map", "stop": name}) for name in STOPS), (1, 5, 2),
        picture=Picture({"tab": "map", "stop": "weights"}),
    ),
    Lesson(
        "tokens",
        run_questions.UNKNOWN,
        (
            Step("own", {"at": {"tab": "data"}, "sentence": "own", "sees": PIECES}, {"tab": "data", **REVERSE}),
            Step("unknown", {"at": {"tab": "data"}, "sentence": "unknown", "sees": PIECES}, {"tab": "data", **REVERSE}),
        ),
        picture=Picture({"tab": "data"}, "chips"),
        labs=("vocabulary", "bpe"),
    ),
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
        picture=Picture({**ATTENTION, "part": "cross", "step": "0"}),
    ),
    Lesson(
        "why",
        "why_attention",
        (
            Step(
                "mean",
                {"at": {"tab": "interventions", "squeeze": "mean"}},
                {"tab": "interventions", **REVERSE, "change": "heads", "squeeze": ""},
            ),
        ),
        (2, 10, 2),
        picture=Picture(ATTENTION),
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
        picture=Picture({"tab": "map", "stage": "decoder.0.cross_attention.weights"}),
        labs=("scores", "attention_scale", "products", "bug_axis", "bug_scale"),
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
        picture=Picture({**ATTENTION, "part": "cross"}, "heads"),
        labs=("w_o", "shapes", "key_size", "bug_view"),
    ),
    Lesson(
        "votes",
        "alignment_head",
        (
            Step("votes", {"at": FORCING, "sees": VOTES}, {**FORCING, **GERMAN, "step": ""}),
            Step("patch", {"at": {"tab": "interventions", "change": "patch"}}, {"tab": "interventions", **GERMAN, "change": ""}),
        ),
        picture=Picture(FORCING, "votes-bars"),
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
        picture=Picture({"tab": "positions"}),
        labs=("permutation", "positions", "numbering", "encodings", "rotary", "beyond"),
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
        picture=Picture({"tab": "evaluation"}),
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
        picture=Picture({"tab": "masks"}),
        labs=("padding_sides", "bug_source", "bug_memory", "bug_fill"),
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
        picture=Picture({"tab": "map", "stage": "encoder.0.feed_forward.residual"}),
        labs=("norms", "residuals", "feedforward", "deep"),
    ),
    Lesson(
        "training",
        run_questions.TOKENS_FIRST,
        (
            Step("train", {"mine": True, "exact": 0.9}, knobs={}),
            Step("replay", {"at": {"tab": "training"}, "different": (("step",), 5)}, {"tab": "training", "step": "0"}),
        ),
        (1, 7, 3),
        picture=Picture({"tab": "training"}, "accuracy"),
        labs=("loss", "dropout", "smoothing", "depth"),
    ),
    Lesson(
        "step",
        "zero_grad",
        (Step("moments", {"at": {"tab": "step"}, "different": (("moment",), 5)}, {"tab": "step", "moment": ""}),),
        (3, 6, 2),
        picture=Picture({"tab": "step", "moment": "logits"}),
        labs=("layouts", "bug_softmax"),
    ),
    Lesson(
        "teacher_forcing",
        "bug_future",
        (
            Step("wrong", {"at": {**FORCING, "step": ""}, "sentence": "wrong"}, {**FORCING, **NUMBERS, "step": ""}),
            Step("fix", {"at": {**FORCING, "fix": "*"}, "sees": ".pg-lanes .fixed.right"}, FORCING | NUMBERS),
        ),
        (3, 6, 3),
        picture=Picture(FORCING, "lanes"),
        labs=("exposure_bias", "bug_shift", "mystery"),
    ),
    Lesson(
        "steering",
        "warmup",
        (
            Step(
                "rates",
                {"settings": {"task": "reverse"}, "mine": True, "steps": 90, "different": (("run",), 2)},
                knobs=RATES_BASE | RATES[0],
            ),
            Step("compare", {"at": {"tab": "runs"}, "mine": True, "sees": LAID_OVER}, {"tab": "runs"}),
            Step("fork", {"mine": True, "forked": True}, {"tab": "training"}),
        ),
        (2, 8, 2),
        picture=Picture({"tab": "training"}, "learning_rate"),
    ),
    Lesson(
        "decoding",
        run_questions.DRAWS,
        (
            Step(
                "beam",
                {"at": {"tab": "translate", "method": "beam"}, "different": (("beam",), 3)},
                {"tab": "translate", **TWO_ANSWERS, "method": "beam", "step": ""},
            ),
            Step(
                "sample",
                {"at": {"tab": "translate", "method": "sample", "draws": "20"}, "different": (("temperature",), 3)},
                {"tab": "translate", **TWO_ANSWERS, "method": "sample", "draws": "20"},
            ),
        ),
        picture=Picture({"tab": "translate", "method": "beam"}),
    ),
    Lesson(
        "measure",
        "shared",
        (
            Step("near", {"at": {"tab": "embeddings"}, "different": (("token",), 3)}, {"tab": "embeddings", **GERMAN}),
            Step("kinds", {"at": {"tab": "evaluation"}, "different": (("split",), 2)}, {"tab": "evaluation", **GERMAN}),
        ),
        picture=Picture({"tab": "embeddings"}),
        labs=("embedding_scale",),
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
        picture=Picture({"tab": "data"}),
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
        picture=Picture({"tab": "masks", "mask": "gpt"}),
        labs=("nn_transformer",),
    ),
)
COURSE: dict[str, Lesson] = {lesson.name: lesson for lesson in LESSONS}
# Minutes, or a term: the lessons that fit.
PATHS: dict[str, tuple[str, ...]] = {
    "term": tuple(COURSE),
    "45": ("tour", "attention", "order", "training"),
    "90": ("tour", "tokens", "attention", "weight", "heads", "order", "masks", "training"),
}


def get(name: str) -> Lesson:
    """Returns a lesson by name. Raises Refusal for an unknown one."""
    if name not in COURSE:
        raise Refusal("course.no_lesson", name=name[:40], names=", ".join(COURSE))
    return COURSE[name]


def number(lesson: Lesson) -> int:
    """Returns the position in the course: the tour is number 0."""
    return LESSONS.index(lesson)


def after(lesson: Lesson, path: str = "term") -> Lesson | None:
    """Returns the next lesson of the path."""
    return next((other for other in LESSONS[number(lesson) + 1 :] if other.name in PATHS[path]), None)


def list_labs(lesson: Lesson) -> list[str]:
    """Returns the labs of a lesson: those it names, and those whose first known successors belong to it."""
    return [name for name, owner in _find_owners().items() if owner == lesson.name]


@cache
def _find_owners() -> dict[str, str]:
    """Maps each lab to its lesson, in display order."""
    owners = {lab: lesson.name for lesson in LESSONS for lab in (lesson.lab, *lesson.labs) if lab}
    while left := [lab for lab in LABS.values() if lab.name not in owners]:
        found = {lab.name: owners[other] for lab in left for other in reversed(lab.next) if other in owners}
        if not found:
            break
        owners |= found
    return {name: owners[name] for name in LABS if name in owners}

"""The course: the lessons in their order, before them, as number 0, a tour of the model; the paths through them, and the labs of each."""

from functools import cache

from playground.config import Refusal
from playground.lessons.labs import LABS
from playground.lessons.lesson import DRAWS, GAP, LOOKS, TOKENS_FIRST, UNKNOWN, Lesson, Step
from playground.lessons.tour import STOPS

PIECES = '#pg-panel-data [data-block="chips pieces"] > :first-child'  # the tokens of the sentence, with their ids
LAID_OVER = "#pg-panel-runs:has(.pg-runs.several) .pg-plot"  # curves of several runs in one figure
ATTENTION, FORCING = {"tab": "attention", "view": "matrix"}, {"tab": "teacher_forcing"}
UNPINNED = {"part": "cross", "q": "", "k": ""}  # clicking a pinned cell would release it
VOTES = '#pg-panel-teacher_forcing [data-block="figure votes-bars"]'
REVERSE, GERMAN, NUMBERS, TWO_ANSWERS = ({"run": run} for run in ("reverse", "german_english", "numbers_de", "one_to_many"))
# The arms of the learning-rate lesson: each rate is three times the one before.
RATES = tuple({"learning_rate": rate} for rate in (0.006, 0.018, 0.054, 0.16, 0.48))

GPT = {"architecture": "causal_decoder"}
SAMPLING = {"method": "sample", "draws": "20"}


def _vary(name: str, fields: tuple[str, ...], count: int, to: dict[str, str], **at: str) -> Step:
    """Returns a step for which so many values of these fields are looked at on the tab it leads to, with `at` all along."""
    return Step(name, {"at": {"tab": to["tab"], **at}, "different": (fields, count)}, to)


LESSONS = (
    Lesson(
        "tour",
        None,
        tuple(Step(name, {"read_off": name}, {"tab": "map", "stop": name}) for name in STOPS),
        (1, 5, 2),
        picture={"tab": "map", "stop": "weights"},
    ),
    Lesson(
        "tokens",
        UNKNOWN,
        (
            Step("own", {"at": {"tab": "data"}, "sentence": "own", "sees": PIECES}, {"tab": "data", **REVERSE}),
            Step("unknown", {"at": {"tab": "data"}, "sentence": "unknown", "sees": PIECES}, {"tab": "data", **REVERSE}),
        ),
        shows="chips",
        labs=("vocabulary", "bpe"),
    ),
    Lesson(
        "attention",
        LOOKS,
        (
            _vary("heads", ("layer", "head"), 3, {**ATTENTION, **REVERSE, "part": "cross", "step": ""}),
            Step("cell", {"at": {"tab": "attention", "q": "*", "k": "*"}}, ATTENTION | REVERSE | UNPINNED),
        ),
        picture={**ATTENTION, "part": "cross"},
        gives_away=True,
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
        picture={"tab": "attention", "view": "lines", **REVERSE},
        shows="lines",
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
        labs=("scores", "attention_scale", "products", "bug_axis", "bug_scale"),
    ),
    Lesson(
        "heads",
        "heads",
        (
            _vary("parts", ("part",), 3, {**ATTENTION, **GERMAN, "step": ""}),
            _vary("off", ("off",), 3, {"tab": "interventions", **GERMAN, "change": "heads", "off": ""}),
        ),
        picture={**ATTENTION, "part": "cross"},
        shows="heads",
        labs=("w_o", "shapes", "key_size", "bug_view"),
    ),
    Lesson(
        "votes",
        "alignment_head",
        (
            Step("votes", {"at": FORCING, "sees": VOTES}, {**FORCING, **GERMAN, "step": ""}),
            Step("patch", {"at": {"tab": "interventions", "change": "patch"}}, {"tab": "interventions", **GERMAN, "change": ""}),
        ),
        picture={**ATTENTION, **GERMAN, "part": "cross"},
    ),
    Lesson(
        "order",
        "order",
        (
            _vary("shift", ("shift",), 3, {"tab": "positions", "pos": "shift"}, pos="shift"),
            Step("none", {"settings": {"positions": "none"}, "mine": True, "steps": 60}, knobs={"task": "reverse", "positions": "none"}),
            Step("compare", {"at": {"tab": "runs"}, "settings": {"positions": "none"}, "mine": True, "sees": LAID_OVER}, {"tab": "runs"}),
        ),
        (2, 7, 2),
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
        picture={"tab": "evaluation"},
    ),
    Lesson(
        "masks",
        "masks",
        (
            _vary("kinds", ("mask",), 3, {"tab": "masks"}),
            Step(
                "future",
                {"at": {"tab": "attention", "part": "decoder", "q": "*", "k": "*"}, "ahead": True},
                {**ATTENTION, "part": "decoder", "layer": "", "head": "", "q": "", "k": ""},
            ),
        ),
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
            _vary("gauges", ("gauge",), 3, {"tab": "diagnostics"}),
        ),
        labs=("norms", "residuals", "feedforward", "deep", "bug_last_norm"),
    ),
    Lesson(
        "training",
        TOKENS_FIRST,
        (
            Step("train", {"mine": True, "exact": 0.9}, knobs={}),
            _vary("replay", ("step",), 5, {"tab": "training", "step": "0"}),
        ),
        (1, 7, 3),
        picture={"tab": "training"},
        shows="accuracy",
        gives_away=True,
        labs=("loss", "dropout", "smoothing", "depth"),
    ),
    Lesson(
        "step",
        "zero_grad",
        (Step("moments", {"at": {"tab": "step"}, "different": (("moment",), 5)}, {"tab": "step", "moment": ""}),),
        (3, 6, 2),
        picture={"tab": "step", "moment": "logits"},
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
        picture=FORCING,
        shows="lanes",
        labs=("exposure_bias", "bug_shift", "mystery"),
    ),
    Lesson(
        "steering",
        "warmup",
        (
            Step(
                "rates",
                {"settings": {"task": "reverse"}, "mine": True, "steps": 90, "different": (("run",), 2)},
                knobs={"task": "reverse", "steps": 90, "batch_size": 80} | RATES[0],
            ),
            Step("compare", {"at": {"tab": "runs"}, "mine": True, "sees": LAID_OVER}, {"tab": "runs"}),
            Step("fork", {"mine": True, "forked": True}, {"tab": "training"}),
        ),
        (2, 8, 2),
        picture={"tab": "training"},
        shows="learning_rate",
        deals=RATES,
    ),
    Lesson(
        "decoding",
        DRAWS,
        (
            _vary("beam", ("beam",), 3, {"tab": "translate", **TWO_ANSWERS, "method": "beam", "step": ""}, method="beam"),
            _vary("sample", ("temperature",), 3, {"tab": "translate", **TWO_ANSWERS, **SAMPLING}, **SAMPLING),
        ),
        picture={"tab": "translate", **TWO_ANSWERS, **SAMPLING},  # the tree of a beam would answer a question at its end
        shows="likely",
        gives_away=True,
    ),
    Lesson(
        "measure",
        "shared",
        (
            _vary("near", ("token",), 3, {"tab": "embeddings", **GERMAN}),
            _vary("kinds", ("split",), 2, {"tab": "evaluation", **GERMAN}),
        ),
        shows="cosines",
        labs=("embedding_scale",),
    ),
    Lesson(
        "own",
        GAP,
        (
            Step("read", {"at": {"tab": "data"}, "read": True}, {"tab": "data"}),
            Step("train", {"settings": {"task": "own"}, "mine": True, "steps": 30}, {"tab": "data"}),
            Step("try", {"at": {"tab": "translate"}, "settings": {"task": "own"}, "mine": True, "sentence": "own"}, {"tab": "translate"}),
        ),
        (1, 9, 3),
        labs=("forgetting",),
    ),
    Lesson(
        "gpt",
        "architectures",
        (
            _vary("kinds", ("mask",), 3, {"tab": "masks", "mask": "padding"}),
            Step("train", {"settings": GPT, "mine": True, "steps": 60}, knobs={"task": "reverse", **GPT}),
            Step(
                "cell",
                {"at": {"tab": "attention", "part": "decoder", "q": "*", "k": "*"}, "settings": GPT, "mine": True},
                ATTENTION | UNPINNED | {"part": "decoder"},
            ),
        ),
        (3, 8, 3),
        picture={"tab": "masks", "mask": "gpt"},
        labs=("nn_transformer",),
    ),
)
COURSE: dict[str, Lesson] = {lesson.name: lesson for lesson in LESSONS}
# Minutes, or a term: the lessons that fit, with room for a lab or three.
PATHS: dict[str, tuple[str, ...]] = {
    "term": tuple(COURSE),
    "45": ("tour", "attention", "masks", "teacher_forcing"),
    "90": ("tour", "attention", "weight", "heads", "order", "masks", "teacher_forcing"),
}


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


def list_labs(lesson: Lesson) -> list[str]:
    """Returns the labs of a lesson: those it names, and those whose first known successors belong to it."""
    return [name for name, owner in _find_owners().items() if owner == lesson.name]


@cache
def _find_owners() -> dict[str, str]:
    """Maps each lab to its lesson, in display order."""
    owners = {lab: lesson.name for lesson in LESSONS for lab in (lesson.lab, *lesson.labs) if lab}
    while left := [lab for lab in LABS.values() if lab.name not in owners]:
        new = {lab.name: owners[other] for lab in left for other in reversed(lab.next) if other in owners}
        if not new:
            break
        owners |= new
    return {name: owners[name] for name in LABS if name in owners}

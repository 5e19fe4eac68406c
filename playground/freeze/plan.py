"""Plans what is precomputed: the grids of each panel, every lesson and every lab.

A grid is all combinations of the values of its axes; an axis is fields of the cursor that change together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from playground.cursor import FIELDS, choices
from playground.features.diagnostics.panel import QUANTITIES
from playground.features.embeddings.query import STATES, TABLES
from playground.features.evaluation.query import SPLITS
from playground.features.registry import PANELS, TABS
from playground.features.shared.decoding import default_method
from playground.features.shared.labs import UNKNOWN
from playground.features.translate.query import METHODS
from playground.inspection.interventions import MEMORIES, heads as all_heads
from playground.lessons.controlled import ControlledExperiment
from playground.lessons.course import LESSONS
from playground.lessons.labs import LABS
from playground.lessons.tour import STOPS
from playground.runs.run import Run
from playground.words import LANGUAGES

# Fields that only pin something in a figure: without an answer for the pin, the figure stays as it is.
PINS = ("q", "k", "row", "col", "window", "token")


HOME = "training"  # the tab that a page opens with


@dataclass(frozen=True)
class Choice:
    """The parts of a run that are frozen: the first `count` of its examples, or these `sentences`; the `tabs` beside HOME. `live` is the
    address of a playground with a server, for features that need one."""

    count: int = 20
    sentences: tuple[str, ...] = ()
    languages: tuple[str, ...] = LANGUAGES
    tabs: tuple[str, ...] = TABS
    live: str = ""

    def has(self, panel: str) -> bool:
        """Returns whether a panel belongs to these tabs: it is one of them, or a part of the same feature."""
        features = {PANELS[name].__module__.rpartition(".")[0] for name in self.tabs}
        return panel in (HOME, "sentence", *self.tabs) or (panel not in TABS and PANELS[panel].__module__.rpartition(".")[0] in features)


@dataclass(frozen=True)
class Axis:
    """Fields that change together, and their values."""

    fields: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]


Grid = list[Axis]  # every combination is precomputed; one file per value of the first axis


class Job(NamedTuple):
    """One file of answers: those of one value of a grid's first axis. `panels` are all panels with answers."""

    name: str
    at: int
    grid: Grid
    place: int
    panels: frozenset[str]


def axis(field: str, values: Sequence[str]) -> Axis:
    return Axis((field,), tuple((value,) for value in values))


def size(grid: Grid) -> int:
    """Returns the number of answers."""
    return prod(len(each.values) for each in grid)


def find_unset_fields(grid: Grid, used: set[str]) -> tuple[list[str], list[str]]:
    """Returns the fields that a panel reads beside the axes: (those that need a server when changed, those that only pin)."""
    known = {field for each in grid for field in each.fields}
    fields = sorted(field for field in used if field in FIELDS and field not in known)
    return [field for field in fields if field not in PINS], [field for field in fields if field in PINS]


def lessons() -> list[Grid]:
    """Returns grids of the list and every lesson: for students, with teachers' notes, and after each guess."""
    questions = {lesson.name: lesson.question.guesses for lesson in LESSONS if lesson.question}
    read = [axis("lesson", ["", *(lesson.name for lesson in LESSONS if lesson.name not in questions)]), axis("notes", ["", "on"])]
    fields = ("notes", "predicted", "certain")
    guessed = [
        [axis("lesson", [name]), Axis(fields, (("on", "", ""), *(("", *guess) for guess in _guesses(guesses, "certain"))))]
        for name, guesses in questions.items()
    ]
    return [read, [axis("lesson", [""]), axis("path", choices("path")[1:])], *guessed]


def labs() -> list[Grid]:
    """Returns grids of the list, every question, and the results of labs that train nothing."""
    instant = {name: lab.guesses for name, lab in LABS.items() if not isinstance(lab, ControlledExperiment)}
    texts = [axis("lab", ["", *(name for name in LABS if name not in instant)])]
    return [texts, *([axis("lab", [name]), Axis(("guess", "sure"), tuple(_guesses(guesses, "sure")))] for name, guesses in instant.items())]


def _guesses(offered: Sequence[str], sure: str) -> Iterator[tuple[str, str]]:
    """Yields each (guess, certainty) that a frozen page must answer: none, UNKNOWN, and each guess without and with every certainty."""
    yield "", ""
    yield UNKNOWN, ""
    for guess in offered:
        yield from ((guess, percent) for percent in ("", *choices(sure)))


STEPS = 6  # of the replay, before the newest
DETAILED = 5  # sentences with every head at every step; the others have it at the newest, and the map, which is large, at a few
WIDTHS = (("960", "900"), ("340", "840"))  # (width, height) in px of a panel: on a desktop and on a phone


@dataclass(frozen=True)
class Places:
    """The selectable places of a sentence: the map's stages, and the cells of cross-attention."""

    text: str
    stages: tuple[str, ...]
    queries: int
    keys: int


def choose_steps(run: Run) -> list[int]:
    """Returns a few steps with parameters, evenly spaced from the first to the one before the newest."""
    steps = [step for step in run.replay.parameter_steps if step < run.step]
    if len(steps) <= STEPS:
        return steps
    return [steps[round(at * (len(steps) - 1) / (STEPS - 1))] for at in range(STEPS)]


def heads(run: Run, part: str) -> list[tuple[str, str, str]]:
    """Returns (part, layer, head) of every head."""
    model = run.experiment.model
    layers = model.attention_layers(part)
    return [(part, str(layer), str(head)) for layer in range(1, layers + 1) for head in range(1, model.n_heads + 1)]


def plan(run: Run, sentences: Sequence[str], first: Places, languages: Sequence[str] = LANGUAGES) -> dict[str, list[Grid]]:
    """Returns the grids of every panel: the general one, then more detailed ones for the newest step, some of them for the `first` sentence
    only."""
    screen = [axis("lang", languages), Axis(("width", "height"), WIDTHS)]
    steps = choose_steps(run)
    step = axis("step", ["", *map(str, steps)])
    common, at_first = [axis("text", sentences), *screen], [axis("text", [first.text]), *screen]
    closely, remaining = [axis("text", sentences[:DETAILED]), *screen, step], [axis("text", sentences[DETAILED:]), *screen]
    cross = Axis(("layer", "head"), tuple(place[1:] for place in heads(run, "cross")))
    every_head = Axis(("part", "layer", "head"), tuple(place for name in choices("part") for place in heads(run, name)))
    views = axis("view", choices("view")[1:])
    masks = [name for name in choices("mask") if name != "packed"]
    methods = [name for name in METHODS if name != default_method(run)]
    learned = run.experiment.model.encoding.added == "learned"
    row = axis("q", [str(q) for q in range(first.queries)])
    cells = Axis(("q", "k"), tuple((str(q), k) for q in range(first.queries) for k in ("", *map(str, range(first.keys)))))
    embeddings = [*((name, "token") for name in TABLES), *((name, by) for name in STATES for by in choices("by"))]  # the first: the default
    planned = {
        "sentence": [[*common[:2], step]],
        "training": [[*common, step], [*closely, cross], [*remaining, cross]],
        "attention": [
            *([*common, step, axis("part", choices("part"))], [*closely, every_head], [*remaining, every_head]),
            *([*common, views], [*at_first, cells]),
        ],
        "masks": [[*common, axis("mask", masks)]],
        "positions": [[*screen, axis("pos", [name for name in choices("pos") if name != "learned" or learned])]],
        "translate": [[*common, step], [*common, axis("method", methods)], [*at_first, row]],
        "price": [screen],
        "teacher_forcing": [[*common, step], [*at_first, row]],
        "interventions": [common, [*at_first, _changes(run)]],
        "importance": [screen, [*screen, _changes(run)]],
        "map": [
            *(closely, [*remaining, axis("step", ["", *map(str, steps[:: STEPS // 2])])]),
            *([*at_first, axis("stage", first.stages)], [*at_first, axis("stop", list(STOPS))]),
        ],
        "embeddings": [[*common, step], [*at_first, Axis(("what", "by"), tuple(embeddings[1:]))]],
        "data": [[*common, axis("split", [name for name in choices("split") if name != "file"])]],
        "diagnostics": [[*screen, step, axis("gauge", list(QUANTITIES))]],
        "step": [[*screen, step, axis("moment", choices("moment"))]],
        "evaluation": [[*screen, axis("split", SPLITS)]],
        "reach": [screen],
        "course": [[*grid, *screen] for grid in lessons()],
        "labs": [[*grid, *screen] for grid in labs()],
    }
    return {name: [grid for grid in grids if size(grid)] for name, grids in planned.items()}


def _changes(run: Run) -> Axis:
    """Returns the axis of interventions: each head off alone, and each other memory mode."""
    off = [(str(head), "") for head in all_heads(run.experiment.model)]
    return Axis(("off", "squeeze"), (*off, *(("", memory) for memory in MEMORIES)))

"""Plans what is precomputed: the grids of each panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playground.cursor import choices
from playground.features.diagnostics.panel import QUANTITIES
from playground.features.embeddings.query import STATES, TABLES
from playground.features.evaluation.query import SPLITS
from playground.freeze.grids import Axis, Grid, axis, size
from playground.freeze.lessons import labs, lessons
from playground.inspection.interventions import MEMORIES, heads as all_heads
from playground.lessons.tour import STOPS
from playground.runs.run import Run
from playground.words import LANGUAGES

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
    layers = model.encoder_layers if part == "encoder" else model.decoder_layers
    return [(part, str(layer), str(head)) for layer in range(1, layers + 1) for head in range(1, model.n_heads + 1)]


def plan(run: Run, sentences: Sequence[str], first: Places) -> dict[str, list[Grid]]:
    """Returns the grids of every panel: the general one, then more detailed ones for the newest step, some of them for the `first` sentence
    only."""
    screen = [axis("lang", LANGUAGES), Axis(("width", "height"), WIDTHS)]
    steps = choose_steps(run)
    step = axis("step", ["", *map(str, steps)])
    common, at_first = [axis("text", sentences), *screen], [axis("text", [first.text]), *screen]
    closely, remaining = [axis("text", sentences[:DETAILED]), *screen, step], [axis("text", sentences[DETAILED:]), *screen]
    cross = Axis(("layer", "head"), tuple(place[1:] for place in heads(run, "cross")))
    every_head = Axis(("part", "layer", "head"), tuple(place for name in choices("part") for place in heads(run, name)))
    views = axis("view", choices("view")[1:])
    masks = [name for name in choices("mask") if name != "packed"]
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
        "translate": [[*common, step], [*common, axis("method", ["beam", "sample"])], [*at_first, row]],
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

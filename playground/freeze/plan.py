"""What is asked beforehand: for each panel its axes, along which every combination is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playground.cursor import FIELDS, choices
from playground.runs.run import Run
from playground.words import LANGUAGES

STEPS = 8  # of the replay, before the newest
WIDTHS = (("960", "900"), ("340", "840"))  # (width, height) in px of a panel: on a screen, and on a telephone
# Fields that only pin something in a picture: without a server the picture stays as it is.
PINS = ("q", "k", "row", "col", "window", "token")


@dataclass(frozen=True)
class Axis:
    """Fields that change together, and the values that they take."""

    fields: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]


def axis(field: str, values: Sequence[str]) -> Axis:
    return Axis((field,), tuple((value,) for value in values))


def steps_of(run: Run) -> list[int]:
    """A few steps with parameters, evenly from the first to the one before the newest."""
    steps = [step for step in run.replay.parameter_steps if step < run.step]
    if len(steps) <= STEPS:
        return steps
    return [steps[round(at * (len(steps) - 1) / (STEPS - 1))] for at in range(STEPS)]


def heads(run: Run, part: str) -> list[tuple[str, str, str]]:
    """(part, layer, head) of every head, and that of nobody's choice."""
    model = run.experiment.model
    layers = model.encoder_layers if part == "encoder" else model.decoder_layers
    return [(part, "", ""), *((part, str(layer), str(head)) for layer in range(1, layers + 1) for head in range(1, model.n_heads + 1))]


def plan(run: Run, sentences: Sequence[str]) -> dict[str, list[Axis]]:
    """Every panel that can be frozen, with its axes."""
    language, width = axis("lang", LANGUAGES), Axis(("width", "height"), WIDTHS)
    text, step = axis("text", sentences), axis("step", ["", *map(str, steps_of(run))])
    common = [text, language, width]
    cross = Axis(("layer", "head"), tuple(place[1:] for place in heads(run, "cross")))
    part = Axis(("part", "layer", "head"), tuple(place for name in choices("part") for place in heads(run, name)))
    masks = [name for name in choices("mask") if name != "packed"]
    learned = run.experiment.model.encoding.added == "learned"
    return {
        "sentence": [text, language, step],
        "training": [*common, step, cross],
        "attention": [*common, step, part],
        "masks": [*common, axis("mask", masks)],
        "positions": [language, width, axis("pos", [name for name in choices("pos") if name != "learned" or learned])],
        "translate": [*common, step],
        "teacher_forcing": [*common, step],
        "map": [*common, step],
        "embeddings": [*common, step],
        "data": [*common, axis("split", choices("split"))],
    }


def refused(axes: Sequence[Axis], used: set[str]) -> list[str]:
    """The fields that a panel reads and that are no axis: whoever changes one needs a server. Pins are let pass."""
    known = {field for one in axes for field in one.fields}
    return sorted(field for field in used if field in FIELDS and field not in known and field not in PINS)

"""The first tab: where the model looks for each word, beside the curves of how it learnt to."""

from __future__ import annotations

from dataclasses import asdict

from playground.config import Refusal
from playground.figures import curves
from playground.lessons.tour import STOPS
from playground.queries.probes import read_probes
from playground.queries.reader import REFERENCE
from playground.runs.history import Probe
from playground.runs.recording import BRIEF
from playground.ui import blocks
from playground.ui.panels import head_choice
from playground.ui.panels.attention import large
from playground.ui.panels.outcome import outcome
from playground.ui.selected_runs import unpin, with_pinned
from playground.ui.view import View
from playground.words import paragraph

HISTORY = ("steps", "validations")  # its tables
TOO_LONG = "runs.too_long"  # what is refused of a sentence alone: the curves are the run's
TRIES = 3  # to find sentence and probes at one step, between two snapshots
PRESENTED_CAPTION, LEAST_CURVE = 300, 150  # px: what a presented picture says, and a curve that is to be read
NUMBERS, FOLDED = ("exact", "tokens", "loss"), ("seconds", "left", "speed")


def panel(view: View) -> dict:
    empty = view.draw(curves.skeletons, steps=view.run.steps)
    if view.presented:  # under the caption of the picture
        empty["accuracy"]["layout"]["height"] = min(max(view.page[1] - PRESENTED_CAPTION, LEAST_CURVE), curves.HEIGHT)
    figures = with_pinned(view, empty)
    values = {"brief": min(BRIEF, view.run.experiment.data.validation_size)}
    curve = {
        name: blocks.figure(name, figures[name], view.say(f"page.caption_{name}", **values), view.say(f"page.curve_{name}"), live=True)
        for name in ("loss", "accuracy", "learning_rate", "grad_norm", "tokens_per_second")
    }
    numbers, folded = (
        [{"id": name, "label": view.say(f"page.number_{name}"), "help": view.say(f"page.number_{name}_help")} for name in names]
        for names in (NUMBERS, FOLDED)
    )
    files = [{"label": view.say(f"page.history_{table}"), "query": {"run": view.run.id, "table": table}} for table in HISTORY]
    numbers = blocks.numbers("numbers", numbers, view.say("page.numbers_more"), folded)
    curves_beside = blocks.column("curves", outcome(view), numbers, curve["accuracy"], curve["loss"], *unpin(view), *_slow(view))
    below = [
        blocks.row("more", curve["learning_rate"], curve["grad_norm"], curve["tokens_per_second"], css="thirds"),
        blocks.downloads("history", view.say("page.history_download"), "history", files),
    ]
    try:
        view.require_readable(view.run)
    except Refusal as refusal:  # numbers tell nothing of the sentences
        return {"step": None, "blocks": [blocks.text("private", refusal.say(view.language), css="pg-caption"), curves_beside, *below]}
    view.reference = True  # the same rows at every step: only the weights change
    try:
        probes = _look(view)
    except Refusal as refusal:
        if refusal.key != TOO_LONG:
            raise
        refused = blocks.column("attention", blocks.text("refused", refusal.say(view.language), css="pg-error"))
        return {"step": None, "blocks": [blocks.row("top", refused, curves_beside, css="halves"), *below]}
    picture, held = [blocks.text("recurrent", view.say("training.recurrent"), css="pg-caption")], {}
    if view.attends:
        picture = [*large(view, "learn-cross", part="cross"), head_choice.follow(view)]
        held = {"held": head_choice.named("cross", *head_choice.chosen(view, "cross"))}
    return {
        "step": view.look.step,
        **held,
        "blocks": [
            *_tour(view),
            blocks.row("top", blocks.column("attention", *picture), curves_beside, css="halves"),
            _probes(view, probes),
            *below,
        ],
    }


def _tour(view: View) -> list[dict]:
    """The way to the tour, for whoever has not begun it: the page's script knows. It goes through a Transformer only."""
    if not view.attends:
        return []
    return [blocks.button("tour", "move", view.say("tour.open"), to={"tab": "map", "stop": next(iter(STOPS))})]


def _slow(view: View) -> list[dict]:
    """The way to one step in slow motion, for models whose arithmetic is the paper's."""
    if view.run.experiment.model.variant != "none":
        return []
    return [blocks.button("slow", "move", view.say("step.see"), to={"tab": "step"})]


def _look(view: View) -> tuple[Probe, ...]:
    """Looks at the sentence, and returns the newest probes, both of one step: anew, where a newer picture was made in between."""
    for _ in range(TRIES):
        snapshot = view.run.snapshot
        view.look = view.reader.look(view.run, view.step, view.text, REFERENCE)
        if view.step is not None or (snapshot and snapshot.step == view.look.step):
            break
    return (snapshot and snapshot.probes) or view.run.probes


def _probes(view: View, newest: tuple[Probe, ...]) -> dict:
    """The probe sentences: the newest, or those at a step of the replay."""
    joint = " " if view.reader.units(view.run)[0] == "words" else ""
    if view.step is None:
        shown, said = newest, view.say("page.probes_caption")
    else:
        at, shown = read_probes(view.run, view.step)
        said = paragraph([view.say("page.probes_at", step=at), view.rounding_note(at)])
    return blocks.probes("probes", view.say("page.probes"), said, joint, [asdict(probe) for probe in shown])

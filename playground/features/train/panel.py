"""The Training tab: cross-attention on the page's sentence, beside the run's curves."""

from __future__ import annotations

from dataclasses import asdict

from playground.config import Refusal
from playground.features.shared import blocks, heads, panels
from playground.features.shared.heads import draw_large_head
from playground.features.shared.queries.reader import REFERENCE
from playground.features.shared.selected_runs import unpin_button, with_pinned
from playground.features.shared.view import View
from playground.features.train import figure as curves, kinds
from playground.features.train.outcome import build_outcome
from playground.features.train.query import read_probes
from playground.lessons.tour import STOPS
from playground.runs.history import Probe
from playground.runs.recording import BRIEF
from playground.words import paragraph

HISTORY = ("steps", "validations")  # its tables to download
TOO_LONG = "runs.too_long"  # refuses the sentence only, not the curves
MAX_TRIES = 3  # to read sentence and probes from one snapshot
PRESENTED_CAPTION, MIN_CURVE = 300, 150  # px: a presented figure's caption; least height of a legible curve
NUMBERS, FOLDED = ("exact", "tokens", "loss"), ("seconds", "left", "speed")


@panels.declare("training", "train", 1)
def panel(view: View) -> dict:
    empty_figures = view.draw(curves.skeletons, steps=view.run.steps)
    if view.presented:  # leaves room for the caption
        empty_figures["accuracy"]["layout"]["height"] = min(max(view.page[1] - PRESENTED_CAPTION, MIN_CURVE), curves.HEIGHT)
    figures = with_pinned(view, empty_figures)
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
    numbers = kinds.numbers("numbers", numbers, view.say("page.numbers_more"), folded)
    curve_column = blocks.column(
        "curves", build_outcome(view), numbers, curve["accuracy"], curve["loss"], *unpin_button(view), *_link_step(view)
    )
    below = [
        blocks.row("more", curve["learning_rate"], curve["grad_norm"], curve["tokens_per_second"], css="thirds"),
        blocks.downloads("history", view.say("page.history_download"), "history", files),
    ]
    try:
        view.require_readable(view.run)
    except Refusal as refusal:  # the numbers reveal no sentence
        return {"step": None, "blocks": [blocks.text("private", refusal.say(view.language), css="pg-caption"), curve_column, *below]}
    view.reference = True  # the same rows at every step: only the weights change
    try:
        probes = _load_sentence(view)
    except Refusal as refusal:
        if refusal.key != TOO_LONG:
            raise
        refused = blocks.column("attention", blocks.text("refused", refusal.say(view.language), css="pg-error"))
        return {"step": None, "blocks": [blocks.row("top", refused, curve_column, css="halves"), *below]}
    attention_blocks, held = [blocks.text("recurrent", view.say("training.recurrent"), css="pg-caption")], {}
    if view.attends:
        attention_blocks = [*draw_large_head(view, "learn-cross", part="cross"), heads.build_follow_choice(view)]
        held = {"held": heads.format_head("cross", *heads.choose_head(view, "cross"))}
    return {
        "step": view.look.step,
        **held,
        "blocks": [
            *_link_tour(view),
            blocks.row("top", blocks.column("attention", *attention_blocks), curve_column, css="halves"),
            _build_probes(view, probes),
            *below,
        ],
    }


def _link_tour(view: View) -> list[dict]:
    """Builds the button to the tour, which only covers Transformers; the page's script hides it once the tour is begun."""
    if not view.attends:
        return []
    return [blocks.button("tour", "move", view.say("tour.open"), to={"tab": "map", "stop": next(iter(STOPS))})]


def _link_step(view: View) -> list[dict]:
    """Builds the button to one training step in slow motion, for models without a variant."""
    if view.run.experiment.model.variant != "none":
        return []
    return [blocks.button("slow", "move", view.say("step.see"), to={"tab": "step"})]


def _load_sentence(view: View) -> tuple[Probe, ...]:
    """Sets `view.look` and returns the newest probes, both of the same step: retried when a newer snapshot was made in between."""
    for _ in range(MAX_TRIES):
        snapshot = view.run.snapshot
        view.look = view.reader.look(view.run, view.step, view.text, REFERENCE)
        if view.step is not None or (snapshot and snapshot.step == view.look.step):
            break
    return (snapshot and snapshot.probes) or view.run.probes


def _build_probes(view: View, newest: tuple[Probe, ...]) -> dict:
    """Builds the probe sentences: the newest, or those of a replay step."""
    joiner = " " if view.reader.units(view.run)[0] == "words" else ""
    if view.step is None:
        probes, caption = newest, view.say("page.probes_caption")
    else:
        at, probes = read_probes(view.run, view.step)
        caption = paragraph([view.say("page.probes_at", step=at), view.rounding_note(at)])
    return kinds.probes("probes", view.say("page.probes"), caption, joiner, [asdict(probe) for probe in probes])

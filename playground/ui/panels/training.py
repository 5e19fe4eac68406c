"""The first tab: where the model looks for each word, beside the curves of how it learnt to."""

from __future__ import annotations

from dataclasses import asdict

from playground.figures import curves
from playground.queries.probes import probes_at
from playground.runs.recording import BRIEF
from playground.ui import blocks
from playground.ui.panels.attention import large
from playground.ui.selected_runs import unpin, with_pinned
from playground.ui.view import View

HISTORY = ("steps", "validations")  # its tables
NUMBERS = ("exact", "tokens", "loss", "seconds", "left", "speed")


def panel(view: View) -> dict:
    figures = with_pinned(view, view.draw(curves.skeletons, steps=view.run.steps))
    values = {"brief": min(BRIEF, view.run.experiment.data.validation_size)}
    curve = {
        name: blocks.figure(name, figures[name], view.say(f"page.caption_{name}", **values), view.say(f"page.curve_{name}"), live=True)
        for name in ("loss", "accuracy", "learning_rate", "grad_norm", "tokens_per_second")
    }
    numbers = [{"id": name, "label": view.say(f"page.number_{name}"), "help": view.say(f"page.number_{name}_help")} for name in NUMBERS]
    files = [{"label": view.say(f"page.history_{table}"), "query": {"run": view.run.id, "table": table}} for table in HISTORY]
    picture = large(view, "learn-cross", part="cross")
    return {
        "step": view.look.step,
        "blocks": [
            blocks.numbers("numbers", numbers),
            blocks.row(
                "top", blocks.column("attention", *picture), blocks.column("curves", curve["loss"], curve["accuracy"]), css="halves"
            ),
            *unpin(view),
            _probes(view),
            blocks.row("more", curve["learning_rate"], curve["grad_norm"], curve["tokens_per_second"], css="thirds"),
            blocks.downloads("history", view.say("page.history_download"), "history", files),
        ],
    }


def _probes(view: View) -> dict:
    """The probe sentences: now, which the page has from the stream, or at a step of the replay."""
    joint = " " if view.reader.units(view.run)[0] == "words" else ""
    if view.step is None:
        return blocks.probes("probes", view.say("page.probes"), view.say("page.probes_caption"), joint)
    at, shown = probes_at(view.run, view.step)
    return blocks.probes("probes", view.say("page.probes"), view.say("page.probes_at", step=at), joint, [asdict(probe) for probe in shown])

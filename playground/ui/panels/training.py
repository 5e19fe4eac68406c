"""The first tab: where the model looks for each word, beside the curves of how it learnt to."""

from __future__ import annotations

from dataclasses import asdict

from playground.figures import curves
from playground.queries.probes import probes_at
from playground.runs.recording import BRIEF
from playground.ui import blocks
from playground.ui.panels.attention import large
from playground.ui.view import View

NUMBERS = ("exact", "tokens", "loss", "seconds", "left", "speed")


def panel(view: View) -> dict:
    figures = curves.skeletons(steps=view.run.steps, dark=view.dark, labels=view.labels)
    values = {"brief": min(BRIEF, view.run.experiment.data.validation_size)}
    curve = {
        name: blocks.figure(name, figures[name], view.say(f"page.caption_{name}", **values), view.say(f"page.curve_{name}"), live=True)
        for name in ("loss", "accuracy", "learning_rate", "grad_norm", "tokens_per_second")
    }
    numbers = {
        "kind": "numbers",
        "id": "numbers",
        "items": [{"id": name, "label": view.say(f"page.number_{name}"), "help": view.say(f"page.number_{name}_help")} for name in NUMBERS],
    }
    units = view.reader.units(view.run)
    probes = {
        "kind": "probes",
        "id": "probes",
        "title": view.say("page.probes"),
        "caption": view.say("page.probes_caption"),
        "joint": " " if units[0] == "words" else "",
    }
    if view.step is not None:
        at, shown = probes_at(view.run, view.step)
        probes |= {"rows": [asdict(probe) for probe in shown], "caption": view.say("page.probes_at", step=at)}
    picture = large(view, "learn-cross", part="cross")
    return {
        "step": view.look.step,
        "blocks": [
            numbers,
            blocks.row(
                "top", blocks.column("attention", *picture), blocks.column("curves", curve["loss"], curve["accuracy"]), css="halves"
            ),
            probes,
            blocks.row("more", curve["learning_rate"], curve["grad_norm"], curve["tokens_per_second"], css="thirds"),
        ],
    }

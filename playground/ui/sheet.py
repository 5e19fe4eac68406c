"""How the chosen number came to be, as blocks: a table of terms whose labels lead to where they came from, and the sum."""

from __future__ import annotations

import re

from playground.inspection.arithmetic import Derivation, Label
from playground.runs.inside import Inside
from playground.ui import blocks as make
from playground.ui.view import View

SIGNS = {"product": "×", "exp": "−", "square": "−"}


def blocks(view: View, found: Inside, derivation: Derivation | None, cell: str, secret: bool) -> list[dict]:
    """The calculation of the chosen cell, which is called `cell`; a sentence that invites to choose one when none is."""
    if derivation is None:
        return [make.text("invite", view.say("map.invite"), css="map-invite")]
    return [_sheet(view, found, derivation, cell, secret)]


def _sheet(view: View, found: Inside, derivation: Derivation, cell: str, secret: bool) -> dict:
    """`answer` is only for the page's script to compare with while it is `secret`: wherever else it would stand, there is a "?"."""

    def seen(text: str) -> str:
        return re.sub(rf"(?<![\d.]){re.escape(derivation.result)}(?![\d.])", "?", text) if secret else text

    return {
        "kind": "sheet",
        "id": "sheet",
        "title": view.say("map.sheet_title", cell=cell),
        "secret": secret,
        "answer": float(derivation.shown),
        "shown": "" if secret else derivation.shown,
        "sign": SIGNS.get(derivation.operation, ""),
        "head": [view.say(f"map.sheet_{derivation.operation}_{side}") for side in ("left", "right", "part")] if derivation.terms else [],
        "terms": [
            {
                "left": _label(view, found, term.left),
                "left_value": term.left_value,
                "right": _label(view, found, term.right) if term.right else None,
                "right_value": term.right_value,
                "part": seen(term.part),
            }
            for term in derivation.terms
        ],
        "leads": [{"label": _label(view, found, lead.label), "value": seen(lead.value)} for lead in derivation.leads],
        "steps": [
            {"why": view.say(step.key, **step.values), "text": seen(step.text), "result": seen(step.result)} for step in derivation.steps
        ],
        "words": {name: view.say(f"map.sheet_{name}") for name in WORDS},
    }


WORDS = ("hide", "show", "guess", "check", "right", "higher", "lower", "no_number", "terms", "equals", "walk")


def _label(view: View, found: Inside, label: Label) -> dict:
    """What a number is called and, where the model computed it, the way there."""
    name = {"text": label.text, "title": view.say(f"map.term_{label.name}")}
    if label.stage in found.stages:
        stage = found.stages[label.stage]
        *head, row, col = label.index if stage.values.ndim > 1 else (*label.index, 0)
        name["to"] = {"stage": label.stage, "row": row, "col": col}
        if head:
            name["to"] |= {"head": head[0] + 1, "layer": view.whole("layer", 1, 1, 6)}
    elif label.parameter:
        name["title"] += f" · {label.parameter}"
    return name

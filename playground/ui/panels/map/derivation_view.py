"""How the chosen number came to be, as blocks: a table of terms whose labels lead to where they came from, and the sum."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from playground.inspection.arithmetic import Derivation, Label
from playground.queries.activations import SentenceActivations
from playground.ui import blocks as make
from playground.ui.panels import head_choice
from playground.ui.view import View

SIGNS = {"product": "×", "gradient": "×", "exp": "−", "square": "−"}
SIDES = ("left", "right", "part")
WORDS = ("hide", "show", "guess", "check", "right", "higher", "lower", "no_number", "terms", "walk")


def blocks(view: View, found: SentenceActivations, derivation: Derivation | None, cell: str, secret: bool, brief: bool) -> list[dict]:
    """The calculation of the chosen cell, which is called `cell`; a sentence that invites to choose one when none is. On the tour, where
    all is `brief`, the question is the tour's own."""
    if derivation is None:
        return [make.text("invite", view.say("map.invite"), css="map-invite")]
    title, label = view.say("map.sheet_title", cell=cell), partial(_label, view, found)
    return [sheet(view, derivation, title, label, secret=secret, question=not brief, still=view.number("row") is None)]


def asks(derivation: Derivation | None) -> bool:
    """Whether there is something to calculate: a number that is only looked up or copied is no question."""
    return derivation is not None and derivation.steps[-1].text != derivation.result


def sheet(
    view: View, derivation: Derivation, title: str, label: Callable[[Label], dict], own: str = "map.sheet_equals",
    secret: bool = False, question: bool = True, still: bool = False,
) -> dict:  # fmt: skip
    """A derivation; `label` says what each of its numbers is called, the words `own` whose number it comes to. While it is `secret`, the
    last line is left to the student, and `answer` is only for the page's script to compare with; without `question` nobody is asked.
    `still`: the page doesn't scroll to it."""
    heads = {side: view.say(f"map.sheet_{derivation.operation}_{side}") for side in SIDES} if derivation.terms else {}
    steps = [
        {"why": view.say(step.key, **step.values), "text": _named(step.text, heads), "result": step.result} for step in derivation.steps
    ]
    if secret:
        steps[-1] |= {"text": "", "result": "?"}
    return make.sheet(
        "sheet",
        title,
        secret=secret,
        answer=float(derivation.recorded),
        asks=question and asks(derivation),
        equals="" if secret else _equals(view, derivation, own),
        sign=SIGNS.get(derivation.operation, ""),
        head=list(heads.values()),
        terms=[
            {
                "left": label(term.left),
                "left_value": term.left_value,
                "right": label(term.right) if term.right else None,
                "right_value": term.right_value,
                "part": term.part,
            }
            for term in derivation.terms
        ],
        leads=[{"label": label(lead.label), "value": lead.value} for lead in derivation.leads],
        steps=steps,
        still=still,
        words={name: view.say(f"map.sheet_{name}") for name in WORDS} | {"count": view.say("map.sheet_count", count=len(derivation.terms))},
    )


def _named(text: str, heads: Mapping[str, str]) -> str:
    """A line in which the columns of the table have the names that stand over them."""
    columns = {"Σ left": f"Σ {heads['left']}", "max left": f"max {heads['left']}", "Σ": f"Σ {heads['part']}"} if heads else {}
    return re.sub("|".join(columns), lambda name: columns[name[0]], text) if columns else text


def _equals(view: View, derivation: Derivation, own: str) -> str:
    """The model's own number. The last digits may differ: the sheet goes on with what it has printed."""
    same = derivation.recorded == derivation.result
    return view.say(own if same else f"{own}_nearly", value=derivation.recorded.replace("-", "−"))


def _label(view: View, found: SentenceActivations, label: Label) -> dict:
    """What a number is called and, where the model computed it, the way there."""
    name = {"text": label.text, "title": view.say(f"map.term_{label.name}")}
    if label.stage in found.stages:
        stage = found.stages[label.stage]
        *head, row, col = label.index if stage.values.ndim > 1 else (*label.index, 0)
        name["to"] = {"stage": label.stage, "row": row, "col": col}
        if head:
            name["to"] |= {"head": head[0] + 1, "layer": head_choice.chosen(view, view.part)[0] + 1}
    elif label.parameter:
        name["title"] += f" · {label.parameter}"
    return name

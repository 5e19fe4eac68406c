"""The derivation of the chosen number as blocks: a table of terms whose labels link to their sources, and the sum."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypedDict

from playground.features.shared import blocks as make, heads as head_choice
from playground.features.shared.blocks.kind import kind
from playground.features.shared.queries.activations import SentenceActivations
from playground.features.shared.view import View
from playground.inspection.arithmetic import Derivation, Label

SIGNS = {"product": "×", "gradient": "×", "exp": "−", "square": "−"}
SIDES = ("left", "right", "part")
WORDS = ("hide", "show", "guess", "check", "right", "higher", "lower", "no_number", "terms", "walk")


class Meaning(TypedDict):
    text: str
    title: str


class Way(Meaning, total=False):
    """A number's name and, if the model computed it, the link to it; if it was learned, its place, for an `editor` beside it."""

    to: dict[str, str | int]
    edit: str


class Term(TypedDict):
    left: Way
    left_value: str
    right: Way | None
    right_value: str
    part: str


class Lead(TypedDict):
    label: Way
    value: str


class Calculation(TypedDict):
    why: str
    text: str
    result: str


@kind
def sheet(
    id: str,
    title: str,
    secret: bool,
    answer: float,
    asks: bool,
    equals: str,
    sign: str,
    head: list[str],
    terms: list[Term],
    leads: list[Lead],
    steps: list[Calculation],
    words: dict[str, str],
    still: bool = False,
    closed: bool = False,
):
    """The derivation of one number. While it is `secret` its last step is a question, and `answer` only for the page to compare with; it
    `asks` if there is something to calculate. A `closed` one opens when its number was read off. The page scrolls to a new one, unless it
    is `still`: not requested."""


def build_sums(view: View, forward: SentenceActivations, derivation: Derivation | None, cell: str, secret: bool, brief: bool) -> list[dict]:
    """Builds the calculation of the chosen `cell`, or an invitation to choose one. With `brief` the tour asks the question itself, and the
    calculation is closed until then."""
    if derivation is None:
        return [make.text("invite", view.say("map.invite"), css="map-invite")]
    title, label, mode = view.say("map.sheet_title", cell=cell), partial(_build_label, view, forward), "closed" if brief else "question"
    return [build_sheet(view, derivation, title, label, secret=secret, mode=mode, still=view.number("row") is None)]


def has_question(derivation: Derivation | None) -> bool:
    """Returns whether there is something to calculate: not for a number that is only looked up or copied."""
    return derivation is not None and derivation.steps[-1].text != derivation.result


def build_sheet(
    view: View, derivation: Derivation, title: str, label: Callable[[Label], dict], own: str = "map.sheet_equals",
    secret: bool = False, mode: str = "question", still: bool = False,
) -> dict:  # fmt: skip
    """Builds a derivation; `label` labels its numbers, `own` is the words key of the result. When `secret`, the last line is left to the
    student, and `answer` is only for the page's script. By its `mode` it asks a "question", is "open", or "closed" until
    the tour's question is answered. `still`: the page doesn't scroll to it."""
    is_whole = all(term.left.name != "rest" for term in derivation.terms)  # else a line is the sum of many
    heads = {side: view.say(f"map.sheet_{derivation.operation}_{side}") for side in SIDES} if derivation.terms else {}
    steps = [
        {"why": view.say(step.key, **step.values), "text": _set_heads(step.text, heads), "result": step.result} for step in derivation.steps
    ]
    if secret:
        steps[-1] |= {"text": "", "result": "?"}
    return sheet(
        "sheet",
        title,
        secret=secret,
        answer=float(derivation.recorded),
        asks=mode == "question" and has_question(derivation),
        closed=mode == "closed",
        equals="" if secret else _write_equals(view, derivation, own),
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
        words={name: view.say(f"map.sheet_{name}") for name in WORDS}
        | {"count": view.say("map.sheet_count", count=len(derivation.terms)) if is_whole else ""},
    )


def _set_heads(text: str, heads: Mapping[str, str]) -> str:
    """Replaces the columns of a formula line by their headings."""
    columns = {"Σ left": f"Σ {heads['left']}", "max left": f"max {heads['left']}", "Σ": f"Σ {heads['part']}"} if heads else {}
    return re.sub("|".join(columns), lambda name: columns[name[0]], text) if columns else text


def _write_equals(view: View, derivation: Derivation, own: str) -> str:
    """Writes the model's own number, whose last digits may differ: the sheet continues with its printed digits."""
    same = derivation.recorded == derivation.result
    return view.say(own if same else f"{own}_nearly", value=derivation.recorded.replace("-", "−"))


def _build_label(view: View, forward: SentenceActivations, label: Label) -> dict:
    """Builds a number's label with, if the model computed it, a link to it."""
    entry = {"text": label.text, "title": view.say(f"map.term_{label.name}")}
    if label.stage in forward.stages:
        stage = forward.stages[label.stage]
        *head, row, col = label.index if stage.values.ndim > 1 else (*label.index, 0)
        entry["to"] = {"stage": label.stage, "row": row, "col": col}
        if head:
            entry["to"] |= {"head": head[0] + 1, "layer": head_choice.choose_head(view, view.part)[0] + 1}
    elif label.parameter:
        entry |= {"title": f"{entry['title']} · {label.parameter}", "edit": find_target(label)}
    return entry


def find_target(label: Label) -> str:
    """Returns the place of a learned number as the cursor's `edits` name it."""
    return f"{label.parameter}:{','.join(map(str, label.torch_index))}"

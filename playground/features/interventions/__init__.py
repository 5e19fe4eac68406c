"""The Interventions tab: heads switched off, another memory, one row edited. Here: one row of cross-attention edited by hand, the weights
of a head in one decoding step, and the prediction they lead to.

Its blocks: switches for heads, and one row of attention.
"""

from typing import Literal, TypedDict

import numpy as np

from playground.features.interventions import figure as pictures
from playground.features.interventions.query import InterventionResult
from playground.features.shared import blocks
from playground.features.shared.blocks.kind import Hue, Shades, kind
from playground.features.shared.figures.graph import short
from playground.features.shared.heads import build_small_heads, choose_head, compute_mask
from playground.features.shared.view import View, texts
from playground.inspection.interventions import HeadId, WeightEdit
from playground.words import paragraph


class Switch(TypedDict):
    id: str
    name: str
    weights: list[list[float]] | None


class SwitchLayer(TypedDict):
    label: str
    all: str
    heads: list[Switch]


class SwitchPart(TypedDict):
    part: Hue
    label: str
    all: str
    mask: list[list[int]]
    layers: list[SwitchLayer]


@kind
def switches(id: str, label: str, none: str, parts: list[SwitchPart], off: list[str], colours: Shades):
    """Every head as a switch; those in `off` are switched off. `all` and `none` label the buttons that switch many."""


class Cell(TypedDict):
    token: str
    before: float
    after: float
    state: Literal["", "masked", "given"]
    state_label: str
    name: str


class CellAct(TypedDict):
    label: str
    cells: str
    on: bool


class CellSlider(TypedDict):
    """The cursor's `cells` are `first`, the slider's number, then `rest`."""

    label: str
    value: float
    first: str
    rest: str


@kind
def cells(
    id: str,
    title: str,
    label: list[str],
    place: dict[str, int],
    cells: list[Cell],
    chosen: int | None,
    hint: str,
    acts: list[CellAct],
    slider: CellSlider | None,
    sum: str,
):
    """One row of attention as clickable bars, without and with a change; `acts` and `slider` change the `chosen` one."""


def build_chooser(view: View, effect: InterventionResult) -> list[dict]:
    """Builds the choice of head."""
    chosen, mask = _read_place(view, effect)[:2], compute_mask(view, "cross")
    return [build_small_heads(view, "row-heads", view.say("interventions.row_heads"), chosen, effect.before.cross, mask)]


def build_row(view: View, effect: InterventionResult) -> list[dict]:
    """Builds the choice of step, a pressable bar for each source token, and the predictions."""
    *_, at = _read_place(view, effect)
    return [
        blocks.slider("row-step", "q", view.say("interventions.row_step"), at, _find_last_step(effect), first=1),
        _build_cells(view, effect),
        *_build_elsewhere(view, effect),
        *_build_notes(view, effect),
        _build_step(view, effect),
    ]


def _build_step(view: View, effect: InterventionResult) -> dict:
    """Draws the predictions of the edited step without and with the edit, all else equal; without an edit, those of the chosen step."""
    *_, at = _read_place(view, effect)
    if effect.step:
        at = effect.change.edit.row
        names, without, edited = texts(effect.step.tokens), effect.step.without, effect.step.edited
    else:
        likely = effect.unedited.likely[at]
        names, without = [token.text for token in likely], [token.probability for token in likely]
        edited = without
    before, after = names[int(np.argmax(without))], names[int(np.argmax(edited))]
    numbers = {"p_before": short(without[names.index(after)]), "p_after": short(max(edited))}
    if not effect.step:
        caption = view.say("interventions.row_plain", before=before, p_before=short(max(without)))
    else:
        caption = view.say(
            "interventions.row_says_same" if before == after else "interventions.row_says_other", before=before, after=after, **numbers
        )
    # not the page's before and after: this step differs by the edit alone, the page by all changes
    labels = view.labels | {"before": view.say("interventions.row_without"), "after": view.say("interventions.row_with")}
    picture = view.draw(pictures.pairs, names, without, edited, share=2, labels=labels)
    return blocks.figure("row-top", picture, caption, view.say("interventions.row_top", step=at + 1))


def _find_last_step(effect: InterventionResult) -> int:
    """Returns the last step that exists both with and without the edit."""
    return min(len(effect.unedited.targets), len(effect.after.targets)) - 1


def _read_place(view: View, effect: InterventionResult) -> tuple[int, int, int]:
    """Returns (layer, head, step) of the cursor, within the model and its output."""
    layer, head = choose_head(view, "cross")
    return layer, head, view.number("q", _find_last_step(effect)) or 0


def _build_cells(view: View, effect: InterventionResult) -> dict:
    place = layer, head, at = _read_place(view, effect)
    names = texts(effect.before.source)
    before, after = effect.unedited.cross[place], effect.after.cross[place]
    edit = effect.change.edit
    edit = edit if edit and edit.place == place else WeightEdit(*place)
    k = view.number("k")
    actions, slider = [], None
    if k is not None and k < len(names):
        free = edit.free(k)
        actions = [
            {"label": view.say("interventions.row_only"), "cells": str(WeightEdit(*place, k)), "on": edit.column == k and edit.weight == 1},
            {"label": view.say("interventions.row_mask"), "cells": str(edit.mask(k)), "on": k in edit.masked},
            {"label": view.say("interventions.row_free"), "cells": str(free), "on": free == edit},
        ]
        first, _, rest = str(edit.give(k, 0.5)).partition("-0.5")
        slider = {"label": view.say("interventions.row_weight"), "value": round(float(after[k]), 2), "first": f"{first}-", "rest": rest}
    states = dict.fromkeys(edit.masked, "masked") | ({} if edit.column is None else {edit.column: "given"})
    outputs = {name: look.targets[at].text for name, look in (("token", effect.unedited), ("other", effect.after))}
    title = "interventions.row_title" if outputs["token"] == outputs["other"] else "interventions.row_title_other"
    return cells(
        "row-cells",
        view.say(title, layer=layer + 1, head=head + 1, step=at + 1, **outputs),
        label=[view.say("interventions.row_without"), view.say("interventions.row_with")],
        place={"layer": layer + 1, "head": head + 1, "q": at},
        cells=[
            {
                "token": name,
                "before": float(before[column]),
                "after": float(after[column]),
                "state": states.get(column, ""),
                "state_label": view.say(f"interventions.row_{states[column]}") if column in states else "",
                "name": view.say("interventions.row_cell", token=name, before=short(before[column]), after=short(after[column])),
            }
            for column, name in enumerate(names)
        ],
        chosen=k if actions else None,
        hint=view.say("interventions.row_hint"),
        acts=actions,
        slider=slider,
        sum=view.say("interventions.row_sum", sum=f"{float(after.sum()):.2f}"),
    )


def _build_elsewhere(view: View, effect: InterventionResult) -> list[dict]:
    """Builds the notice that another row than the shown one is edited, and the way there."""
    edit = effect.change.edit
    if not edit or edit.place == _read_place(view, effect) or edit.row > _find_last_step(effect):
        return []
    numbers = {"layer": edit.layer + 1, "head": edit.head + 1}
    notice = blocks.text("row-elsewhere-said", view.say("interventions.row_elsewhere", step=edit.row + 1, **numbers), css="pg-caption")
    way_there = blocks.button("row-there", "move", view.say("interventions.row_there"), to=numbers | {"q": edit.row})
    return [blocks.row("row-elsewhere", notice, way_there, css="controls")]


def _build_notes(view: View, effect: InterventionResult) -> list[dict]:
    """Builds the reasons why a change has no effect."""
    change, (layer, head, _) = effect.change, _read_place(view, effect)
    notes = []
    if change.edit and not effect.step:
        notes.append(view.say("interventions.row_far", step=change.edit.row + 1))
    if change.edit and effect.step and not effect.after.cross[change.edit.place].any():
        notes.append(view.say("interventions.row_nowhere"))
    if HeadId("cross", layer, head) in change.off:
        notes.append(view.say("interventions.row_off"))
    if (change.memory or effect.memory) != "whole":
        notes.append(view.say("interventions.row_squeezed"))
    return [blocks.text("row-notes", paragraph(notes), css="pg-warning")] if notes else []

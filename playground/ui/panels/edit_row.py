"""One look changed by hand: where a head of cross-attention looks in one decoding step, and what the model says instead."""

from __future__ import annotations

import numpy as np

from playground.figures import changes as pictures
from playground.figures.bars import short
from playground.inspection.interventions import Edit, HeadId
from playground.queries.interventions import InterventionResult
from playground.ui import blocks
from playground.ui.panels.attention import seen, small_heads
from playground.ui.panels.head_choice import chosen
from playground.ui.view import View, texts
from playground.words import paragraph


def chooser(view: View, found: InterventionResult) -> list[dict]:
    """The head, the step, and a bar for each source token that can be pressed."""
    layer, head, at = _place(view, found)
    return [
        small_heads(view, "row-heads", view.say("interventions.row_heads"), (layer, head), found.before.cross, seen(view, "cross")),
        blocks.slider("row-step", "q", view.say("interventions.row_step"), at, _last(found), first=1),
        _cells(view, found),
        *_elsewhere(view, found),
        *_notes(view, found),
    ]


def step(view: View, found: InterventionResult) -> list[dict]:
    """What the step of the edit says without it and with it, all else equal; without an edit, what the chosen step says."""
    *_, at = _place(view, found)
    if found.step:
        at = found.change.edit.row
        names, without, edited = texts(found.step.tokens), found.step.without, found.step.edited
    else:
        likely = found.unedited.likely[at]
        names, without = [token.text for token in likely], [token.probability for token in likely]
        edited = without
    before, after = names[int(np.argmax(without))], names[int(np.argmax(edited))]
    numbers = {"p_before": short(without[names.index(after)]), "p_after": short(max(edited))}
    if not found.step:
        said = view.say("interventions.row_plain", before=before, p_before=short(max(without)))
    else:
        said = view.say(
            "interventions.row_says_same" if before == after else "interventions.row_says_other", before=before, after=after, **numbers
        )
    picture = view.draw(pictures.pairs, names, without, edited, share=2, labels=_labels(view))
    return [blocks.figure("row-top", picture, said, view.say("interventions.row_top", step=at + 1))]


def _last(found: InterventionResult) -> int:
    """The last step that the sentence has with the edit and without it."""
    return min(len(found.unedited.targets), len(found.after.targets)) - 1


def _place(view: View, found: InterventionResult) -> tuple[int, int, int]:
    """(layer, head, step) the cursor is at, inside what the model has and wrote."""
    layer, head = chosen(view, "cross")
    return layer, head, view.number("q", _last(found)) or 0


def _labels(view: View) -> dict[str, str]:
    """The two sides of this step are not the two sides of the page where other things are changed as well: they have their own names."""
    return view.labels | {"before": view.say("interventions.row_without"), "after": view.say("interventions.row_with")}


def _cells(view: View, found: InterventionResult) -> dict:
    place = layer, head, at = _place(view, found)
    names = texts(found.before.source)
    before, after = found.unedited.cross[place], found.after.cross[place]
    edit = found.change.edit
    edit = edit if edit and edit.place == place else Edit(*place)
    k = view.number("k")
    acts, slider = [], None
    if k is not None and k < len(names):
        free = edit.free(k)
        acts = [
            {"label": view.say("interventions.row_only"), "cells": str(Edit(*place, k)), "on": edit.column == k and edit.weight == 1},
            {"label": view.say("interventions.row_mask"), "cells": str(edit.mask(k)), "on": k in edit.masked},
            {"label": view.say("interventions.row_free"), "cells": str(free), "on": free == edit},
        ]
        first, _, rest = str(edit.give(k, 0.5)).partition("-0.5")
        slider = {"label": view.say("interventions.row_weight"), "value": round(float(after[k]), 2), "first": f"{first}-", "rest": rest}
    states = dict.fromkeys(edit.masked, "masked") | ({} if edit.column is None else {edit.column: "given"})
    writes = {name: look.targets[at].text for name, look in (("token", found.unedited), ("other", found.after))}
    title = "interventions.row_title" if writes["token"] == writes["other"] else "interventions.row_title_other"
    return blocks.cells(
        "row-cells",
        view.say(title, layer=layer + 1, head=head + 1, step=at + 1, **writes),
        label=[view.say("interventions.row_without"), view.say("interventions.row_with")],
        place={"layer": layer + 1, "head": head + 1, "q": at},
        cells=[
            {
                "token": name,
                "before": float(before[column]),
                "after": float(after[column]),
                "state": states.get(column, ""),
                "said": view.say(f"interventions.row_{states[column]}") if column in states else "",
                "name": view.say("interventions.row_cell", token=name, before=short(before[column]), after=short(after[column])),
            }
            for column, name in enumerate(names)
        ],
        chosen=k if acts else None,
        hint=view.say("interventions.row_hint"),
        acts=acts,
        slider=slider,
        sum=view.say("interventions.row_sum", sum=f"{float(after.sum()):.2f}"),
    )


def _elsewhere(view: View, found: InterventionResult) -> list[dict]:
    """When another row than the shown one is changed: which one it is, and the way there."""
    edit = found.change.edit
    if not edit or edit.place == _place(view, found) or edit.row > _last(found):
        return []
    numbers = {"layer": edit.layer + 1, "head": edit.head + 1}
    said = blocks.text("row-elsewhere-said", view.say("interventions.row_elsewhere", step=edit.row + 1, **numbers), css="pg-caption")
    there = blocks.button("row-there", "move", view.say("interventions.row_there"), to=numbers | {"q": edit.row})
    return [blocks.row("row-elsewhere", said, there, css="controls")]


def _notes(view: View, found: InterventionResult) -> list[dict]:
    """Why a change shows nothing, where that is so."""
    asked, (layer, head, _) = found.change, _place(view, found)
    notes = []
    if asked.edit and not found.step:
        notes.append(view.say("interventions.row_far", step=asked.edit.row + 1))
    if asked.edit and found.step and not found.after.cross[asked.edit.place].any():
        notes.append(view.say("interventions.row_nowhere"))
    if HeadId("cross", layer, head) in asked.off:
        notes.append(view.say("interventions.row_off"))
    if (asked.memory or found.memory) != "whole":
        notes.append(view.say("interventions.row_squeezed"))
    return [blocks.text("row-notes", paragraph(notes), css="pg-warning")] if notes else []

"""What if: the same sentence before and after heads are switched off, the memory is squeezed or cut, or one look is changed by hand."""

from __future__ import annotations

from functools import partial

import numpy as np

from playground.config import BOS, SPECIAL_TOKENS
from playground.cursor import choices
from playground.figures import changes as pictures
from playground.figures.bars import short
from playground.figures.tokens import steps
from playground.inspection import differences, interventions
from playground.inspection.fact import Fact
from playground.inspection.interventions import MEMORIES, PARTS, Change, HeadId
from playground.queries.interventions import InterventionResult, compare_outputs
from playground.queries.results import SentenceTrace
from playground.ui import blocks
from playground.ui.panels import edit_row
from playground.ui.panels.attention import MOST_THUMBNAIL_CELLS, seen, shades
from playground.ui.view import View, texts, tokens
from playground.words import listed, paragraph

NAMED = 6  # heads that are named one by one


def panel(view: View) -> dict:
    found = compare_outputs(view.reader, view.run, view.step, view.text, change(view), view.reference)
    asked = found.change
    view.look = found.before
    row = view.choice("change") == "row"
    whats = [{"value": name, "label": view.say(f"interventions.what_{name}")} for name in choices("change")]
    chooser = edit_row.chooser(view, found) if row else [_switches(view, asked)]
    more = edit_row.step(view, found) if row else [_score(view, found)]
    return {
        "step": found.before.step,
        "blocks": [
            blocks.text("about", view.say("interventions.about"), css="pg-about"),
            blocks.row(
                "controls",
                blocks.choice("what", "change", view.say("interventions.what"), whats, "row" if row else "heads"),
                _memory(view, found),
                css="controls",
            ),
            *_in_force(view, asked, row),
            *_result(view, found),
            blocks.row(
                "main",
                blocks.column("chooser", *chooser),
                blocks.column("result", *more, _likely(view, found)),
                css="halves",
            ),
            *([] if row else [_importance(view, found)]),
            blocks.code("source", interventions.edit_weights if row else interventions.silence),
        ],
    }


def change(view: View) -> Change:
    """What the link asks to change."""
    return Change.parse(view.field("off"), view.choice("squeeze"), view.field("cells"))


def head_name(view: View, head: HeadId, key: str = "interventions.head_one") -> str:
    return view.say(key, part=view.say(f"interventions.part_{head.part}"), layer=head.layer + 1, head=head.head + 1)


def _memory(view: View, found: InterventionResult) -> dict:
    options = [{"value": "" if name == found.memory else name, "label": view.say(f"interventions.memory_{name}")} for name in MEMORIES]
    return blocks.choice("memory", "squeeze", view.say("interventions.memory"), options, found.change.memory or "")


def _in_force(view: View, asked: Change, row: bool) -> list[dict]:
    """Everything that is changed at the moment, in one sentence, and the way back."""
    if not asked:
        return [blocks.text("in-force", view.say("interventions.nothing_row" if row else "interventions.nothing"), css="pg-caption")]
    said = []
    if asked.off:
        off = [head for head in interventions.heads(view.run.experiment.model) if head in asked.off]
        names = listed(view.language, (head_name(view, head) for head in off[:NAMED]))
        said.append(view.say("interventions.off_more" if len(off) > NAMED else "interventions.off", heads=names, count=len(off) - NAMED))
    if asked.memory:
        said.append(view.say("interventions.changed_memory", memory=view.say(f"interventions.memory_{asked.memory}")))
    if asked.edit:
        edit = asked.edit
        said.append(view.say("interventions.changed_row", step=edit.row + 1, layer=edit.layer + 1, head=edit.head + 1))
    squeezed = []
    if asked.memory in ("mean", "cut"):
        squeezed = [blocks.text("squeezed", view.say(f"interventions.memory_{asked.memory}_about"), css="pg-caption")]
    undo = blocks.button("undo", "move", view.say("interventions.undo"), to={"off": "", "squeeze": "", "cells": ""})
    force = blocks.text("in-force", view.say("interventions.in_force", changes=view.say("interventions.and").join(said)), css="pg-cell")
    return [blocks.row("force", force, undo, css="controls"), *squeezed]


def _switches(view: View, asked: Change) -> dict:
    """Every head as a button that switches it off, with its attention in this sentence, by part and layer."""
    config, look = view.run.experiment.model, view.look
    small = sum(getattr(look, part).size for part in PARTS) <= MOST_THUMBNAIL_CELLS
    name = partial(head_name, view, key="interventions.head_long")
    parts = []
    for part in PARTS:
        weights = np.round(getattr(look, part), 2)  # (L, H, Q, K)
        layers = [
            {
                "label": view.say("interventions.layer", layer=layer + 1),
                "all": view.say("interventions.all_layer", part=view.say(f"interventions.part_{part}"), layer=layer + 1),
                "heads": [
                    {"id": str(head), "name": name(head), "weights": weights[layer, head.head].tolist() if small else None}
                    for head in (HeadId(part, layer, number) for number in range(config.n_heads))
                ],
            }
            for layer in range(len(weights))
        ]
        everything = view.say("interventions.all_part", part=view.say(f"interventions.part_{part}"))
        mask = seen(view, part).astype(int).tolist()
        parts.append({"part": part, "label": view.say(f"interventions.part_{part}"), "all": everything, "mask": mask, "layers": layers})
    return blocks.switches(
        "heads",
        view.say("interventions.heads"),
        none=view.say("interventions.none_off"),
        is_off=view.say("interventions.is_off"),
        parts=parts,
        off=[str(head) for head in interventions.heads(config) if head in asked.off],
        colours=shades(view),
    )


def _result(view: View, found: InterventionResult) -> list[dict]:
    """Both sentences, what differs marked in both, and in words."""
    ids = [[piece.id for piece in look.targets] for look in (found.before, found.after)]
    gone, new = differences.mark_changes(*ids)
    lines = [_line(view, "before", found.before, gone, "gone"), _line(view, "after", found.after, new, "new")]
    if found.before.references:
        answer = view.reader.pieces(view.run, found.before.references[0], "tgt")
        lines.append(
            {"name": "reference", "label": view.say("interventions.reference"), "tokens": tokens(answer), "verdict": "", "right": None}
        )
    facts = (differences.output_fact(*ids), differences.probability_fact(found.likely_before, found.likely_after, texts(found.fed)))
    said = [_say(view, fact) for fact in facts] if found.change else []
    said += [view.say("interventions.marks")] if any(gone) or any(new) else []
    return [
        blocks.compare("compare", lines),
        blocks.text("caption", paragraph([*said, view.step_note(found.before.step)]), css="pg-caption"),
    ]


def _say(view: View, fact: Fact) -> str:
    """Its probabilities as the pictures write them."""
    return view.say(fact.key, **{name: short(value) if isinstance(value, float) else value for name, value in fact.values.items()})


def _line(view: View, name: str, look: SentenceTrace, marked: list[bool], mark: str) -> dict:
    shown = tokens(look.targets, look.right, look.probabilities)
    right = None if look.right is None else look.finished and all(look.right)
    verdict = "" if right is None else view.say("interventions.right" if right else "interventions.wrong")
    return {
        "name": name,
        "label": view.say(f"interventions.{name}"),
        "long": view.say(f"interventions.{name}_long"),
        "tokens": [token | {"mark": mark if changed else ""} for token, changed in zip(shown, marked, strict=True)],
        "verdict": verdict if look.finished else paragraph([verdict, view.say("interventions.endless")]),
        "right": right,
    }


def _likely(view: View, found: InterventionResult) -> dict:
    """How likely each token of one and the same sentence is to both models."""
    written = texts(found.fed)
    picture = view.draw(
        pictures.pairs,
        steps([SPECIAL_TOKENS[BOS], *written[:-1]], written),
        found.likely_before,
        found.likely_after,
        chosen=view.row(len(found.fed)),
        share=2,
        labels=view.labels | {"pair_token": view.labels["lens_columns"]},
    )
    of = [
        {"value": name, "label": view.say(f"interventions.of_{feed}")} for name, feed in (("output", "output"), ("reference", "reference"))
    ]
    known = blocks.choice("of", "target", view.say("interventions.likely_of"), of, view.choice("target"))
    figure = blocks.figure("likely-pairs", picture, view.say("interventions.likely_about"), view.say("interventions.likely"))
    return blocks.column("likely", figure, *([known] if found.before.references else []))


def _score(view: View, found: InterventionResult) -> dict:
    """Before and after over many sentences: that takes longer, and comes later."""
    key = f"{_looked(view, found)} {found.change.memory} {bool(found.change.edit)}"
    return blocks.later("score", "score", view.say("interventions.score_waiting"), key)


def _importance(view: View, found: InterventionResult) -> dict:
    """Every head by itself, when the rest is shown."""
    if view.run.working and view.step is None:
        return blocks.text("importance-waits", view.say("interventions.while_training"), css="pg-caption")
    return blocks.later("importance", "importance", view.say("interventions.importance_waiting"), _looked(view, found))


def _looked(view: View, found: InterventionResult) -> str:
    """What both depend on."""
    off = "_".join(sorted(map(str, found.change.off)))
    return f"{view.run.id} {found.before.step} {off} {view.language} {view.dark} {view.width}"

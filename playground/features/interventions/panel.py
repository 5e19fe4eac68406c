"""The Interventions tab: the sentence before and after heads are switched off, memory is changed, or one row is edited."""

from functools import partial

import numpy as np

from playground.config import BOS, SPECIAL_TOKENS
from playground.features import interventions as kinds
from playground.features.interventions import edit_row, figure as pictures, patching
from playground.features.interventions.query import InterventionResult, compare_outputs
from playground.features.shared import blocks, panels
from playground.features.shared.decoding import build_comparison
from playground.features.shared.figures.tokens import steps
from playground.features.shared.heads import MAX_THUMBNAIL_CELLS, compute_joined_mask, compute_mask, pick_colours
from playground.features.shared.view import View, texts
from playground.inspection import interventions
from playground.inspection.interventions import MEMORIES, Change, HeadId
from playground.words import listed

MAX_NAMED = 6  # more are counted


@panels.declare("interventions", "use", 3, panels.FORMULA)
def panel(view: View) -> dict:
    changes = patching.list_changes(view)
    if (chosen := view.choice("change", changes)) == "patch":
        return patching.build_panel(view)
    effect = compare_outputs(view.reader, view.run, view.step, view.text, read_change(view), view.reference)
    change, fed = effect.change, texts(effect.fed)
    view.look = effect.before
    edits_row = chosen == "row"
    chooser_blocks = edit_row.build_chooser(view, effect) if edits_row else [_build_switches(view, change)]
    score_key = f"{_build_key(view, effect)} {change.memory} {bool(change.edit)}"
    score = blocks.later("score", "score", view.say("interventions.score_waiting"), score_key)
    result_blocks = edit_row.build_row(view, effect) if edits_row else [score]
    is_joint = view.run.experiment.model.alteration.decoder_only  # without an encoder output
    memories = [{"value": "" if name == effect.memory else name, "label": view.say(f"interventions.memory_{name}")} for name in MEMORIES]
    return {
        "step": effect.before.step,
        "blocks": [
            blocks.text("about", view.say("interventions.about"), css="pg-about"),
            blocks.row(
                "controls",
                view.offer("what", "change", "interventions.what", changes, chosen),
                None if is_joint else blocks.choice("memory", "squeeze", view.say("interventions.memory"), memories, change.memory or ""),
                css="controls",
            ),
            *_build_active_changes(view, change, edits_row),
            *build_comparison(view, (effect.before, effect.after), fed, (effect.likely_before, effect.likely_after), bool(change)),
            blocks.row(
                "main",
                blocks.column("chooser", *chooser_blocks),
                blocks.column("result", *result_blocks, _build_likely(view, effect)),
                css="halves",
            ),
            *([] if edits_row else [_build_importance(view, effect)]),
            blocks.code("source", interventions.edit_weights if edits_row else interventions.silence),
        ],
    }


def read_change(view: View) -> Change:
    """Reads the changes from the link."""
    return Change.parse(view.field("off"), view.choice("squeeze"), view.field("cells"))


def name_part(view: View, part: str) -> str:
    return view.say("interventions.part_joint" if view.run.experiment.model.alteration.decoder_only else f"interventions.part_{part}")


def name_head(view: View, head: HeadId, key: str = "interventions.head_one") -> str:
    return view.say(key, part=name_part(view, head.part), layer=head.layer + 1, head=head.head + 1)


def _build_active_changes(view: View, change: Change, edits_row: bool) -> list[dict]:
    """Builds a sentence with every active change, and the undo button."""
    if not change:
        return [blocks.text("in-force", view.say("interventions.nothing_row" if edits_row else "interventions.nothing"), css="pg-caption")]
    changes = []
    if change.off:
        off = [head for head in interventions.heads(view.run.experiment.model) if head in change.off]
        names = listed(view.language, (name_head(view, head) for head in off[:MAX_NAMED]))
        key = "interventions.off_more" if len(off) > MAX_NAMED else "interventions.off"
        changes.append(view.say(key, heads=names, count=len(off) - MAX_NAMED))
    if change.memory:
        changes.append(view.say("interventions.changed_memory", memory=view.say(f"interventions.memory_{change.memory}")))
    if change.edit:
        edit = change.edit
        changes.append(view.say("interventions.changed_row", step=edit.row + 1, layer=edit.layer + 1, head=edit.head + 1))
    memory_note = []
    if change.memory in ("mean", "cut"):
        memory_note = [blocks.text("squeezed", view.say(f"interventions.memory_{change.memory}_about"), css="pg-caption")]
    undo = blocks.button("undo", "move", view.say("interventions.undo"), to={"off": "", "squeeze": "", "cells": ""})
    active = blocks.text("in-force", view.say("interventions.in_force", changes=view.say("interventions.and").join(changes)), css="pg-cell")
    return [blocks.row("force", active, undo, css="controls"), *memory_note]


def _build_switches(view: View, change: Change) -> dict:
    """Builds a switch for every head, with its attention in this sentence, by part and layer."""
    config, look = view.run.experiment.model, view.look
    is_joint = config.alteration.decoder_only
    stacks = {part: look.joined if is_joint else getattr(look, part) for part in interventions.list_parts(config)}
    has_thumbnails = sum(stack.size for stack in stacks.values()) <= MAX_THUMBNAIL_CELLS
    name = partial(name_head, view, key="interventions.head_long")
    parts = []
    for part, stack in stacks.items():
        weights = np.round(stack, 2)  # (L, H, Q, K)
        layers = [
            {
                "label": view.say("interventions.layer", layer=layer + 1),
                "all": view.say("interventions.all_layer", part=name_part(view, part), layer=layer + 1),
                "heads": [
                    {"id": str(head), "name": name(head), "weights": weights[layer, head.head].tolist() if has_thumbnails else None}
                    for head in (HeadId(part, layer, number) for number in range(config.n_heads))
                ],
            }
            for layer in range(len(weights))
        ]
        part_label = view.say("interventions.all_part", part=name_part(view, part))
        mask = (compute_joined_mask(view) if is_joint else compute_mask(view, part)).astype(int).tolist()
        parts.append({"part": part, "label": name_part(view, part), "all": part_label, "mask": mask, "layers": layers})
    return kinds.switches(
        "heads",
        view.say("interventions.heads"),
        none=view.say("interventions.none_off"),
        is_off=view.say("interventions.is_off"),
        parts=parts,
        off=[str(head) for head in interventions.heads(config) if head in change.off],
        colours=pick_colours(view),
    )


def _build_likely(view: View, effect: InterventionResult) -> dict:
    """Draws the probability of each token of one sentence under both models."""
    output = texts(effect.fed)
    picture = view.draw(
        pictures.pairs,
        steps([SPECIAL_TOKENS[BOS], *output[:-1]], output),
        effect.likely_before,
        effect.likely_after,
        chosen=view.row(len(effect.fed)),
        share=2,
        labels=view.labels | {"pair_token": view.labels["lens_columns"]},
    )
    options = [
        {"value": name, "label": view.say(f"interventions.of_{feed}")} for name, feed in (("output", "output"), ("reference", "reference"))
    ]
    of_choice = blocks.choice("of", "target", view.say("interventions.likely_of"), options, view.choice("target"))
    figure = blocks.figure("likely-pairs", picture, view.say("interventions.likely_about"), view.say("interventions.likely"))
    return blocks.column("likely", figure, *([of_choice] if effect.before.references else []))


def _build_importance(view: View, effect: InterventionResult) -> dict:
    """Builds the deferred block of each head's importance."""
    if view.run.working and view.step is None:
        return blocks.text("importance-waits", view.say("interventions.while_training"), css="pg-caption")
    return blocks.later("importance", "importance", view.say("interventions.importance_waiting"), _build_key(view, effect))


def _build_key(view: View, effect: InterventionResult) -> str:
    """Builds the key of the deferred blocks: all they depend on."""
    off = "_".join(sorted(map(str, effect.change.off)))
    return f"{view.run.id} {effect.before.step} {off} {view.language} {view.dark} {view.width}"

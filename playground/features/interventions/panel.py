"""The Interventions tab: the sentence before and after heads are switched off, memory is changed, or one row is edited. Then, since both
take longer: the cost of the change over many sentences, and each head's importance."""

from functools import partial

import numpy as np

from playground.config import BOS, SPECIAL_TOKENS
from playground.features.interventions import build_chooser, build_row, figure as pictures, patching, switches
from playground.features.interventions.query import Importance, InterventionResult, compare_outputs, measure_importance
from playground.features.shared import blocks, panels
from playground.features.shared.decoding import build_comparison
from playground.features.shared.figures.tokens import steps
from playground.features.shared.heads import MAX_THUMBNAIL_CELLS, compute_joined_mask, compute_mask, pick_colours
from playground.features.shared.queries.validation import evaluate_change
from playground.features.shared.view import View, format_share, texts
from playground.inspection import Fact, interventions
from playground.inspection.interventions import MEMORIES, Change, HeadId, importance_facts, list_parts, points_of
from playground.words import listed, paragraph, percentage

MAX_NAMED = 6  # more are counted
SCORE_HEIGHT, IMPORTANCE_HEIGHT = 180, 253  # px: of the score with its sentence, and of each head's importance without its rows


@panels.declare("interventions", "use", 3, panels.FORMULA)
def panel(view: View) -> dict:
    changes = patching.list_changes(view)
    if (chosen := view.choice("change", changes)) == "patch":
        return patching.build_panel(view)
    effect = compare_outputs(view.reader, view.run, view.step, view.text, read_change(view), view.reference)
    change, fed = effect.change, texts(effect.fed)
    view.look = effect.before
    edits_row = chosen == "row"
    chooser_blocks = build_chooser(view, effect) if edits_row else [_build_switches(view, change)]
    score_key = f"{_build_key(view, effect)} {change.memory} {bool(change.edit)}"
    score = blocks.later("score", "score", view.say("interventions.score_waiting"), score_key, SCORE_HEIGHT)
    result_blocks = build_row(view, effect) if edits_row else [score]
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
    return switches(
        "heads",
        view.say("interventions.heads"),
        none=view.say("interventions.none_off"),
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
    options = [{"value": feed, "label": view.say(f"interventions.of_{feed}")} for feed in ("output", "reference")]
    of_choice = blocks.choice("of", "target", view.say("interventions.likely_of"), options, view.choice("target"))
    figure = blocks.figure("likely-pairs", picture, view.say("interventions.likely_about"), view.say("interventions.likely"))
    return blocks.column("likely", figure, *([of_choice] if effect.before.references else []))


def _build_importance(view: View, effect: InterventionResult) -> dict:
    """Builds the deferred block of each head's importance."""
    if view.run.working and view.step is None:
        return blocks.text("importance-waits", view.say("interventions.while_training"), css="pg-caption")
    config = view.run.experiment.model
    rows = config.n_heads * max(map(config.attention_layers, list_parts(config)))
    tall = IMPORTANCE_HEIGHT + min(pictures.HEAD_ROW * rows, pictures.TALLEST)
    return blocks.later("importance", "importance", view.say("interventions.importance_waiting"), _build_key(view, effect), tall)


def _build_key(view: View, effect: InterventionResult) -> str:
    """Builds the key of the deferred blocks: all they depend on."""
    off = "_".join(sorted(map(str, effect.change.off)))
    return f"{view.run.id} {effect.before.step} {off} {view.language} {view.dark} {view.width}"


@panels.declare("score", needs=panels.ATTENTION)
def build_score(view: View) -> dict:
    """Builds exact match and token accuracy before and after the link's changes."""
    change = read_change(view)
    evaluated = evaluate_change(view.reader, view.runs.corpora, view.run, view.step, change)
    before, after = (evaluation.validation for evaluation in evaluated)
    if not (all(evaluation.whole for evaluation in evaluated) or view.run.working):
        label = view.say("evaluation.trying", tried=after.pairs, asked=evaluated[1].of)
        return {"step": evaluated[1].step, "more": True, "blocks": [blocks.progress("score-progress", after.pairs, evaluated[1].of, label)]}
    rows = []
    for name, column in (("exact", "exact_match"), ("tokens", "token_accuracy")):
        points = 100 * (getattr(after, column) - getattr(before, column))
        change_key = "interventions.lost" if points < 0 else "interventions.gained" if points > 0 else "interventions.even"
        shares = [format_share(view, evaluation, column, percentage) for evaluation in evaluated]
        rows.append([view.say(f"interventions.{name}"), *shares, view.say(change_key, points=f"{abs(points):.1f}")])
    points = 100 * (before.exact_match - after.exact_match)
    key = "interventions.score_fell" if points > 0 else "interventions.score_rose" if points < 0 else "interventions.score_same"
    values = {"points": points_of(abs(points)), "before": percentage(before.exact_match), "after": percentage(after.exact_match)}
    sentences = [view.say(key, **values)] if change.off or change.memory else []
    sentences += [view.say("interventions.score_row")] if change.edit else []
    head = ["", *(view.say(f"interventions.{name}") for name in ("before", "after", "points"))]
    return {
        "step": view.step,
        "blocks": [
            blocks.table("score", head, rows, view.say("interventions.score", pairs=before.pairs), rowheads=True),
            *([blocks.text("score-said", paragraph(sentences), css="pg-caption")] if sentences else []),
        ],
    }


@panels.declare("importance", needs=panels.FORMULA)
def build_importance(view: View) -> dict:
    """Builds a bar for every head: the loss of exact match without it. Until all heads are measured, progress and an estimate."""
    importance = measure_importance(view.reader, view.runs.corpora, view.run, view.step)
    done = len(importance.without)
    title = blocks.text("importance-title", view.say("interventions.importance"), css="pg-heading")
    if done < importance.heads:
        label = view.say("interventions.importance_progress", done=done, heads=importance.heads)
        progress = blocks.progress("importance-progress", done, importance.heads, label)
        estimate = _build_estimate(view, importance.estimate) if importance.estimate else []
        return {"step": view.step, "more": True, "blocks": [title, progress, *estimate]}
    whole, (exact_lost, token_lost) = importance.whole.validation, _compute_losses(importance)
    facts = importance_facts(exact_lost, 100 * whole.exact_match)
    sentences = [_write_fact(view, fact) for fact in facts]
    exact, pair_count = percentage(whole.exact_match), importance.whole.of
    if importance.whole.whole:
        sentences.append(view.say("interventions.importance_caption", all=pair_count, exact=exact))
    else:
        sentences.append(view.say("interventions.importance_sample", pairs=whole.pairs, all=pair_count, exact=exact))
    bars, (together, more) = _draw_parts(view, exact_lost, token_lost), _compare_together(view, exact_lost)
    drawn = [title, blocks.text("importance-said", paragraph(sentences), css="pg-caption"), *together, bars]
    return {"step": view.step, "more": more, "blocks": drawn}


def _compare_together(view: View, exact_lost: dict[HeadId, float]) -> tuple[list[dict], bool]:
    """Builds what the heads that are off cost together, beside the most that one of them costs alone. Also returns whether sentences of a
    run that doesn't train are still to be evaluated."""
    off = read_change(view).off.intersection(exact_lost)
    if len(off) < 2:
        return [], False
    before, after = evaluate_change(view.reader, view.runs.corpora, view.run, view.step, Change(off=off))
    values = {"together": 100 * (before.validation.exact_match - after.validation.exact_match), "alone": max(map(exact_lost.get, off))}
    values = {name: f"{value:.1f}" for name, value in values.items()}
    text = view.say("interventions.off_together", count=len(off), pairs=after.validation.pairs, **values)
    return [blocks.text("off-together", text, css="pg-cell")], not (after.whole or view.run.working)


def _compute_losses(importance: Importance) -> tuple[dict[HeadId, float], dict[HeadId, float]]:
    """Returns the points of exact match, and those of token accuracy, lost without each head."""
    whole = importance.whole.validation
    exact_lost = {head: 100 * (whole.exact_match - validation.exact_match) for head, validation in importance.without.items()}
    return exact_lost, {head: 100 * (whole.token_accuracy - validation.token_accuracy) for head, validation in importance.without.items()}


def _build_estimate(view: View, importance: Importance) -> list[dict]:
    """Builds the same bars from a few sentences, while the others are still decoded."""
    counts = {"pairs": importance.whole.validation.pairs, "all": f"{importance.whole.of:,}"}
    caption = blocks.text("importance-estimate", view.say("interventions.importance_estimate", **counts), css="pg-caption")
    return [caption, _draw_parts(view, *_compute_losses(importance), view.say("interventions.importance_about", **counts))]


def _draw_parts(view: View, exact_lost: dict[HeadId, float], token_lost: dict[HeadId, float], about: str = "") -> dict:
    """Draws the bars of each kind of attention, on one scale. `about` is the caption of an estimate."""
    losses, off = [*exact_lost.values(), *token_lost.values()], read_change(view).off
    scale, parts = {"least": min(losses), "most": max(losses)}, list_parts(view.run.experiment.model)
    return blocks.row("importance", *(_draw_part(view, part, exact_lost, token_lost, off, scale, about) for part in parts), css="thirds")


def _draw_part(
    view: View, part: str, exact_lost: dict[HeadId, float], token_lost: dict[HeadId, float], off: frozenset[HeadId], scale: dict, about: str
) -> dict:
    heads = [head for head in exact_lost if head.part == part]
    picture = view.draw(
        pictures.losses,
        [f"{head.layer + 1}.{head.head + 1}" for head in heads],
        [exact_lost[head] for head in heads],
        [token_lost[head] for head in heads],
        kind=part,
        off=[head in off for head in heads],
        share=3,
        **scale,
    )
    worst = max(heads, key=lambda head: exact_lost[head])
    caption = about or view.say("interventions.part_caption_none")
    if exact_lost[worst] > 0 and not about:
        caption = view.say("interventions.part_caption", head=name_head(view, worst), points=points_of(exact_lost[worst]))
    return blocks.figure(f"importance-{part}", picture, caption, name_part(view, part))


def _write_fact(view: View, fact: Fact) -> str:
    values = {
        name: name_head(view, value, "interventions.head_long") if isinstance(value, HeadId) else value
        for name, value in fact.values.items()
    }
    return view.say(fact.key, **values)

"""The Attention tab: every head small, one large; which keys a query attends to, by how much, and which are masked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from playground.config import Refusal
from playground.cursor import choices
from playground.features.attention import all_heads, views
from playground.features.attention.query import KINDS
from playground.features.shared import blocks, heads, panels
from playground.features.shared.heads import (
    build_small_heads,
    choose_head,
    compute_mask,
    draw_large_head,
    draw_threads,
    label_heads,
    name_axes,
    write_title,
)
from playground.features.shared.naming import part_key
from playground.features.shared.queries.activations import edited_activations
from playground.features.shared.view import View, tokens
from playground.inspection.edits import parse
from playground.inspection.heads import HeadScores
from playground.words import paragraph


@panels.declare("attention", "inside", 2, panels.ATTENTION)
def panel(view: View) -> dict:
    notice = _follow_edits(view)
    look, part = view.look, view.part
    layer, head = choose_head(view, part)
    if (mode := view.choice("view")) == "all":
        grid = all_heads.build_model_view(view, (part, layer, head), {kind: compute_mask(view, kind) for kind in KINDS})
        all_blocks = [*notice, build_controls(view, part, mode), *grid]
        return {"step": look.step, "held": heads.format_head(part, layer, head), "blocks": all_blocks}
    mask, scored = compute_mask(view, part), all_heads.score_heads(view)
    large_blocks, side_blocks = build_picture(view, mode, layer, head, mask)
    about = paragraph([view.say(f"{part_key(view.run, part)}_about"), view.rounding_note(look.step)])
    return {
        "step": look.step,
        "held": heads.format_head(part, layer, head),
        "blocks": [
            *notice,
            blocks.row(
                "main",
                blocks.column("large", *large_blocks),
                blocks.column("small", build_thumbnails(view, layer, head, mask, scored), build_controls(view, part, mode)),
                css="stage",
            ),
            *side_blocks,
            *views.build_explanation(view, layer, head, *name_axes(view, part), mask),
            blocks.chips("tokens", *list_token_lines(view, part)),
            blocks.text("what", about, css="pg-caption"),
            blocks.row(
                "all-heads",
                blocks.column("names", *all_heads.build_table(view, scored)),
                blocks.column("training", *all_heads.draw_over_training(view, scored, (layer, head))),
                css="large-small",
            ),
        ],
    }


def _follow_edits(view: View) -> list[dict]:
    """Shows the attention with the numbers that are typed over on the map, and builds the line that says so and undoes them."""
    if not (text := view.field("edits")):
        return []
    try:
        edits = parse(text)
        view.edited, _ = edited_activations(view.reader, view.run, view.step, view.text, view.reference, None, edits)
        if view.edited.after.step == view.look.step:  # else training moved on
            stages, layers = view.edited.after.stages, view.run.experiment.model.attention_layers
            weights = {kind: [stages[f"{views.SUBLAYER[kind].format(n)}.weights"].values for n in range(layers(kind))] for kind in KINDS}
            view.look = replace(view.look, **{kind: np.stack(stack) for kind, stack in weights.items()})
        sentence = view.say("edits.followed", count=len(edits))
    except Refusal as refusal:
        sentence = refusal.say(view.language)
    undo = blocks.button("undo-edits", "move", view.say("edits.undo_all"), to={"edits": ""})
    return [blocks.row("edits", blocks.text("edits-typed", sentence, css="pg-cell"), undo, css="controls")]


def build_controls(view: View, part: str, mode: str) -> dict:
    """Builds the choices: mode; kind of attention where one is shown; decoder input, which doesn't affect the encoder."""
    modes = [{"value": name, "label": view.say(f"heads.view_{name}")} for name in choices("view")]
    parts = [{"value": name, "label": view.say(part_key(view.run, name)), "hue": name} for name in KINDS]
    feeds = [{"value": name, "label": view.say(f"page.feed_{name}")} for name in choices("target")]
    single = mode != "all"
    return blocks.row(
        "choices",
        blocks.choice("view", "view", view.say("heads.view"), modes, mode),
        blocks.choice("part", "part", view.say("page.part"), parts, part) if single else None,
        heads.build_follow_choice(view) if single else None,
        blocks.choice("feed", "target", view.say("page.feed"), feeds, view.choice("target")) if part != "encoder" or not single else None,
        css="controls",
    )


def list_token_lines(view: View, part: str) -> list[dict]:
    """Builds the tokens of rows and columns, highlighted with the pointer. A decoder row is marked by whether its next token is right."""
    look, (rows, _) = view.look, name_axes(view, part)
    if part == "encoder":
        queries, side = tokens(look.source), "src"
    else:
        queries, side = tokens(look.targets, look.right, look.probabilities), "tgt"
    keys, key_side = (tokens(look.fed), "fed") if part == "decoder" else (tokens(look.source), "src")
    labelled = [{**token, "text": name} for token, name in zip(queries, rows, strict=True)]
    return [
        {"label": view.say(f"figures.rows_{part}"), "tokens": labelled, "side": side, "role": "query"},
        {"label": view.say(f"figures.columns_{part}"), "tokens": keys, "side": key_side, "role": "key"},
    ]


def build_picture(view: View, mode: str, layer: int, head: int, mask: np.ndarray) -> tuple[list[dict], list[dict]]:
    """Returns (the blocks of the large picture, the blocks beside it)."""
    rows, columns = name_axes(view, view.part)
    weights = view.weights[layer, head]
    if mode == "lines":
        return draw_threads(view, view.part, (layer, head), stage=True), []
    if mode == "product":
        return views.build_product(view, write_title(view, view.part, layer, head), layer, head), []
    if mode == "rollout":
        flow = views.draw_rollout(view, weights, mask, rows, columns)
        return [flow, blocks.text("rollout-about", view.say("heads.rollout_about"), css="pg-caption")], draw_large_head(view, "attention")
    return draw_large_head(view, "attention", stage=True), []


def build_thumbnails(view: View, layer: int, head: int, mask: np.ndarray, scored: HeadScores) -> dict:
    """Builds a thumbnail of every head, with its name."""
    label = view.say("page.heads_label", sentences=scored.sentences)
    return build_small_heads(view, "heads", label, (layer, head), view.weights, mask, label_heads(view, scored, view.part))

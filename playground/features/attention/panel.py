"""The Attention tab: every head small, one large; which keys a query attends to, by how much, and which are masked."""

from __future__ import annotations

import numpy as np

from playground.features.attention import all_heads, views
from playground.features.attention.query import KINDS
from playground.features.shared import blocks, heads, panels
from playground.features.shared.heads import (
    build_small_heads,
    choose_head,
    compute_mask,
    describe_file,
    describe_pinned,
    draw_large_head,
    name_axes,
    write_caption,
    write_title,
)
from playground.features.shared.view import View, tokens
from playground.words import paragraph


@panels.declare("attention", "inside", 2, panels.ATTENTION)
def panel(view: View) -> dict:
    look, part = view.look, view.part
    layer, head = choose_head(view, part)
    if (mode := view.choice("view")) == "all":
        grid = all_heads.build_model_view(view, (part, layer, head), {kind: compute_mask(view, kind) for kind in KINDS})
        return {"step": look.step, "held": heads.format_head(part, layer, head), "blocks": [build_controls(view, part, mode), *grid]}
    mask, scored = compute_mask(view, part), all_heads.score_heads(view)
    label = view.say("page.heads_label", sentences=scored.sentences)
    large_blocks, side_blocks = build_picture(view, mode, layer, head, mask)
    return {
        "step": look.step,
        "held": heads.format_head(part, layer, head),
        "blocks": [
            build_controls(view, part, mode),
            blocks.row(
                "main",
                blocks.column("large", *large_blocks),
                blocks.column(
                    "small",
                    *side_blocks,
                    build_small_heads(view, "heads", label, (layer, head), view.weights, mask, all_heads.label_heads(view, scored)),
                    *views.build_explanation(view, layer, head, *name_axes(view, part), mask),
                ),
                css="large-small",
            ),
            blocks.chips("tokens", *list_token_lines(view, part)),
            blocks.text("what", paragraph([view.say(f"page.part_{part}_about"), view.rounding_note(look.step)]), css="pg-caption"),
            blocks.row(
                "all-heads",
                blocks.column("names", *all_heads.build_table(view, scored)),
                blocks.column("training", *all_heads.draw_over_training(view, scored, (layer, head))),
                css="large-small",
            ),
        ],
    }


def build_controls(view: View, part: str, mode: str) -> dict:
    """Builds the choices: mode; kind of attention where one is shown; decoder input, which doesn't affect the encoder."""
    parts = [{"value": name, "label": view.say(f"page.part_{name}"), "hue": name} for name in KINDS]
    feed, single = view.offer("feed", "target", "page.feed"), mode != "all"
    return blocks.row(
        "choices",
        view.offer("view", "view", "heads.view"),
        blocks.choice("part", "part", view.say("page.part"), parts, part) if single else None,
        heads.build_follow_choice(view) if single else None,
        feed if part != "encoder" or not single else None,
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
        caption = write_caption(view, view.part, layer, head, weights, mask)
        file = describe_file(view, view.part, layer, head)
        figure = views.build_lines(view, write_title(view, view.part, layer, head), caption, weights, mask, rows, columns, file)
        return [figure, *describe_pinned(view, "attention", weights, mask, rows, columns)], []
    if mode == "product":
        return views.build_product(view, write_title(view, view.part, layer, head), layer, head), []
    if mode == "rollout":
        flow = views.draw_rollout(view, weights, mask, rows, columns)
        return [flow, blocks.text("rollout-about", view.say("heads.rollout_about"), css="pg-caption")], draw_large_head(view, "attention")
    return draw_large_head(view, "attention", above=110), []

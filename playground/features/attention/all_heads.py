"""All heads together: the table of their names and scores, these scores over training, and the model view."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from playground.cursor import choices
from playground.features.attention import figure as pictures, kinds
from playground.features.attention.query import KINDS, measure_curves, name_heads
from playground.features.shared import blocks
from playground.features.shared.figures import theme
from playground.features.shared.figures.plain import make_miniature
from playground.features.shared.heads import format_number, name_head, say_fact
from playground.features.shared.naming import part_key
from playground.features.shared.view import View, steps, texts
from playground.inspection import attention as facts
from playground.inspection.attention import HALF
from playground.inspection.heads import HeadScores, entropy_change_fact, first_aligned_fact
from playground.inspection.overview import HeadAt, Overview, overview
from playground.model.attention import scaled_dot_product_attention
from playground.words import paragraph

MAX_NAMED = 3  # heads named in a sentence


def score_heads(view: View, part: str = "") -> HeadScores:
    """Scores every head of a kind, or of the shown one, at the shown step."""
    return name_heads(view.reader, view.run, view.step, view.look.step, part or view.part)


def build_table(view: View, scored: HeadScores) -> list[dict]:
    """Builds a row for each head, and the rule that names them."""
    flat = [head for layer in scored.heads for head in layer]
    aligned, padded = (any(getattr(head, field) is not None for head in flat) for field in ("aligned", "padding"))
    columns = ["table_head", "table_name", *["table_right"] * aligned, "table_entropy", *["table_padding"] * padded, "table_second"]
    rows = [
        [
            view.say("heads.one", layer=layer + 1, head=at + 1),
            f"{name_head(view, head.name, view.part)} {format_number(view, head)}".strip(),
            *[format_share(head.aligned)] * aligned,
            f"{head.entropy:.2f}",
            *[format_share(head.padding)] * padded,
            f"{name_head(view, head.second.name, view.part)} {format_share(head.second.mass)}" if head.second else "–",
        ]
        for layer, heads in enumerate(scored.heads)
        for at, head in enumerate(heads)
    ]
    is_snapshot = view.step is not None and view.run.parameters_at(view.step)[0] != view.look.step
    counts = {"sentences": scored.sentences, "most": f"{scored.most:.2f}", "step": view.look.step}
    sentences = [view.say(f"heads.{key}", **counts) for key in ("rule_replay" if is_snapshot else "rule_heldout", "rule")]
    if any(head.name == "sharp" for head in flat):
        sentences.append(view.say("heads.rule_sharp"))
    common_name, count = scored.commonest()
    if common_name != "unclear" and 2 * count > len(flat) > 2:
        sentences.append(view.say("heads.shared", count=count, heads=len(flat), name=name_head(view, common_name, view.part)))
    return [
        blocks.table("names", [view.say(f"heads.{column}") for column in columns], rows, view.say("heads.table"), rowheads=True),
        blocks.text("rule", paragraph(sentences), css="pg-caption"),
    ]


def format_share(value: float | None) -> str:
    """Formats a share with two digits, so that only 0 is written as 0; with three where it just misses the half that a name needs."""
    if value is None or value == 0:
        return "–" if value is None else "0"
    return "<0.01" if value < 0.005 else f"{value:.{3 if 0.495 <= value < HALF else 2}f}"


def draw_over_training(view: View, scored: HeadScores, chosen: tuple[int, int]) -> list[dict]:
    """Draws the chosen measure of every head along the replay; nothing without a replay that has attention."""
    series = measure_curves(view.reader, view.run, view.part)
    if series is None:
        return []
    measure = view.choice("measure", [option for option in choices("measure") if option != "aligned" or series.aligned is not None])
    values, most = (series.aligned, 1.0) if measure == "aligned" else (series.entropy, max(scored.most, float(series.entropy.max())))
    fact = first_aligned_fact(series.steps, values) if measure == "aligned" else entropy_change_fact(values)
    picture = view.draw(
        pictures.over_training,
        series.steps,
        values,
        chosen=chosen,
        kind=view.part,
        measure=measure,
        most=most,
        step=view.step,
    )
    caption = paragraph([view.say(fact.key, **fact.values), view.say("heads.curves_note", sentences=series.sentences)])
    return [
        blocks.figure("over-training", picture, caption, view.say("heads.curves"), hint=view.say("heads.curves_hint")),
        *([view.offer("measure", "measure", "heads.measure", value=measure)] if series.aligned is not None else []),
    ]


def build_model_view(view: View, chosen: tuple[str, int, int], masks: Mapping[str, np.ndarray]) -> list[dict]:
    """Builds the drawing and its code; `chosen` is the head that Attention shows large, `masks` are (Q, K) by kind."""
    stacks = {kind: getattr(view.look, kind) for kind in KINDS}
    count = sum(stack.shape[0] * stack.shape[1] for stack in stacks.values())
    palette = theme.colors(view.dark)
    drawing = kinds.modelview(
        "model-view",
        view.say("heads.model_title", heads=count),
        write_caption(view, overview(stacks, masks)),
        view.say("heads.model_hint"),
        [_build_grid(view, kind, stacks[kind], masks[kind], chosen[1:] if chosen[0] == kind else None) for kind in KINDS],
        {"probability": theme.sequential(view.dark), "signed": [], "plain": [], "masked": palette["masked"], "hatch": palette["hatch"]},
        words={
            "weight": view.labels["weight"],
            "masked": view.labels["masked"],
            "layer": view.say("heads.model_layer"),
            "head": view.say("heads.model_across"),
            "kind": view.say("page.part"),
            "effect": view.say("heads.table_name"),
        },
        saved={"file": "attention-all-heads", "run": view.run.name, "step": view.look.step, "arrays": None},
    )
    return [drawing, blocks.code("source", scaled_dot_product_attention)]


def _build_grid(view: View, kind: str, stack: np.ndarray, mask: np.ndarray, chosen: tuple[int, int] | None) -> dict:
    scored = score_heads(view, kind)
    rows = [
        [
            {
                "label": _label(view, HeadAt(kind, layer, head), scored.heads[layer][head]),
                "effect": _describe(view, HeadAt(kind, layer, head), weights, mask),
                "mini": make_miniature(np.asarray(weights, dtype=np.float64), mask, "probability", square=True),
            }
            for head, weights in enumerate(row)
        ]
        for layer, row in enumerate(stack)
    ]
    return {"part": kind, "label": view.say(part_key(view.run, kind)), "chosen": list(chosen) if chosen else None, "heads": rows}


def _label(view: View, at: HeadAt, scored: object) -> str:
    name = f"{name_head(view, scored.name, at.kind)} {format_number(view, scored)}".strip()
    return view.say("heads.model_called", head=_title(view, at), name=name)


def _title(view: View, at: HeadAt) -> str:
    return view.say("heads.model_head", part=view.say(part_key(view.run, at.kind)), layer=at.layer + 1, head=at.head + 1)


def _describe(view: View, at: HeadAt, weights: np.ndarray, mask: np.ndarray) -> str:
    """Describes the head's attention in this sentence."""
    look = view.look
    source, output, fed = texts(look.source), texts(look.targets), texts(look.fed)
    columns = fed if at.kind == "decoder" else source
    rows, names = (source, source) if at.kind == "encoder" else (output, steps(look))
    alignment = look.alignment if at.kind == "cross" else None
    fact = facts.facts(weights, at.kind, mask=mask, alignment=alignment, rows=rows, columns=columns, names=names)
    return say_fact(view, fact, at.layer, at.head)


def write_caption(view: View, summary: Overview) -> str:
    notes = [view.say("heads.model_step", step=view.look.step)]
    if summary.effective:
        sharpest, widest = summary.sharpest, summary.widest
        few, most = (f"{summary.effective[at]:.1f}" for at in (sharpest, widest))
        notes.append(view.say("heads.model_sharpest", sharpest=_title(view, sharpest), fewest=few, widest=_title(view, widest), most=most))
        diagonal = summary.most_diagonal
        notes.append(view.say("heads.model_diagonal", head=_title(view, diagonal), percent=facts.percent(summary.diagonal[diagonal])))
        notes.append(_describe_resting(view, summary.on_one_key))
    return paragraph([*notes, view.fed_note, view.step_note(view.look.step)])


def _describe_resting(view: View, resting: tuple[HeadAt, ...]) -> str:
    if not resting:
        return view.say("heads.model_no_key")
    names = "; ".join(_title(view, at) for at in resting[:MAX_NAMED]) + (" …" if len(resting) > MAX_NAMED else "")
    return view.say("heads.model_one_key", count=len(resting), heads=names)

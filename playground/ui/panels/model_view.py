"""The model view: every head of all three kinds of attention at once, small and on one scale, with a summary."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from playground.figures import theme
from playground.inspection import attention as facts
from playground.inspection.model_view import HeadAt, Overview, overview
from playground.model.attention import scaled_dot_product_attention
from playground.queries.heads import KINDS
from playground.ui import blocks
from playground.ui.miniature import make_miniature
from playground.ui.panels import heads
from playground.ui.view import View, steps, texts
from playground.words import paragraph

MAX_NAMED = 3  # heads named in a sentence


def build_model_view(view: View, chosen: tuple[str, int, int], masks: Mapping[str, np.ndarray]) -> list[dict]:
    """Builds the drawing and its code; `chosen` is the head that Attention shows large, `masks` are (Q, K) by kind."""
    stacks = {kind: getattr(view.look, kind) for kind in KINDS}
    count = sum(stack.shape[0] * stack.shape[1] for stack in stacks.values())
    palette = theme.colors(view.dark)
    drawing = blocks.modelview(
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
            "said": view.say("heads.table_name"),
        },
        saved={"file": "attention-all-heads", "run": view.run.name, "step": view.look.step, "arrays": None},
    )
    return [drawing, blocks.code("source", scaled_dot_product_attention)]


def _build_grid(view: View, kind: str, stack: np.ndarray, mask: np.ndarray, chosen: tuple[int, int] | None) -> dict:
    scored = heads.score_heads(view, kind)
    names = [[_label(view, HeadAt(kind, layer, head), named) for head, named in enumerate(row)] for layer, row in enumerate(scored.heads)]
    rows = [
        [
            {
                "label": names[layer][head],
                "said": _describe(view, HeadAt(kind, layer, head), weights, mask),
                "mini": make_miniature(np.asarray(weights, dtype=np.float64), mask, "probability", square=True),
            }
            for head, weights in enumerate(row)
        ]
        for layer, row in enumerate(stack)
    ]
    return {"part": kind, "label": view.say(f"page.part_{kind}"), "chosen": list(chosen) if chosen else None, "heads": rows}


def _label(view: View, at: HeadAt, scored: object) -> str:
    name = f"{heads.name_head(view, scored.name, at.kind)} {heads.format_number(view, scored)}".strip()
    return view.say("heads.model_called", head=_title(view, at), name=name)


def _title(view: View, at: HeadAt) -> str:
    return view.say("heads.model_head", part=view.say(f"page.part_{at.kind}"), layer=at.layer + 1, head=at.head + 1)


def _describe(view: View, at: HeadAt, weights: np.ndarray, mask: np.ndarray) -> str:
    """Describes the head's attention in this sentence."""
    look = view.look
    source, output, fed = texts(look.source), texts(look.targets), texts(look.fed)
    columns = fed if at.kind == "decoder" else source
    rows, names = (source, source) if at.kind == "encoder" else (output, steps(look))
    alignment = look.alignment if at.kind == "cross" else None
    fact = facts.facts(weights, at.kind, mask=mask, alignment=alignment, rows=rows, columns=columns, names=names)
    return view.say(fact.key, **{"layer": at.layer + 1, "head": at.head + 1, **fact.values})


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

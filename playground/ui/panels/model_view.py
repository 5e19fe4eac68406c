"""The model view: every head of the three kinds of attention at once, small and on one scale, with what can be said of all together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from playground.figures import theme
from playground.inspection import attention as facts
from playground.inspection.model_view import HeadAt, Overview, overview
from playground.model.attention import scaled_dot_product_attention
from playground.queries.heads import KINDS
from playground.ui import blocks
from playground.ui.miniature import miniature
from playground.ui.panels import heads
from playground.ui.view import View, steps, texts
from playground.words import paragraph

MOST_NAMED = 3  # heads that a sentence names one by one


def blocks_of(view: View, chosen: tuple[str, int, int], masks: Mapping[str, np.ndarray]) -> list[dict]:
    """The drawing and the code behind it; `chosen` is the head that Attention shows large, `masks` are (Q, K) of each kind."""
    stacks = {kind: getattr(view.look, kind) for kind in KINDS}
    count = sum(stack.shape[0] * stack.shape[1] for stack in stacks.values())
    palette = theme.colors(view.dark)
    drawing = blocks.modelview(
        "model-view",
        view.say("heads.model_title", heads=count),
        caption(view, overview(stacks, masks)),
        view.say("heads.model_hint"),
        [_grid(view, kind, stacks[kind], masks[kind], chosen[1:] if chosen[0] == kind else None) for kind in KINDS],
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


def _grid(view: View, kind: str, stack: np.ndarray, mask: np.ndarray, chosen: tuple[int, int] | None) -> dict:
    scored = heads.scores(view, kind)
    named = [[_label(view, HeadAt(kind, layer, head), one) for head, one in enumerate(row)] for layer, row in enumerate(scored.heads)]
    rows = [
        [
            {"label": named[layer][head], "said": _said(view, HeadAt(kind, layer, head), weights, mask), "mini": _small(weights, mask)}
            for head, weights in enumerate(row)
        ]
        for layer, row in enumerate(stack)
    ]
    return {"part": kind, "label": view.say(f"page.part_{kind}"), "chosen": list(chosen) if chosen else None, "heads": rows}


def _small(weights: np.ndarray, mask: np.ndarray) -> dict:
    return miniature(np.asarray(weights, dtype=np.float64), mask, "probability", square=True)


def _label(view: View, at: HeadAt, scored: object) -> str:
    called = f"{heads.name(view, scored.name, at.kind)} {heads.number(view, scored)}".strip()
    return view.say("heads.model_called", head=_where(view, at), name=called)


def _where(view: View, at: HeadAt) -> str:
    return view.say("heads.model_head", part=view.say(f"page.part_{at.kind}"), layer=at.layer + 1, head=at.head + 1)


def _said(view: View, at: HeadAt, weights: np.ndarray, mask: np.ndarray) -> str:
    """What the head does in this sentence."""
    look = view.look
    source, asked, fed = texts(look.source), texts(look.targets), texts(look.fed)
    columns = fed if at.kind == "decoder" else source
    rows, names = (source, source) if at.kind == "encoder" else (asked, steps(look))
    alignment = look.alignment if at.kind == "cross" else None
    fact = facts.facts(weights, at.kind, mask=mask, alignment=alignment, rows=rows, columns=columns, names=names)
    return view.say(fact.key, **{"layer": at.layer + 1, "head": at.head + 1, **fact.values})


def caption(view: View, found: Overview) -> str:
    said = [view.say("heads.model_step", step=view.look.step)]
    if found.effective:
        sharpest, widest = found.sharpest, found.widest
        few, most = (f"{found.effective[at]:.1f}" for at in (sharpest, widest))
        said.append(view.say("heads.model_sharpest", sharpest=_where(view, sharpest), fewest=few, widest=_where(view, widest), most=most))
        diagonal = found.most_diagonal
        said.append(view.say("heads.model_diagonal", head=_where(view, diagonal), percent=facts.percent(found.diagonal[diagonal])))
        said.append(_on_one_key(view, found.on_one_key))
    return paragraph([*said, view.fed_note, view.step_note(view.look.step)])


def _on_one_key(view: View, resting: tuple[HeadAt, ...]) -> str:
    if not resting:
        return view.say("heads.model_no_key")
    named = "; ".join(_where(view, at) for at in resting[:MOST_NAMED]) + (" …" if len(resting) > MOST_NAMED else "")
    return view.say("heads.model_one_key", count=len(resting), heads=named)

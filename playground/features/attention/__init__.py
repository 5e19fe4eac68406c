"""The Attention tab: every head small, one large, all together, and how they change in training.

Here all heads: the table of their names and scores, these scores over training, the model view; and figures of heads.
"""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np

from playground.cursor import choices
from playground.features.attention.query import KINDS, HeadAt, Overview, measure_curves, name_heads, overview
from playground.features.shared import blocks
from playground.features.shared.blocks import Saved
from playground.features.shared.blocks.kind import Hue, MapColours, Miniature, kind
from playground.features.shared.figures import theme, tokens
from playground.features.shared.figures.plain import make_miniature
from playground.features.shared.figures.theme import PLAIN, Style
from playground.features.shared.heads import format_number, name_head, say_fact
from playground.features.shared.naming import part_key
from playground.features.shared.view import View, steps, texts
from playground.inspection import attention as facts
from playground.inspection.attention import HALF
from playground.inspection.heads import HeadScores, entropy_change_fact, first_aligned_fact
from playground.model.attention import scaled_dot_product_attention
from playground.words import paragraph

MAX_NAMED = 3  # heads named in a sentence


class SmallHead(TypedDict):
    label: str  # layer and head, and its name
    effect: str  # in this sentence
    mini: Miniature


class HeadGrid(TypedDict):
    """Every head of one kind of attention: [layer][head]. `chosen` counts from 0."""

    part: Hue
    label: str
    chosen: list[int] | None
    heads: list[list[SmallHead]]


@kind
def modelview(
    id: str,
    title: str,
    caption: str,
    hint: str,
    grids: list[HeadGrid],
    colours: MapColours,
    words: dict[str, str],
    saved: Saved,
):
    """All heads of a model at once, layers down and heads across, on one scale. `hint` gives way to the sentence of the head that is
    pointed at. `saved` as of a figure."""


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
        over_training,
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
    drawing = modelview(
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


# ---- figures: heads over training, and the products behind one score ----

HEIGHT = 260  # px
PANEL, GAP = 88, 20  # px, height of one row of bars, and the gap between two


def over_training(
    steps: Sequence[int],
    values: np.ndarray,
    *,
    chosen: tuple[int, int],
    kind: str = "cross",
    measure: str = "aligned",
    most: float = 1.0,
    step: int | None = None,
    style: Style = PLAIN,
) -> dict:
    """Draws a number (layers, H, steps) of every head at each step of the replay, from 0 to `most`.

    `measure` names the axis (the words "head_aligned" or "head_entropy"), `chosen` is (layer, head) counted from 0, `step` the
    replay's step. Each trace's meta is {"x": "step"}: a click on a point leads there. The chosen head is the last trace; layout.shapes[0]
    is the replay's cursor, invisible without a step. Raises ValueError if the shapes don't fit.
    """
    theme.fit(values[0, 0], steps)
    order = sorted(np.ndindex(*values.shape[:2]), key=lambda at: at == tuple(chosen))
    data = []
    for at in order:
        name = style.phrase("head_name", layer=str(at[0] + 1), head=str(at[1] + 1))
        is_chosen = at == tuple(chosen)
        color = style.hue(kind) if is_chosen else style.colors["line"]
        data.append({
            "type": "scatter", "mode": "lines+markers", "name": name if is_chosen else style.word("head_others"),
            "x": list(steps), "y": theme.rounded(values[at]), "meta": {"x": "step", "layer": at[0], "head": at[1]},
            "line": {"color": color, "width": 2.4 if is_chosen else 1}, "opacity": 1 if is_chosen else 0.75,
            "marker": {"size": 5 if is_chosen else 3, "color": color}, "showlegend": is_chosen or at == order[0],
            "legendrank": 1 if is_chosen else 2, "cliponaxis": False,
            "hovertemplate": f"<b>{name}</b><br>{style.word('step')} %{{x}}: %{{y:.2f}}<extra></extra>",
        })  # fmt: skip
    x = style.axis(style.word("step"), range=[0, max(steps[-1], 1)], showgrid=False, showline=True, nticks=6)
    y = style.axis(style.word(f"head_{measure}"), range=[-0.03 * most, 1.03 * most], nticks=5)
    y |= {"tickvals": [0, 0.5, 1]} if most == 1 else {}
    layout = style.layout(
        HEIGHT, (56, 26, 50, 44), xaxis=x, yaxis=y, showlegend=True,
        shapes=[style.step_cursor(step)], legend=theme.legend_column(itemclick=False, itemdoubleclick=False),
    )  # fmt: skip
    return {"data": data, "layout": layout}


def bars(query: np.ndarray, key: np.ndarray, *, kind: str = "cross", style: Style = PLAIN) -> dict:
    """Draws three rows of bars over the dimensions (K,), counted from 1: query, key, and query times key, whose sum is the score.

    Query and key share one scale; both scales are centred at 0. Raises ValueError if the lengths differ.
    """
    query, key = theme.fit(query, key), theme.fit(key, query)
    rows = {"query": query, "key": key, "product": query * key}
    largest = max(np.abs(query).max(), np.abs(key).max())
    height = 3 * PANEL + 2 * GAP
    data, axes = [], {}
    for at, (name, values) in enumerate(rows.items()):
        most = float(np.abs(values).max() if name == "product" else largest) or 1.0
        data.append({
            "type": "bar", "x": list(range(1, len(values) + 1)), "y": theme.rounded(values, 5), "name": style.word(name),
            "xaxis": "x", "yaxis": f"y{at + 1}" if at else "y",
            "marker": {"color": style.signed_shades(values / most),
                       "line": {"color": style.colors["line"], "width": 0.5 if len(values) <= 128 else 0}},
            "hovertemplate": f"{style.word(name)}, {style.word('dimension')} %{{x}}: %{{y:.4f}}<extra></extra>",
        })  # fmt: skip
        bottom = (2 - at) * (PANEL + GAP) / height
        axis = style.axis(style.word(name), range=[-1.12 * most, 1.12 * most], tickvals=_choose_ticks(most), zeroline=True)
        axis |= {"domain": [round(bottom, 4), round(bottom + PANEL / height, 4)], "anchor": "x"}
        axes[f"yaxis{at + 1}" if at else "yaxis"] = axis | {"zerolinecolor": style.colors["line"], "zerolinewidth": 1}
    x = style.axis(style.word("dimension"), range=[0.4, len(query) + 0.6], showgrid=False, anchor="y3")
    x |= {"showline": True, "linecolor": style.hue(kind), "linewidth": 2}
    x |= {"tickmode": "linear", "tick0": 1 if len(query) <= 20 else 0, "dtick": tokens.thinning((style.width - 70) / len(query), 24)}
    return {"data": data, "layout": style.layout(height + 58, (56, 12, 12, 46), xaxis=x, **axes, barmode="overlay", bargap=0.15)}


def _choose_ticks(most: float) -> list[float]:
    """Returns three ticks of an axis from -most to most: the largest of 1, 2 and 5 times a power of ten that fits, its opposite, and 0."""
    power = 10.0 ** np.floor(np.log10(most))
    mark = float(f"{max(step * power for step in (1, 2, 5) if step * power <= most):.3g}")
    return [-mark, 0, mark]

"""Labelled bars: the likeliest next tokens, the most frequent tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playground.features.shared.figures import theme, tokens
from playground.features.shared.figures.theme import PLAIN, Style

BAR = 28  # px, of height for one bar


def top_tokens(
    names: Sequence[str],
    probabilities: Sequence[float],
    *,
    chosen: int | None = None,
    right: int | None = None,
    style: Style = PLAIN,
) -> dict:
    """Draws the likeliest tokens of one step, likeliest first, with their probabilities (0 to 1).

    `chosen` and `right` are places in the list: the chosen token has a strong outline, and both are named beside the bar.
    Raises ValueError if the lists differ in length.
    """
    values = theme.fit(probabilities, names)
    notes = {i: [style.word(name) for name, at in (("taken", chosen), ("right", right)) if at == i] for i in range(len(names))}
    texts = [" · ".join([short(value), *notes[i]]) for i, value in enumerate(values)]
    bars = {
        "type": "bar", "orientation": "h", "y": list(range(len(names))), "x": theme.rounded(values), "width": 0.7,
        "marker": {
            "color": style.shades(values),
            "line": {
                "color": [style.colors["text" if i == chosen else "line"] for i in range(len(names))],
                "width": [2 if i == chosen else 0.5 for i in range(len(names))],
            },
        },
        "text": [tokens.escape(text) for text in texts],
        "textposition": "outside", "cliponaxis": False, "constraintext": "none", "textfont": style.font(),
        "hovertemplate": style.hover("hover_bar", token="<b>%{y}</b>", value="%{x:.4f}"),
        "meta": {"chosen": chosen},
    }  # fmt: skip
    y, left = names_axis(names, style)
    x = style.axis(style.word("probability"), range=[0, 1], tickvals=[0, 0.5, 1], side="bottom")
    margin_right = 8 + max((0.85 * tokens.extent(text, longest=40) for text in texts), default=0)  # the proportional face is narrower
    layout = style.layout(len(names) * BAR + 50, (left, margin_right, 4, 46), xaxis=x, yaxis=y, meta={"tokens": list(names)})
    return {"data": [bars], "layout": layout}


def frequencies(names: Sequence[str], counts: Sequence[int], *, kind: str = "encoder", most: int = 20, style: Style = PLAIN) -> dict:
    """Draws the counts of the `most` frequent tokens, most frequent first (ties in the given order). Source tokens have the encoder's hue,
    target tokens the decoder's. Raises ValueError if the lists differ in length."""
    values = theme.fit(counts, names).astype(int)
    order = np.argsort(-values, kind="stable")[:most]
    most_frequent = [names[i] for i in order]
    bars = {
        "type": "bar", "orientation": "h", "y": list(range(len(most_frequent))), "x": values[order].tolist(), "width": 0.7,
        "marker": {"color": style.hue(kind), "line": {"width": 0}},
        "text": [f"{n:,}" for n in values[order].tolist()],
        "textposition": "outside", "cliponaxis": False, "constraintext": "none", "textfont": style.font("muted"),
        "hovertemplate": style.hover("hover_bar", token="<b>%{y}</b>", value="%{x:,}"),
    }  # fmt: skip
    y, left = names_axis(most_frequent, style)
    x = style.axis(style.word("count"), range=[0, max(int(values.max(initial=0)), 1)], nticks=4)
    meta = {"kind": kind, "tokens": most_frequent}
    layout = style.layout(max(len(most_frequent), 1) * 20 + 50, (left, 64, 4, 46), xaxis=x, yaxis=y, meta=meta)
    return {"data": [bars], "layout": layout}


def names_axis(names: Sequence[str], style: Style, every: int = 1) -> tuple[dict, float]:
    """Returns the axis of the tokens, first on top, every `every`-th labelled, and its left margin."""
    longest = tokens.longest(style.width)
    axis = style.axis("", range=[len(names) - 0.5, -0.5], showgrid=False, ticklabelstandoff=6, **tokens.ticks(names, every, longest))
    axis["tickfont"] = style.font(family=theme.MONO)
    return axis, 16 + max((tokens.extent(name, longest) for name in names), default=0)


def short(value: float) -> str:
    """Formats a probability in a few characters, never as 0 or 1 unless it is."""
    if not np.isfinite(value):
        return "–"
    if 0 < value < 0.005:
        return "<0.01"
    if 0.995 <= value < 1:
        return ">0.99"
    return f"{value:.2f}"

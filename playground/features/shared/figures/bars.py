"""Labelled bars: the likeliest next tokens, the most frequent tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from playground.features.shared.figures import theme, tokens

BAR = 28  # px, of height for one bar


def top_tokens(
    names: Sequence[str],
    probabilities: Sequence[float],
    *,
    chosen: int | None = None,
    right: int | None = None,
    width: int = 420,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws the likeliest tokens of one step, likeliest first, with their probabilities (0 to 1).

    `chosen` and `right` are places in the list: the chosen token has a strong outline, and both are named beside the bar.
    Raises ValueError if the lists differ in length.
    """
    values = np.asarray(probabilities, dtype=np.float64)
    if values.shape != (len(names),):
        raise ValueError(f"{len(names)} tokens but probabilities of shape {values.shape}")
    palette = theme.colors(dark)
    notes = {i: [theme.word(labels, name) for name, at in (("taken", chosen), ("right", right)) if at == i] for i in range(len(names))}
    texts = [" · ".join([short(value), *notes[i]]) for i, value in enumerate(values)]
    bars = {
        "type": "bar", "orientation": "h", "y": list(range(len(names))), "x": theme.rounded(values), "width": 0.7,
        "marker": {
            "color": theme.shades(values, dark),
            "line": {
                "color": [palette["text"] if i == chosen else palette["line"] for i in range(len(names))],
                "width": [2 if i == chosen else 0.5 for i in range(len(names))],
            },
        },
        "text": [tokens.escape(text) for text in texts],
        "textposition": "outside", "cliponaxis": False, "constraintext": "none", "textfont": {"color": palette["text"], "size": theme.SIZE},
        "hovertemplate": theme.phrase(labels, "hover_bar", token="<b>%{y}</b>", value="%{x:.4f}") + "<extra></extra>",
        "meta": {"chosen": chosen},
    }  # fmt: skip
    y, left = names_axis(names, width, dark)
    x = theme.axis(theme.word(labels, "probability"), dark, range=[0, 1], tickvals=[0, 0.5, 1], side="bottom")
    margin_right = 8 + max((0.85 * tokens.extent(text, longest=40) for text in texts), default=0)  # the proportional face is narrower
    margin = {"l": left, "r": margin_right, "t": 4, "b": 46}
    layout = theme.layout(len(names) * BAR + 50, margin, dark, xaxis=x, yaxis=y, hovermode="closest")
    return {"data": [bars], "layout": layout | {"meta": {"tokens": list(names)}}}


def frequencies(
    names: Sequence[str],
    counts: Sequence[int],
    *,
    kind: str = "encoder",
    most: int = 20,
    width: int = 420,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws the counts of the `most` frequent tokens, most frequent first (ties in the given order). Source tokens have the encoder's hue,
    target tokens the decoder's. Raises ValueError if the lists differ in length."""
    values = np.asarray(counts, dtype=np.int64)
    if values.shape != (len(names),):
        raise ValueError(f"{len(names)} tokens but counts of shape {values.shape}")
    order = np.argsort(-values, kind="stable")[:most]
    most_frequent = [names[i] for i in order]
    bars = {
        "type": "bar", "orientation": "h", "y": list(range(len(most_frequent))), "x": values[order].tolist(), "width": 0.7,
        "marker": {"color": theme.hue(kind, dark), "line": {"width": 0}},
        "text": [f"{n:,}" for n in values[order].tolist()],
        "textposition": "outside", "cliponaxis": False, "constraintext": "none",
        "textfont": {"color": theme.colors(dark)["muted"], "size": theme.SIZE},
        "hovertemplate": theme.phrase(labels, "hover_bar", token="<b>%{y}</b>", value="%{x:,}") + "<extra></extra>",
    }  # fmt: skip
    y, left = names_axis(most_frequent, width, dark)
    largest = max(int(values.max(initial=0)), 1)
    x = theme.axis(theme.word(labels, "count"), dark, range=[0, largest], nticks=4)
    height = max(len(most_frequent), 1) * 20 + 50
    layout = theme.layout(height, {"l": left, "r": 64, "t": 4, "b": 46}, dark, xaxis=x, yaxis=y, hovermode="closest")
    return {"data": [bars], "layout": layout | {"meta": {"kind": kind, "tokens": most_frequent}}}


def names_axis(names: Sequence[str], width: int, dark: bool, every: int = 1) -> tuple[dict, float]:
    """Returns the axis of the tokens, first on top, every `every`-th labelled, and its left margin."""
    longest = tokens.longest(width)
    axis = theme.axis("", dark, range=[len(names) - 0.5, -0.5], showgrid=False, ticklabelstandoff=6, **tokens.ticks(names, every, longest))
    axis["tickfont"] = {"family": theme.MONO, "size": theme.SIZE, "color": theme.colors(dark)["text"]}
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

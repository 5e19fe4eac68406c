"""Lines over one number, such as the variance of q·k over d_k; dots and bars: numbers for each of several names or tokens."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playground.features.shared.figures import theme, tokens
from playground.features.shared.figures.runs import shade
from playground.features.shared.figures.theme import PLAIN, Style

MAX_LINES = 6  # distinguishable lines
_STYLES = (  # colour, dash and mark differ, for colour-blind readers
    ("first", "solid", "circle"), ("second", "dash", "square"), ("cross", "dot", "diamond"), ("encoder", "dashdot", "triangle-up"),
    ("decoder", "longdash", "x"), ("muted", "longdashdot", "star"),
)  # fmt: skip
_HEIGHT, _LEGEND, _MARK = 250, 22, 46  # px; _MARK: the symbol before a name in the legend
_PERCENT = {"range": [-2, 102], "tickvals": [0, 25, 50, 75, 100], "ticksuffix": " %"}  # of an axis
_EDGE = 0.02  # room for a mark, as a fraction of the axis
_PAPER = {"xref": "paper", "yref": "paper"}
BAR = 28  # px, of height for one bar
NAMED = 2  # decades from which only powers of ten are labelled
_TINY = 1e-30  # smaller values, and zero, are gaps on a logarithmic axis


def lines(
    x: Sequence[float],
    values: Mapping[str, Sequence[float]],
    *,
    title: str = "",
    percent: str = "",
    log_x: bool = False,
    log_y: bool = False,
    bands: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    ends: tuple[float, float] | None = None,
    style: Style = PLAIN,
) -> dict:
    """Draws one line for each entry of `values`, named by its key, over `x` with an axis named `title`, between its `ends` if given.
    `percent` names a value axis with the fixed range 0 to 100. `bands` are the lower and upper ends of a line's shade. Raises ValueError
    for more than MAX_LINES lines, or when a line's length differs from that of `x`."""
    if not 1 <= len(values) <= MAX_LINES:
        raise ValueError(f"{len(values)} lines aren't distinguishable")
    if any(len(line) != len(x) for line in values.values()):
        raise ValueError("a line's length differs from that of x")
    data = []
    for (name, line), (color, dash, symbol) in zip(values.items(), _STYLES, strict=False):
        numbers = np.asarray(line, dtype=np.float64)
        ink = style.colors[color]
        if name in (bands or {}):
            low, high = map(_round_significant, bands[name])
            data.insert(0, shade(list(map(float, x)), low, high, ink, 0.15, name))
        data.append({
            "type": "scatter", "mode": "lines+markers", "x": [float(f"{place:.6g}") for place in x], "name": name, "legendgroup": name,
            "y": _round_significant(np.where(numbers > _TINY, numbers, np.nan) if log_y else numbers),
            "line": {"color": ink, "width": 2, "dash": dash}, "marker": {"color": ink, "symbol": symbol, "size": 6},
            "hovertemplate": "%{x:.4~g}: <b>%{y:.4~g}</b><extra>%{fullData.name}</extra>",
        })  # fmt: skip
    y = _PERCENT if percent else log_axis(np.concatenate([*map(np.asarray, values.values())])) if log_y else {"nticks": 5}
    low, high = np.log10(ends) if ends and log_x else ends or (0, 0)
    fixed = {"range": [low - _EDGE * (high - low), high + _EDGE * (high - low)]} if ends else {}
    axes = {"xaxis": style.axis(title, **(log_axis(x) if log_x else {"nticks": 8}), **fixed), "yaxis": style.axis(percent, **y)}
    margin_left, widest = 72 if percent else 56, max(tokens.extent(name, longest=99) for name in values) + _MARK
    across = style.width - margin_left - 16
    rows = len(values) > 1 and -(-len(values) // max(1, min(2, int(across // widest))))  # of the legend, two names in each if they fit
    left = -margin_left / across if widest > across else 0  # of the axes, or of the page for long names
    margin = (margin_left, 16, 10 + rows * _LEGEND, 44)
    legend = {"orientation": "h", "x": left, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"}
    return {"data": data, "layout": style.layout(_HEIGHT + rows * _LEGEND, margin, showlegend=rows > 0, legend=legend, **axes)}


def to_guess(ends: tuple[float, float], names: Sequence[str], guess: str, *, style: Style = PLAIN, **axes: Any) -> dict:
    """Draws the axes of `lines` with the names of lines that are still to come: where they will be, a dotted area says `guess`."""
    figure = lines(ends, dict.fromkeys(names, [np.nan] * len(ends)), ends=ends, style=style, **axes)
    layout = figure["layout"]
    area = {"type": "rect", "x0": 0, "x1": 1, "y0": 0, "y1": 1, "line": {"color": style.colors["line"], "dash": "dot"}}
    words = {"text": guess, "x": 0.5, "y": 0.5, "showarrow": False, "font": style.font("muted")}
    places = {"shapes": [area | _PAPER], "annotations": [words | _PAPER]}
    return figure | {"layout": layout | places | {"yaxis": layout["yaxis"] | {"showticklabels": bool(axes.get("percent"))}}}


def dots(values: Mapping[str, Sequence[float]], *, percent: str, style: Style = PLAIN) -> dict:
    """Draws a row for each name: its values as rings and their mean as a bar, on an axis from 0 to 100 that `percent` names."""
    rows, ink = list(enumerate(values.values())), style.colors["first"]
    each = {"x": [float(f"{value:.5g}") for _, row in rows for value in row], "y": [at for at, row in rows for _ in row]}
    means = {"x": [float(f"{np.mean(row):.5g}") for _, row in rows], "y": [at for at, _ in rows]}
    marks = {"symbol": "circle-open", "size": 9, "color": ink}, {"symbol": "line-ns-open", "size": 20, "color": ink}
    data = [
        {"type": "scatter", "mode": "markers", **where, "marker": mark, "cliponaxis": False, "hovertemplate": "%{x:.4~g} %<extra></extra>"}
        for where, mark in zip((each, means), marks, strict=True)
    ]
    y, left = names_axis(list(values), style)
    axes = {"xaxis": style.axis(percent, **_PERCENT), "yaxis": y}
    return {"data": data, "layout": style.layout(len(values) * BAR + 54, (left, 16, 10, 44), **axes)}


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _format_power(exponent: int) -> str:
    """Formats a power of ten without superscript markup, which Plotly draws larger than the numbers of other axes."""
    return f"{10.0**exponent:g}" if abs(exponent) <= 3 else "10" + str(exponent).translate(_RAISED)


def log_axis(values: Sequence[float]) -> dict:
    """Lays out a logarithmic axis with a few labelled powers of ten; below two decades, 2 and 5 times them as well, each in full, as Plotly
    labels 20 as 2."""
    positive = np.asarray(values, dtype=np.float64)
    positive = positive[np.isfinite(positive) & (positive > _TINY)]
    decades = np.log10(positive.max() / positive.min()) if positive.size else 1.0
    first, last = (int(np.floor(np.log10(end))) for end in (positive.min(), positive.max())) if positive.size else (0, 0)
    if decades >= NAMED:
        powers = range(first, last + 2, int(np.ceil(decades / 6)))
        return {"type": "log", "tickvals": [10.0**power for power in powers], "ticktext": [*map(_format_power, powers)]}
    ticks = [digit * 10.0**power for power in range(first, last + 2) for digit in (1, 2, 5)]
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:.6g}" for tick in ticks]}


def _round_significant(values: np.ndarray) -> list[float | None]:
    """Rounds to five significant digits; None, a gap, for NaN and infinity."""
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in values]


def top_tokens(
    names: Sequence[str],
    probabilities: Sequence[float],
    *,
    chosen: int | None = None,
    tall: float = 0,
    style: Style = PLAIN,
) -> dict:
    """Draws the likeliest tokens of one step, likeliest first, with their probabilities (0 to 1), at least `tall` pixels high. The one at
    the place `chosen` has a strong outline, and is named beside its bar. Raises ValueError if the lists differ in length."""
    values = theme.fit(probabilities, names)
    texts = [f"{short(value)} · {style.word('taken')}" if i == chosen else short(value) for i, value in enumerate(values)]
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
    layout = style.layout(max(len(names) * BAR, tall) + 50, (left, margin_right, 4, 46), xaxis=x, yaxis=y, meta={"tokens": list(names)})
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
